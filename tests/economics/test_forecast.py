"""What actions will pay: as the rules pay, by what the seat may know."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import compiled
from parlour.envs.phases import End, Named, OwnChoice, Phase, PhaseGame, WhoChose, make

PHASED = [name for name in envs.GAMES if envs.find(name)().capabilities.forecasts is not None]
REPEATED = {"cournot-v0": {"rounds": 3}, "trust-v0": {"rounds": 2}, "voluntary_contribution-v0": {"rounds": 3}}


def begun(game, seed=1):
    table = game.tables(1)[0]
    table.stream = seed
    game.rules.reset(table)
    return table


def forecasts(game, table):
    return game.capabilities.forecasts(game.turn_state(table, int(table.turn)))


def test_cournot_pays_by_its_formula():
    game = envs.game("cournot")
    [found] = forecasts(game, begun(game))
    assert (found.action_type, len(found.numbers)) == ("submit_quantity", 101)
    others = {
        "if the other does the same": lambda q: q,
        "if the other chooses the least": lambda q: 0,
        "if the other chooses half of the most": lambda q: 50,
    }
    assert set(found.payoffs) == set(others)
    for words, other in others.items():
        assert found.payoffs[words] == pytest.approx([(max(0, 100 - q - other(q)) - 20) * q for q in found.numbers])


def test_the_last_round_and_answers_without_a_number_are_assumed():
    cournot = envs.game("cournot", rounds=2)
    table = begun(cournot)
    for quantity in (10, 40):
        cournot.rules.play(table, quantity)
    [found] = forecasts(cournot, table)
    assert found.payoffs["if the other does as in the last round"][30] == (100 - 30 - 40 - 20) * 30
    cournot.rules.play(table, 30)
    [found] = forecasts(cournot, table)  # the first has chosen, in secret: it counts as in the last round
    assert found.payoffs["if the other does as in the last round"][20] == (100 - 10 - 20 - 20) * 20
    ultimatum = envs.game("ultimatum")
    table = begun(ultimatum)
    worth = ultimatum.turn_state(table, 0).game_state["my_reservation_value"]
    [found] = forecasts(ultimatum, table)
    assert found.payoffs == {"if the other answers accept": pytest.approx([q - worth for q in found.numbers])}


def test_of_a_later_bargain_halves_are_assumed_and_of_a_later_choice_of_ones_own_each():
    game = envs.game("hold_up")
    table = begun(game)
    [first] = forecasts(game, table)
    same, half = (
        "if the other does the same and you divide equally",
        "if the other chooses half of the most and you divide equally",
    )
    assert first.payoffs[same] == pytest.approx([3 * 2 * x / 2 - x for x in first.numbers])
    assert first.payoffs[half] == pytest.approx([3 * (x + 5) / 2 - x for x in first.numbers])
    game.rules.play(table, 5)
    [second] = forecasts(game, table)
    assert list(second.payoffs) == ["if you divide equally"]
    assert second.payoffs["if you divide equally"] == pytest.approx([3 * (5 + x) / 2 - x for x in second.numbers])

    insurance = envs.game("insurance_moral_hazard")
    table = begun(insurance)
    insurance.rules.play(table, 40)
    [accept] = [one for one in forecasts(insurance, table) if one.action_type == "accept"]
    paid = {"if you then choose low effort": "low", "if you then choose high effort": "high"}
    assert accept.payoffs.keys() == paid.keys()
    insurance.rules.play(table, int(np.flatnonzero(insurance.mask(table, 1))[0]))
    [effort] = forecasts(insurance, table)
    assert effort.payoffs == {f"with {one} effort": accept.payoffs[words] for words, one in paid.items()}


def test_several_numbers_have_a_constant_and_slopes():
    insurance = envs.game("insurance_moral_hazard", p_good_low_effort=0.5, p_good_high_effort=0.9)
    [offer] = forecasts(insurance, begun(insurance))
    assert (offer.numbers, offer.keys) == ((), ("premium", "transfer_good", "transfer_bad"))
    assert offer.payoffs.keys() == {
        "if the other answers accept and then chooses low effort",
        "if the other answers accept and then chooses high effort",
    }
    for words, paid in offer.payoffs.items():
        good = 0.5 if "low" in words else 0.9
        assert paid == pytest.approx([0, 1, -good, good - 1])

    agency = envs.game("common_agency", p_high_low_effort=0.25, p_high_high_effort=0.75)
    table = begun(agency)
    [first] = forecasts(agency, table)
    agency.rules.play(table, 40)
    [second] = forecasts(agency, table)  # the last principal: only the agent answers
    for offer, others in ((first, "if the others do the same and answer"), (second, "if the others answer")):
        low, high = (f"{others} accept bundle and then choose {effort} effort" for effort in ("low", "high"))
        assert offer.payoffs.keys() == {f"{others} reject all", low, high}
        assert offer.payoffs[f"{others} reject all"] == [0, 0, 0]
        state = agency.turn_state(table, 0).game_state
        bad, good = state["benefit_low"], state["benefit_high"]
        assert offer.payoffs[low] == pytest.approx([0.75 * bad + 0.25 * good, -0.75, -0.25])
        assert offer.payoffs[high] == pytest.approx([0.25 * bad + 0.75 * good, -0.25, -0.75])


PRISONERS = ((3.0, 0.0), (5.0, 1.0))  # what the row gets; the first choice is to be silent


@compiled
def sentence(table):
    for seat in range(2):
        table.rewards[seat] = PRISONERS[int(table.number[0, seat])][int(table.number[0, 1 - seat])]


def test_of_a_secret_choice_without_a_number_every_one_is_assumed():
    game = make(
        PhaseGame(
            name="prisoners",
            title="Prisoners",
            seats=2,
            options={},
            phases=[Phase("choose", ("silent", "talk"), sealed=True, may_pass=False)],
            actions=[Named("silent", 0.0, "say nothing"), Named("talk", 1.0, "tell all")],
            pay=sentence,
            payoffs=(0, 5),
            end=lambda table: End("chosen"),
            fields=[OwnChoice("my_choice"), WhoChose("who_chose")],
        )
    )
    table = begun(game)
    for _ in range(2):  # the second seat does not know the first one's choice, and neither do its forecasts
        silent, talk = forecasts(game, table)
        assert silent.payoffs == {"if the other answers silent": [3], "if the other answers talk": [0]}
        assert talk.payoffs == {"if the other answers silent": [5], "if the other answers talk": [1]}
        game.rules.play(table, 1)


@pytest.mark.parametrize("name", PHASED)
def test_what_is_certain_comes_true(name):
    game = envs.find(name)(**REPEATED.get(name, {}))
    chance, generator, tried = game.capabilities.chance, np.random.default_rng(3), 0
    for seed in range(8):
        table = begun(game, seed)
        while not table.done:
            seat, certain = int(table.turn), {}
            for found in forecasts(game, table):
                certain |= dict.fromkeys([found.action_type], found.payoffs.get("", [None])[0])
            action = int(generator.choice(np.flatnonzero(game.mask(table, seat))))
            kind = int(np.searchsorted(table.first[1 : table.kinds], action, side="right"))
            of_kind = [
                i for i in np.flatnonzero(game.mask(table, seat)) if table.first[kind] <= i < table.first[kind + 1]
            ]
            first = int(of_kind[0])
            kinds = game.view.encode(table, first).action.action_type
            after, before = table.copy().view(np.recarray), float(table.total[seat])
            if certain.get(kinds) is not None and kinds != "pass":
                chance.step(after, game.rules.decode(after, first))
                if after.turn >= 0 or after.done:
                    assert float(after.total[seat]) - before == pytest.approx(certain[kinds]), kinds
                    tried += 1
            game.rules.play(table, action)
    assert tried > 0 or name in {"insurance_moral_hazard-v0", "war_of_attrition-v0", "cournot-v0", "provision_point-v0"}
