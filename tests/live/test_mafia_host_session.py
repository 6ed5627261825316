"""The host's end of a match without agents, sockets and clocks: calls, streams, faults, and who is shown what."""

import json

import numpy as np
import pytest
from mafia_players import FIVE, NAMES, TEN, session
from parlour.envs import game
from parlour.envs.mafia.view import log
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaLimits, night_targets, vote_targets
from parlour.wrappers.live.mafia.host import ActionTaken, Fault, MafiaHostSession
from parlour.wrappers.live.mafia.messages import turn_state


class Driver:
    """Makes a session's calls one after another, and keeps what has happened.

    Args:
        session: of the match.
        answers: functions by method, from (call, context, info) to the answer: the chunks of a stream, or a choice. An
            exception that is raised is the agent's failure. By default agents do what the rules want, and no more.
    """

    def __init__(self, session, **answers):
        self.session = session
        self.answers = {"think": thinks, "say": says, "nightAction": acts, "vote": abstains} | answers
        self.happened = []
        self.made = []

    @property
    def calls(self):
        """The calls that are due."""
        return self.session.calls

    def events(self, *types):
        """The payloads of the events of these types."""
        told = [one for one in self.happened if isinstance(one, wire.Event)]
        return [one.payload for one in told if one.event_type in types]

    def faults(self):
        """Method, problem and what was done instead, of every fault."""
        return [(one.method, one.problem, one.instead) for one in self.happened if isinstance(one, Fault)]

    def begin(self):
        """Begin the match."""
        self.happened += self.session.begin()

    def make(self, call):
        """Make a call."""
        arguments = self.session.arguments(call.number)
        self.made.append((call, *arguments))
        answer, problem = (), None
        try:
            answer = self.answers[call.method](call, *arguments)
        except ValueError as error:
            problem = str(error)
        for chunk in answer if call.characters else ():
            self.happened += self.session.chunk(call.number, chunk)
        self.happened += self.session.answered(call.number, answer, problem)

    def play(self, until=lambda self: False):
        """Make calls until the match is over, or a condition holds."""
        self.begin()
        while self.calls and not until(self):
            self.make(self.calls[0])
        return self


def thinks(call, context, info):
    return ["Hm."]


def says(call, context, info):
    return ["I have ", "nothing to report."]


def acts(call, context, info):
    return wire.NightAction(wire.NIGHT_ACTIONS[info.self.role], night_targets(info)[0])


def abstains(call, context, info):
    return wire.VoteAction(None)


def votes(call, context, info):
    return wire.VoteAction(vote_targets(f"p{call.seat + 1}", context)[0])


def only(seat, mine, others):
    """Answer as `mine` in one seat, as `others` in the others."""
    return lambda call, context, info: (mine if call.seat == seat else others)(call, context, info)


def dealt(role, seats=10):
    """A session in which the first seat has a role."""
    one = TEN if seats == 10 else FIVE
    return next(made for made in (session(seed, one) for seed in range(100)) if made.roles[0] == role)


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


@pytest.mark.parametrize("seed", range(2))
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


@pytest.mark.parametrize("seed", range(2))
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


# Streams.


def stream(driver, agent, name):
    """The chunks of an agent's first stream of a kind."""
    told = [payload for payload in driver.events(name) if payload["agentId"] == agent]
    return [payload["chunk"] for payload in told if payload["turnId"] == told[0]["turnId"]]


@pytest.mark.parametrize(
    ("chunks", "told", "problem"),
    [
        (["ab", "cde", "f"], ["ab", "c", ""], "ValueError: more than 3 characters"),
        (["a", "", "b"], ["a", "b", ""], None),
        ([], [""], None),
        (["a", None], ["a", ""], "TypeError: a chunk is text, not NoneType"),
        (["a\ud800"], [""], "surrogates not allowed"),
    ],
)
def test_a_stream_that_breaks_a_limit_ends_there(chunks, told, problem):
    made = dealt("mafia", 5)
    driver = Driver(session(made.seed, limits=MafiaLimits(thought=3)), think=only(0, lambda *_: chunks, lambda *_: []))
    driver.play()
    assert stream(driver, "p1", "AGENT_THINK_STREAM") == told
    faults = driver.faults()
    if problem is None:
        assert not faults
    else:
        assert faults and all(method == "think" and problem in what for method, what, _ in faults)


def test_a_statement_has_at_most_five_sentences_and_is_heard_as_an_act():
    said = "I accuse Bob. One. Two! Three? Four... and Dr. Five. Six."
    driver = Driver(dealt("mafia"), say=only(0, lambda *_: [said], says), vote=votes).play()
    context = next(context for call, context, _ in driver.made if context.statements and context.phase == "DAY_VOTING")
    statement = next(one for one in context.statements if one.player_id == "p1")
    assert statement.content.rstrip() == "I accuse Bob. One. Two! Three? Four... and Dr. Five."
    assert (statement.type, statement.target_id) in (("accusation", "p2"), ("general", None))  # Bob may be dead
    assert any("five sentences" in problem for _, problem, _ in driver.faults())


def test_of_the_dead_nothing_is_said_but_the_words():
    made = next(one for one in (session(seed, TEN) for seed in range(50)) if one.roles[1] == "villager")

    def kill_bob(call, context, info):
        return wire.NightAction("KILL", "p2") if info.self.role == "mafia" else acts(call, context, info)

    def doctor_elsewhere(call, context, info):
        return (
            wire.NightAction("PROTECT", info.self.id) if info.self.role == "doctor" else kill_bob(call, context, info)
        )

    driver = Driver(made, nightAction=doctor_elsewhere, say=lambda *_: ["I accuse Bob."])
    driver.play(until=lambda self: len(self.events("AGENT_SAY_STREAM")) >= 4)
    context = driver.session.arguments(driver.calls[0].number)[0]
    said = [(one.type, one.target_id, one.content) for one in context.statements]
    assert said and set(said) == {("general", None, "I accuse Bob.")}


# Faults.


def test_what_fails_or_is_late_loses_that_answer_only():
    driver = Driver(dealt("mafia"))
    driver.begin()
    think = next(call for call in driver.calls if call.seat == 0)
    driver.happened += driver.session.chunk(think.number, "now ")
    driver.happened += driver.session.answered(think.number, problem="cut off after 30 s")
    assert driver.faults() == [("think", "cut off after 30 s", "")]
    assert stream(driver, "p1", "AGENT_THINK_STREAM") == ["now ", ""]
    for _ in range(2):
        driver.happened += driver.session.answered(driver.calls[-1].number, problem="no answer within 30 s")
    kept = driver.faults()[1:]
    assert [problem for _, problem, _ in kept] == ["no answer within 30 s"] * 2
    assert [instead[5:] for _, _, instead in kept] == ["", "drawn"]  # one fault an answer
    assert driver.events("NIGHT_ACTION_SUBMITTED")[0]["agentId"] == "p1"


def test_a_night_action_is_asked_for_as_often_as_the_limits_say_then_drawn_from_the_matchs_stream():
    def fails(call, context, info):
        raise ValueError("the connection was lost")

    drawn = []
    for tries in (1, 3):
        made = dealt("mafia")
        driver = Driver(
            session(made.seed, TEN, limits=MafiaLimits(tries=tries)), nightAction=only(0, fails, acts)
        ).play()
        first = driver.faults()[:tries]
        assert [fault[:2] for fault in first] == [("nightAction", "the connection was lost")] * tries
        drawn.append(first[-1][2])
        assert drawn[-1].endswith("drawn") and not any(instead for *_, instead in first[:-1])
    assert drawn[0] == drawn[1]


ILLEGAL = {
    "oneself": (lambda context, info: {"actionType": kind(info), "targetId": info.self.id}, "p1", "agent itself"),
    "unknown": (lambda context, info: {"actionType": kind(info), "targetId": "p99"}, "p99", "no player 'p99'"),
    "dead": (lambda context, info: {"actionType": kind(info), "targetId": dead(context)}, lambda one: dead(one), None),
    "wrong types": (lambda context, info: {"actionType": "KILL", "targetId": ["p2"]}, 5, None),
    "no answer": (lambda context, info: None, None, None),
    "objects": (lambda context, info: object(), object(), None),
    "struct with rubbish": (lambda context, info: wire.NightAction("KILL", {"a": 1}), ["p2"], None),
}


def kind(info):
    return wire.NIGHT_ACTIONS.get(info.self.role, "KILL")


def dead(context):
    return next((player.id for player in context.players if not player.alive), "nobody")


@pytest.mark.parametrize("case", ILLEGAL)
@pytest.mark.parametrize("role", ["mafia", "doctor"])
def test_illegal_answers_are_replaced(case, role):
    night, target, problem = ILLEGAL[case]

    def vote(call, context, info):
        voted = target(context) if callable(target) else target
        if isinstance(voted, str):
            return {"targetId": voted}
        return wire.VoteAction(voted) if isinstance(voted, list) else {"targetId": voted} if voted == 5 else voted

    driver = Driver(
        dealt(role), nightAction=only(0, lambda call, *shown: night(*shown), acts), vote=only(0, vote, abstains)
    ).play()
    faults = [fault for fault in driver.faults() if fault[0] == "nightAction"]
    if (case, role) != ("oneself", "doctor"):
        assert faults[1][2].endswith("drawn") and not faults[0][2]  # one more try, then a legal target
        assert faults[0][1] and faults[1][1] == faults[0][1]
        assert problem is None or problem in faults[0][1]
    voted = [fault for fault in driver.faults() if fault[0] == "vote"]
    assert all(instead == "abstains" and "protected" not in why for _, why, instead in voted)
    assert len(voted) == sum(call.method == "vote" and call.seat == 0 for call, _, _ in driver.made)
    cast = [vote for vote in driver.events("VOTE_CAST") if vote["voterId"] == "p1"]
    assert all(vote["targetId"] is None for vote in cast)
    assert all(one["eliminatedPlayerId"] is None for one in driver.events("VOTE_RESULT"))
    acted = [one for one in driver.happened if isinstance(one, ActionTaken) and one.action.action_type == "vote"]
    assert {one.replaced is None for one in acted} == {True, not voted}  # the others' votes are their own


def test_wrong_players_are_told():
    players = [(f"p{seat + 1}", NAMES[seat]) for seat in range(10)]
    for change, problem in (
        (players[:9], "9 agents for a game of 10"),
        ([*players[:9], ("p10", "Ann")], "no two agents may have the same"),
        ([*players[:9], ("p10", "p1")], "another agent's id"),
        ([*players[:9], ("p10", "a\nb")], "printable"),
    ):
        with pytest.raises(ValueError, match=problem):
            MafiaHostSession(TEN, change, game_id="g")
    for wrong in ({"think": 0}, {"act": float("nan")}, {"tries": 0}, {"statement": 5_000}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MafiaLimits(**wrong)
