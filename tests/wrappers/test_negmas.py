"""NegMAS: Parlour's policies among NegMAS's negotiators in its mechanism, and its negotiators in matches here."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from needs import framework
from parlour import envs
from parlour.envs.core.match import Match
from parlour.envs.multi_issue_bargaining import theory
from parlour.wrappers.agents.policy import PolicyAgent

negmas = framework("negmas")

sys.path.append(str(Path(__file__).parents[2] / "examples"))
from negmas_bargaining import NegotiatorAgent, PolicyNegotiator, domain_options, main, read_domain  # noqa: E402

WORTH = [[0.1, 0.6, 0.0], [0.0, 0.4]], [[0.5, 0.0, 0.2], [0.5, 0.1]], [[0.0, 0.3, 0.8], [0.1, 0.2]]
GENIUS_DOMAIN = """<negotiation_template><utility_space number_of_issues="2">
<objective index="0" etype="objective" type="objective" description="" name="laptop">
<issue etype="discrete" index="1" name="laptop" type="discrete" vtype="discrete">
<item index="1" value="Dell"/><item index="2" value="Macintosh"/><item index="3" value="HP"/></issue>
<issue etype="discrete" index="2" name="harddisk" type="discrete" vtype="discrete">
<item index="1" value="60 Gb"/><item index="2" value="120 Gb"/></issue>
</objective></utility_space></negotiation_template>"""
GENIUS_PROFILE = """<utility_space number_of_issues="2"><reservation value="{reserved}"/>
<objective index="0" etype="objective" type="objective" description="" name="laptop">
<issue etype="discrete" index="1" name="laptop" type="discrete" vtype="discrete">
<item index="1" value="Dell" evaluation="{0}"/><item index="2" value="Macintosh" evaluation="{1}"/>
<item index="3" value="HP" evaluation="{2}"/></issue>
<issue etype="discrete" index="2" name="harddisk" type="discrete" vtype="discrete">
<item index="1" value="60 Gb" evaluation="{3}"/><item index="2" value="120 Gb" evaluation="{4}"/></issue>
<weight index="1" value="0.75"/><weight index="2" value="0.25"/></objective></utility_space>"""


def domain(seats=2, reserved=0.1):
    """Return issues and utility functions of NegMAS."""
    issues = [negmas.make_issue(["red", "green", "blue"], "colour"), negmas.make_issue([10, 20], "price")]
    ufuns = []
    for worth in WORTH[:seats]:
        tables = [dict(zip(issue.all, values, strict=True)) for issue, values in zip(issues, worth, strict=True)]
        functions = dict(zip(["colour", "price"], map(negmas.preferences.value_fun.TableFun, tables), strict=True))
        ufuns.append(negmas.LinearAdditiveUtilityFunction(functions, issues=issues, reserved_value=reserved))
    return issues, ufuns


def game_of(seats=2, **options):
    return envs.game("multi_issue_bargaining", **{**domain_options(*domain(seats)), **options})


@pytest.mark.parametrize("seats", [2, 3])
def test_a_domain_keeps_the_order_of_all_outcomes(seats):
    issues, ufuns = domain(seats)
    game = game_of(seats)
    found = theory.gains(_begun(game))
    for seat, ufun in enumerate(ufuns):
        theirs = np.array([float(ufun(outcome)) for outcome in itertools.product(*(issue.all for issue in issues))])
        ours = found[seat]
        scale = theirs.max() - theirs.min()
        assert ours - ours.min() == pytest.approx((theirs - theirs.min()) / scale)
        assert (ours >= -1e-9).tolist() == (theirs >= float(ufun.reserved_value) - 1e-9).tolist()


def _begun(game):
    match = Match(game)
    match.reset(seed=0)
    return match.table


def test_genius_files_are_read(tmp_path):
    (tmp_path / "laptop.xml").write_text(GENIUS_DOMAIN)
    (tmp_path / "buyer.xml").write_text(GENIUS_PROFILE.format(1, 2, 4, 3, 1, reserved=0.25))
    (tmp_path / "seller.xml").write_text(GENIUS_PROFILE.format(4, 3, 1, 1, 2, reserved=0))
    options = read_domain(tmp_path, rounds=7)
    game = envs.game("multi_issue_bargaining", **options)
    assert list(options["issues"].values()) == [3, 2]
    assert game.options["rounds"] == 7
    for worth in options["preferences"]:
        assert sum(map(max, worth)) == pytest.approx(1)
        assert [min(values) for values in worth] == [0, 0]
    assert np.argmax(options["preferences"][0][0]) == 2
    assert np.argmax(options["preferences"][1][0]) == 0


def test_a_folder_without_a_domain_is_named(tmp_path):
    with pytest.raises(ValueError, match="no domain"):
        read_domain(tmp_path)


def test_a_continuous_issue_is_refused():
    issues = [negmas.make_issue((0.0, 1.0), "price")]
    with pytest.raises(ValueError, match="price is continuous"):
        domain_options(issues, [negmas.LinearAdditiveUtilityFunction.random(issues=issues)])


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("one_offer", [False, True])
def test_policies_among_themselves_do_in_negmas_what_they_do_here(seats, one_offer):
    """The same bots, the same domain: the same offers in the same order, and the same agreement."""
    issues, ufuns = domain(seats)
    game = game_of(seats, rounds=10)
    names = ["aspiration-boulware", "aspiration-linear", "aspiration-conceder"][:seats]
    match = Match(game)
    match.reset(seed=0)
    agents = [PolicyAgent(game, game.bots[name](game)) for name in names]
    while not match.table.done:
        agent = agents[match.turn]
        assert match.submit(game.agents[match.turn], agent.respond(match.turn_state(game.agents[match.turn])).action).ok
    mechanism = negmas.SAOMechanism(
        issues=issues, n_steps=10 * (seats if one_offer else 1), one_offer_per_step=one_offer
    )
    for name, ufun in zip(names, ufuns, strict=True):
        mechanism.add(PolicyNegotiator(game, game.bots[name](game)), ufun=ufun)
    mechanism.run()
    ours = match.turn_state(game.agents[0]).outcome["agreement"]
    values = [list(issue.all) for issue in issues]
    agreed = tuple(of[k] for of, k in zip(values, ours.values(), strict=True)) if ours else None
    assert mechanism.agreement == agreed
    offers = [row["offer"] for row in match.turn_state(game.agents[0]).game_state["action_history"] if "offer" in row]
    assert [tuple(of[k] for of, k in zip(values, offer.values(), strict=True)) for offer in offers] == [
        outcome for _, _, outcome in mechanism.extended_trace
    ]


@pytest.mark.parametrize(
    "kind", ["AspirationNegotiator", "NiceNegotiator", "NaiveTitForTatNegotiator", "RandomNegotiator"]
)
def test_a_policy_negotiates_with_negmas_negotiators_in_its_mechanism(kind):
    issues, ufuns = domain()
    game = game_of()
    for first in (True, False):
        ours = PolicyNegotiator(game, game.bots["aspiration-linear"](game))
        theirs = getattr(negmas.sao, kind)()
        mechanism = negmas.SAOMechanism(issues=issues, n_steps=30)
        for one in (ours, theirs) if first else (theirs, ours):
            mechanism.add(one, ufun=ufuns[0 if one is ours else 1])
        mechanism.run()
        state = mechanism.state
        assert not state.has_error, state.error_details
        if state.agreement is not None:
            assert float(ufuns[0](state.agreement)) >= 0.1 - 1e-6


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


def test_another_domain_than_the_policys_is_named():
    issues, ufuns = domain()
    game = envs.game("multi_issue_bargaining")
    mechanism = negmas.SAOMechanism(issues=issues, n_steps=5)
    mechanism.add(PolicyNegotiator(game, game.bots["random"](game)), ufun=ufuns[0])
    mechanism.add(negmas.sao.AspirationNegotiator(), ufun=ufuns[1])
    with pytest.raises(ValueError, match=r"2 agents with \[3, 2\] values .* \[4, 4, 4\]"):
        mechanism.run()


def test_the_example_comes_to_an_agreement():
    assert main()["reason"] == "agreement"
