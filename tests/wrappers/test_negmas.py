"""NegMAS: its negotiators in matches here."""

import sys
from pathlib import Path

import pytest
from needs import framework
from parlour import envs
from parlour.envs.core.match import Match
from parlour.wrappers.agents.policy import PolicyAgent

negmas = framework("negmas")

sys.path.append(str(Path(__file__).parents[2] / "examples"))
from negmas_bargaining import NegotiatorAgent, main  # noqa: E402

WORTH = [[0.1, 0.6, 0.0], [0.0, 0.4]], [[0.5, 0.0, 0.2], [0.5, 0.0]], [[0.0, 0.3, 0.8], [0.0, 0.2]]


def domain():
    """Return issues and utility functions of NegMAS."""
    issues = [negmas.make_issue(["red", "green", "blue"], "colour"), negmas.make_issue([10, 20], "price")]
    ufuns = []
    for worth in WORTH[:2]:
        tables = [dict(zip(issue.all, values, strict=True)) for issue, values in zip(issues, worth, strict=True)]
        functions = dict(zip(["colour", "price"], map(negmas.preferences.value_fun.TableFun, tables), strict=True))
        ufuns.append(negmas.LinearAdditiveUtilityFunction(functions, issues=issues, reserved_value=0.1))
    return issues, ufuns


def game_of(seats=2, rounds=20):
    options = {"issues": {"colour": 3, "price": 2}, "preferences": WORTH[:seats], "reservations": [[0.1, 0.1]] * seats}
    return envs.game("multi_issue_bargaining", seats=seats, rounds=rounds, **options)


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize(
    "kind", ["AspirationNegotiator", "NiceNegotiator", "NaiveTitForTatNegotiator", "BoulwareTBNegotiator"]
)
def test_negmas_negotiators_play_matches_here(kind, seats):
    """Every answer is legal; with a second negotiator of NegMAS, and with one of our bots that passes at times."""
    game = envs.game("multi_issue_bargaining", seats=seats, preferences="random")
    agreed = 0
    for seed in range(6):
        match = Match(game)
        match.reset(seed=seed)
        agents = [NegotiatorAgent(getattr(negmas.sao, kind)) for _ in range(seats)]
        agents[seed % seats] = PolicyAgent(
            game, game.bots["aspiration-linear" if seed % 2 else "random"](game, seed=seed)
        )
        while not match.table.done:
            seat = match.turn
            state = match.turn_state(game.agents[seat])
            answer = agents[seat].respond(state)
            result = match.submit(game.agents[seat], answer.action)
            assert result.ok, (answer, result.error_detail)
        agreed += bool(match.table.agreed)
    assert agreed >= 2


@pytest.mark.parametrize("kind", ["AspirationNegotiator", "NiceNegotiator", "NaiveTitForTatNegotiator"])
def test_a_negotiator_whose_offer_nobody_answers_passes_or_makes_another(kind):
    game = game_of(3)
    match = Match(game)
    match.reset(seed=0)
    agent = NegotiatorAgent(getattr(negmas.sao, kind))
    while not match.table.done:
        name = game.agents[match.turn]
        action = agent.respond(match.turn_state(name)).action if match.turn == 1 else envs.Action("pass")
        assert match.submit(name, action).ok, action
    assert match.table.moves == 60


def test_an_aspiration_negotiator_concedes_here_as_it_does_in_negmas():
    """Against an agent that always offers the same, it accepts here in the same round as in NegMAS's mechanism."""
    issues, ufuns = domain()
    game = game_of(rounds=20)
    match = Match(game)
    match.reset(seed=0)
    theirs, mine = NegotiatorAgent(negmas.sao.AspirationNegotiator), {"colour": 2, "price": 0}
    while not match.table.done:
        agent = game.agents[match.turn]
        action = (
            envs.Action("submit_offer", mine) if match.turn == 0 else theirs.respond(match.turn_state(agent)).action
        )
        assert match.submit(agent, action).ok
    assert match.table.agreed

    class Stubborn(negmas.sao.SAOCallNegotiator):
        def __call__(self, state, dest=None):
            return negmas.sao.SAOResponse(negmas.sao.ResponseType.REJECT_OFFER, ("blue", 10))

    mechanism = negmas.SAOMechanism(issues=issues, n_steps=40, one_offer_per_step=True)
    mechanism.add(Stubborn(), ufun=ufuns[0])
    mechanism.add(negmas.sao.AspirationNegotiator(), ufun=ufuns[1])
    mechanism.run()
    assert mechanism.agreement == ("blue", 10)
    assert match.table.moves == mechanism.state.step


def test_the_example_comes_to_an_agreement():
    assert main()["reason"] == "agreement"
