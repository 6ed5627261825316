"""What actions will pay: as the rules pay, by what the seat may know."""

import numpy as np
import pytest
from beginnings import record
from parlour import envs

PHASED = [name for name in envs.GAMES if envs.find(name)().capabilities.forecasts is not None]
REPEATED = {"cournot-v0": {"rounds": 3}, "trust-v0": {"rounds": 2}, "voluntary_contribution-v0": {"rounds": 3}}


def forecasts(game, table):
    return game.capabilities.forecasts(game.turn_state(table, int(table.turn)))


def test_cournot_pays_by_its_formula():
    game = envs.game("cournot")
    [found] = forecasts(game, record(game, 1))
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
    table = record(cournot, 1)
    for quantity in (10, 40):
        cournot.rules.play(table, quantity)
    [found] = forecasts(cournot, table)
    assert found.payoffs["if the other does as in the last round"][30] == (100 - 30 - 40 - 20) * 30
    cournot.rules.play(table, 30)
    [found] = forecasts(cournot, table)  # the first has chosen, in secret: it counts as in the last round
    assert found.payoffs["if the other does as in the last round"][20] == (100 - 10 - 20 - 20) * 20
    ultimatum = envs.game("ultimatum")
    table = record(ultimatum, 1)
    worth = ultimatum.turn_state(table, 0).game_state["my_reservation_value"]
    [found] = forecasts(ultimatum, table)
    assert found.payoffs == {"if the other answers accept": pytest.approx([q - worth for q in found.numbers])}


def test_several_numbers_have_a_constant_and_slopes():
    agency = envs.game("common_agency", p_high_low_effort=0.25, p_high_high_effort=0.75)
    table = record(agency, 1)
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


@pytest.mark.parametrize("name", PHASED)
def test_what_is_certain_comes_true(name):
    game = envs.find(name)(**REPEATED.get(name, {}))
    chance, generator, tried = game.capabilities.chance, np.random.default_rng(3), 0
    for seed in range(4):
        table = record(game, seed)
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
