"""The host's end of a match without agents, sockets and clocks: calls, limits, tries, faults, and who is shown what."""

import json

import numpy as np
import pytest
from live.mafia_driver import Driver, votes
from mafia_players import TEN, session
from parlour.envs import game
from parlour.envs.core.match import Match
from parlour.envs.mafia.view import log
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent_policy import night_targets, vote_targets
from parlour.wrappers.live.mafia.conversion import turn_state
from parlour.wrappers.live.mafia.host_session import MafiaHostSession
from parlour.wrappers.live.mafia.limits import MafiaLimits
from parlour.wrappers.live.mafia.match_report import ActionTaken

# The calls.


def test_at_night_and_in_the_vote_all_are_called_at_once_and_one_after_another_in_the_discussion():
    driver = Driver(session(1, TEN))
    driver.begin()
    roles = [driver.session.roles[call.seat] for call in driver.calls]
    assert roles == ["mafia"] * 3 + ["doctor", "sheriff"]  # villagers sleep
    assert all(call.method == "think" for call in driver.calls)
    together = {"NIGHT_ACTIONS": set(), "DAY_DISCUSSION": set(), "DAY_VOTING": set()}
    spoke = []
    while driver.calls:
        phase = driver.session.arguments(driver.calls[0].number)[0].phase
        together[phase].add(len(driver.calls))
        if driver.calls[0].method == "say":
            spoke.append(driver.calls[0].seat)
        driver.make(driver.calls[0])
    assert together["DAY_DISCUSSION"] == {1}
    assert max(together["NIGHT_ACTIONS"]) == 5 and max(together["DAY_VOTING"]) >= 8
    assert spoke[:3] == sorted(spoke[:3])  # day 1 in seat order
    assert driver.session.result is not None and not driver.faults()


def test_every_action_and_statement_and_vote_follows_a_thought_of_the_same_agent():
    driver = Driver(session(3, TEN), vote=votes).play()
    last = {}
    for call, _, _ in driver.made:
        if call.method != "think":
            assert last[call.seat] == "think"
        last[call.seat] = call.method
    assert {call.method for call, _, _ in driver.made} == {"think", "say", "nightAction", "vote"}


def test_calls_tell_their_limits():
    limits = MafiaLimits(think=1, say=2, act=3, thought=4, statement=5)
    driver = Driver(session(1, limits=limits), think=lambda *_: [], say=lambda *_: ["Hi."]).play()
    bounds = {call.method: (call.seconds, call.characters) for call, _, _ in driver.made}
    assert bounds == {"think": (1, 4), "say": (2, 5), "nightAction": (3, 0), "vote": (3, 0)}


def test_the_order_of_answers_changes_nothing_but_what_teammates_knew():
    def last_first(driver):
        driver.begin()
        while driver.calls:
            driver.make(driver.calls[-1])
        return driver

    one = Driver(session(5, TEN), vote=votes).play()
    other = last_first(Driver(session(5, TEN), vote=votes))
    assert one.session.result.record == other.session.result.record
    assert one.events("VOTE_CAST", "NIGHT_RESOLVED") == other.events("VOTE_CAST", "NIGHT_RESOLVED")


def test_what_is_told_of_a_call_that_has_ended_is_ignored():
    driver = Driver(session(1))
    driver.begin()
    call = driver.calls[0]
    driver.make(call)
    assert not driver.session.running(call.number)
    for step in (
        driver.session.chunk(call.number, "late"),
        driver.session.finished(call.number),
        driver.session.answered(call.number, None),
        driver.session.failed(call.number, "late"),
        driver.session.replaced(call.number, "late"),
        driver.session.timed_out(call.number),
        driver.session.timed_out(999),
    ):
        assert step == ([], [])
    with pytest.raises(KeyError):
        driver.session.arguments(call.number)


def test_an_answer_that_is_not_the_agents_own_is_one_fault_with_the_first_reason():
    driver = Driver(session(1))
    driver.begin()
    number = driver.calls[0].number
    for problem in ("no key", "no answer either"):
        driver.take(driver.session.replaced(number, problem))
    assert driver.faults() == [("think", "no key", "no thought")]


def test_the_log_says_why_a_choice_is_not_the_agents_own():
    def stranger(call, context, info):
        return wire.VoteAction("nobody")

    def cast():
        return [one for one in driver.happened if isinstance(one, ActionTaken) and one.action.action_type == "vote"]

    driver = Driver(session(1), vote=stranger)
    driver.play(lambda self: bool(cast()))
    assert cast()
    assert all("nobody" in (one.replaced or "") for one in cast())
    driver = Driver(session(1))
    driver.play(lambda self: bool(cast()))
    assert cast() and all(one.replaced is None for one in cast())


def test_no_winner_after_the_last_day():
    def well(call, context, info):
        doctor = info.self.role == "doctor"
        return wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], info.self.id if doctor else night_targets(info)[0])

    driver = Driver(session(1, game("mafia", max_days=2)), nightAction=well).play()
    result = driver.session.result
    assert result.winner is None and result.rounds == 2 and set(result.payoffs.values()) == {0.0}
    assert driver.events("GAME_ENDED") == [{"winner": None}]


def test_the_log_gets_every_turn_as_the_game_takes_it():
    driver = Driver(session(2, TEN), vote=votes).play()
    turns = [one for one in driver.happened if isinstance(one, ActionTaken)]
    match = Match(TEN)
    match.reset(driver.session.seed)
    for turn in turns:
        result = match.submit(turn.agent, turn.action)
        assert result.ok, result
    assert match.table.tobytes() == driver.session.result.record


# Who is shown what.


def roles_in(value):
    """Every (id, role) that is shown anywhere, of the living."""
    if isinstance(value, dict):
        if "id" in value and value.get("role") not in (None, "unknown") and value.get("alive", True):
            yield value["id"], value["role"]
        for part in value.values():
            yield from roles_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from roles_in(part)


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_shown_a_role_that_it_may_not_know(seed):
    driver = Driver(session(seed, TEN), vote=votes).play()
    roles = driver.session.result.roles
    found = {agent: set() for agent in roles}
    for call, context, info in driver.made:
        agent = f"p{call.seat + 1}"
        context, info = json.loads(wire.encode(context)), json.loads(wire.encode(info))
        if "privateKnowledge" in info:
            results = info["privateKnowledge"]["investigationResults"]
            found[agent] |= {one["target"]["id"] for one in results if one["isMafia"]}
            assert bool(results) <= (roles[agent] == "sheriff")
            assert ("mafiaTeammates" in info["privateKnowledge"]) == (roles[agent] == "mafia")
            assert ("nightActions" in info["privateKnowledge"]) <= (roles[agent] == "mafia")
        dead = {player["id"] for player in context["deadPlayers"]}
        for who, role in roles_in((context, info)):
            assert role == roles[who]
            mates = roles[agent] == "mafia" and role == "mafia"
            assert who == agent or mates or who in found[agent] or who in dead, (agent, who, role)


def test_the_mafia_see_what_their_teammates_have_chosen_tonight_and_nobody_else_does():
    driver = Driver(session(1, TEN))
    driver.begin()
    thoughts = list(driver.calls)
    first, second = thoughts[:2]
    driver.make(first)
    driver.make(driver.calls[-1])  # the first one chooses
    _, info = driver.session.arguments(second.number)
    chosen = info.private_knowledge.night_actions
    assert list(chosen) == [f"p{first.seat + 1}"]
    for call in thoughts[3:]:  # doctor and sheriff
        _, info = driver.session.arguments(call.number)
        assert info.private_knowledge.night_actions is wire.UNSET


def test_an_action_is_asked_for_with_what_is_known_by_then():
    driver = Driver(session(1, TEN))
    driver.begin()
    first, second = driver.calls[:2]
    driver.make(second)  # it has thought, and nobody has chosen
    driver.make(first)
    action = next(call for call in driver.calls if call.method == "nightAction" and call.seat == first.seat)
    waiting = next(call for call in driver.calls if call.method == "nightAction" and call.seat == second.seat)
    driver.make(action)
    _, info = driver.session.arguments(waiting.number)
    assert list(info.private_knowledge.night_actions) == [f"p{first.seat + 1}"]
    assert driver.session.arguments(waiting.number)[1] is info  # once called, an agent is judged by what it was shown


def test_votes_are_sealed_until_all_are_in():
    driver = Driver(session(1, TEN), vote=votes)
    driver.play(until=lambda self: any(call.method == "vote" for call in self.calls))
    while driver.calls and driver.calls[0].method in ("think", "vote") and not driver.events("VOTE_CAST"):
        context, _ = driver.session.arguments(driver.calls[0].number)
        assert context.phase == "DAY_VOTING" and context.voting_history == []
        driver.make(driver.calls[0])
    cast, made = driver.events("VOTE_CAST"), [call for call, _, _ in driver.made if call.method == "vote"]
    assert len(cast) == len(made) >= 8
    assert [vote["voterId"] for vote in cast] == sorted((vote["voterId"] for vote in cast), key=lambda id: int(id[1:]))


def test_a_vote_in_which_all_abstain_eliminates_nobody():
    driver = Driver(session(1, TEN)).play(until=lambda self: bool(self.events("VOTE_RESULT")))
    [result] = driver.events("VOTE_RESULT")
    assert result["eliminatedPlayerId"] is None and set(result["votes"].values()) == {None}
    assert not any(one.get("eliminatedBy") == "vote" for one in driver.events("PLAYER_ELIMINATED"))


@pytest.mark.parametrize("options", [{"seats": 5}, {"seats": 10}, {"seats": 13, "discussion_rounds": 2}])
@pytest.mark.parametrize("seed", range(2))
def test_what_an_agent_reads_from_its_context_is_what_the_game_observes(seed, options):
    """Law 1 through this wire: record → context and info → JSON → TurnState → record → observation."""
    seen = set()

    def check(call, context, info):
        tables = one.tables(1)
        tables[0] = one_session.match.table
        table = tables[0]
        table.turn = call.seat  # all choose at once
        if context.phase == "NIGHT_ACTIONS":
            for actor, target in one_session._choices.items():
                log(table, "night")[int(table.round_number) - 1, actor] = target
        read = wire.read(wire.encode(context), wire.GameState), wire.read(wire.encode(info), wire.PrivateInfo)
        loaded, own = one.view.load(turn_state(f"p{call.seat + 1}", *read))
        assert own == call.seat
        assert np.array_equal(one.observation(loaded[0], own), one.observation(table, own))
        assert np.array_equal(one.mask(loaded[0], own), one.mask(table, own))
        seen.add(context.phase)
        return ["Hm."]

    one = game("mafia", **options)
    players = [(f"p{seat + 1}", f"Player {seat + 1}") for seat in range(one.seats)]
    one_session = MafiaHostSession(one, players, game_id="g", seed=seed)
    said = [lambda name=name: [f"I accuse {name}."] for name in ("Player 2", "Player 3")]
    Driver(one_session, think=check, say=lambda call, *_: said[call.seat % 2](), vote=votes).play()
    assert seen == {"NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING"}


@pytest.mark.parametrize("seed", range(4))
def test_what_may_be_chosen_is_what_the_rules_allow(seed):
    one = game("mafia", seats=8, doctors=2, sheriffs=2)
    made = session(seed, one)

    def legal(seat):
        table = one.tables(1)
        table[0] = made.match.table
        table[0].turn = seat
        allowed = one.allowed_actions(table[0])[0].payload_schema["properties"]["targetId"]["enum"]
        return [target for target in allowed if target is not None]

    def night(call, context, info):
        assert night_targets(info) == legal(call.seat)
        return wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], night_targets(info)[call.seat % 3])

    def vote(call, context, info):
        assert vote_targets(f"p{call.seat + 1}", context) == legal(call.seat)
        return wire.VoteAction(vote_targets(f"p{call.seat + 1}", context)[0])

    driver = Driver(made, nightAction=night, vote=vote).play()
    assert driver.session.result.rounds > 1 and not driver.faults()
