"""A hosted match: the lifecycle of mafia.md, who sees what, and agents that misbehave in every way."""

import asyncio
import itertools
import json
import logging
import threading
import time

import msgspec
import numpy as np
import pytest
from mafia_players import (
    FIVE,
    NAMES,
    SHORT,
    TEN,
    Answers,
    Blocking,
    Endless,
    EndlessNothing,
    Meddling,
    Plain,
    Raising,
    Silent,
    Stubborn,
    dealt,
    scripted,
    table,
    warnings,
)
from parlour.envs import game
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.base_agent import BaseMafiaAgent
from parlour.wrappers.live.mafia.conversion import turn_state
from parlour.wrappers.live.mafia.event_feed import EventFeed
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.mafia.host_session import MafiaLimits, MafiaMatch
from parlour.wrappers.live.mafia.isolated_agent import IsolatedAgent
from parlour.wrappers.logs import match_log, recorder

TEAMS = {"mafia": "mafia", "doctor": "town", "sheriff": "town", "villager": "town"}


def run(main, within=120):
    return asyncio.run(asyncio.wait_for(main, within))


def events(match, view="admin"):
    return [json.loads(event) for event in getattr(match.feed, view)]


def played(**settings):
    match = table(**settings)
    return match, run(match.play())


# The lifecycle.


@pytest.mark.parametrize("seed", range(6))
def test_a_match_of_scripted_agents_goes_through_the_phases_without_a_fault(seed):
    match, result = played(seed=seed)
    assert not result.faults
    told = events(match)
    changes = [event["payload"] for event in told if event["eventType"] == "PHASE_CHANGED"]
    assert changes[0]["from"] == "SETUP" and changes[-1]["to"] == "END"
    assert all(one["to"] == two["from"] for one, two in itertools.pairwise(changes))
    order = ["NIGHT_ACTIONS", "MORNING_REVEAL", "DAY_DISCUSSION", "DAY_VOTING", "RESOLUTION"]
    for i, change in enumerate(changes[:-1]):
        assert change["to"] == order[i % 5]
        assert change["roundNumber"] == i // 5 + 1
        assert change["dayNumber"] == change["roundNumber"] - (change["to"] == "NIGHT_ACTIONS")
    assert told[0]["eventType"] == "GAME_CREATED" and told[-1]["eventType"] == "GAME_ENDED"
    assert told[-1]["payload"] == {"winner": result.winner}
    winners = {agent for agent, role in result.roles.items() if TEAMS[role] == result.winner}
    assert result.payoffs == {agent: 1.0 if agent in winners else -1.0 for agent in result.roles}
    assert {event["eventType"] for event in told} <= set(wire.EVENTS)
    for event in told:
        assert event.keys() - {"private"} == {"eventType", "gameId", "sequence", "timestamp", "payload"}
    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))


def test_all_events_of_the_notes_come_and_streams_end_with_an_empty_chunk():
    seen = set()
    for seed in range(4):
        match, _ = played(seed=seed)
        told = events(match)
        seen |= {event["eventType"] for event in told}
        streams = {}
        for event in told:
            if event["eventType"].endswith("_STREAM"):
                payload = event["payload"]
                assert payload.keys() == {"agentId", "agentName", "chunk", "turnId"}
                streams.setdefault(payload["turnId"], []).append(payload["chunk"])
        for turn_id, chunks in streams.items():
            assert chunks[-1] == "" and all(chunks[:-1]) and len(chunks) > 1, turn_id
        assert ("think-night-1-p" in " ".join(streams) and "say-day-1-p1" in streams) or "say-day-1-p2" in streams
    assert seen == set(wire.EVENTS)


def test_the_same_seed_is_the_same_match():
    one, two, other = (played(seed=seed) for seed in (5, 5, 6))
    assert one[1].record == two[1].record != other[1].record
    assert one[0].feed.admin == two[0].feed.admin


@pytest.mark.parametrize("options", [{"seats": 5}, {"seats": 13, "discussion_rounds": 2}, {"seats": 7, "talk": False}])
def test_other_sizes_and_options(options):
    other = game("mafia", **options)
    agents = [scripted(seat, name=f"Player {seat}") for seat in range(other.seats)]
    match = MafiaMatch(other, agents, feed=EventFeed("g"), seed=3)
    result = run(match.play())
    assert not result.faults
    says = [event["payload"]["turnId"] for event in events(match) if event["eventType"] == "AGENT_SAY_STREAM"]
    assert bool(says) == other.options["talk"]
    assert any(turn.endswith("-2") for turn in says) == (other.options["discussion_rounds"] == 2)


def test_no_winner_after_the_last_day():
    agents = [Answers(None, wire.VoteAction(None), id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(10)]
    for agent in agents:
        agent._night = lambda context, info: {
            "mafia": wire.NightAction("KILL", next(p.id for p in context.players if p.alive and p.id != info.self.id)),
            "sheriff": wire.NightAction(
                "INVESTIGATE", next(p.id for p in context.players if p.alive and p.id != info.self.id)
            ),
            "doctor": wire.NightAction("PROTECT", info.self.id),
        }.get(info.self.role)
    match = MafiaMatch(game("mafia", max_days=2), agents, feed=EventFeed("g"), seed=1)
    result = run(match.play())
    assert result.winner is None and result.rounds == 2
    assert set(result.payoffs.values()) == {0.0}
    assert events(match)[-1]["payload"] == {"winner": None}


# Who sees what.


class Watching(Plain):
    """Keeps everything it is shown."""

    def __init__(self, **who):
        super().__init__(**who)
        self.seen = []

    async def think(self, context, private_info):
        self.seen.append(msgspec.to_builtins((context, private_info)))
        yield "I watch."

    async def say(self, context, public_info):
        self.seen.append(msgspec.to_builtins((context, public_info)))
        yield "I watch."

    async def vote(self, context, public_info):
        self.seen.append(msgspec.to_builtins((context, public_info)))
        return wire.VoteAction(None)


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
    watching = {seat: Watching(id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(10)}
    _match, result = played(seed=seed, bad=watching)
    for agent in watching.values():
        assert agent.seen, agent.id
        dead = set()
        found = set()
        for context, info in agent.seen:
            dead |= {player["id"] for player in context["deadPlayers"]}
            own = result.roles[agent.id]
            if "privateKnowledge" in info:
                results = info["privateKnowledge"]["investigationResults"]
                found |= {one["target"]["id"] for one in results if one["isMafia"]}
                assert bool(results) <= (own == "sheriff")
                assert ("mafiaTeammates" in info["privateKnowledge"]) == (own == "mafia")
                assert ("nightActions" in info["privateKnowledge"]) <= (own == "mafia")
            for who, role in roles_in((context, info)):
                assert role == result.roles[who]
                mates = own == "mafia" and role == "mafia"
                dead_then = who in {player["id"] for player in context["deadPlayers"]}
                assert who == agent.id or mates or who in found or dead_then, (agent.id, own, who, role)


def test_the_public_stream_has_no_private_event_and_no_role_of_the_living():
    for seed in range(5):
        match, _result = played(seed=seed)
        public, admin = events(match, "public"), events(match)
        assert [event["sequence"] for event in public] == list(range(1, len(public) + 1))  # no gap tells anything
        open_ones = [event for event in admin if not event.get("private")]
        assert [event["payload"] for event in public] == [event["payload"] for event in open_ones]
        hidden = {"ROLES_ASSIGNED", "NIGHT_ACTION_SUBMITTED", "INVESTIGATION_RESULT", "AGENT_THINK_STREAM"}
        assert not hidden & {event["eventType"] for event in public}
        assert all(event.get("private") for event in admin if event["eventType"] in hidden)
        for event in public:
            text = json.dumps(event["payload"])
            if event["eventType"] not in ("PLAYER_ELIMINATED", "AGENT_SAY_STREAM", "GAME_ENDED"):
                assert not any(role in text for role in wire.ROLES), text
            if event["eventType"] == "NIGHT_RESOLVED":
                assert event["payload"].keys() == {"killed", "prevented"}


def test_votes_are_sealed_until_all_are_in():
    class Late(Plain):
        async def vote(self, context, public_info):
            await asyncio.sleep(0.05)
            told.append(sum(b"VOTE_CAST" in event for event in match.feed.admin) == before[0])
            return wire.VoteAction(None)

        async def think(self, context, private_info):
            before[0] = sum(b"VOTE_CAST" in event for event in match.feed.admin)
            yield "I wait."

    told, before = [], [0]
    match = table(seed=1, bad={3: Late(id="p4", name="Dan")})
    run(match.play())
    assert told and all(told)


@pytest.mark.parametrize("seed", range(4))
def test_what_an_agent_reads_from_its_context_is_what_the_game_observes(seed):
    """Law 1 through this wire: host → JSON → context and info → TurnState → observation."""
    checked = []

    class Both(BaseMafiaAgent):
        def shown(self, game, observation, mask):
            self.fast = observation.copy(), mask.copy()

    for seats, _seat in ((5, seed % 5), (10, seed)):
        match = table(seed=seed, seats=seats)
        plain = match._private

        def private(at, match=match, plain=plain):
            context, info = plain(at)
            there = wire.read(wire.encode(context), wire.GameState), wire.read(wire.encode(info), wire.PrivateInfo)
            tables, own = match.game.view.load(turn_state(match.agents[at].id, *there))
            observation, mask = match._seen(at)
            assert own == at
            same = np.array_equal(match.game.observation(tables[0], own), observation)
            assert same, [
                name.path
                for name in match.game.layout
                if not np.array_equal(
                    observation[name.start : name.stop],
                    match.game.observation(tables[0], own)[name.start : name.stop],
                )
            ]
            assert np.array_equal(match.game.mask(tables[0], own), mask)
            checked.append(match._told)
            return context, info

        match._private = private
        run(match.play())
    assert set(checked) == {"NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING"}


# Logs.


@pytest.mark.parametrize("bad", [{}, {seat: Raising(id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(4)}])
def test_a_log_replays_to_the_same_bytes(tmp_path, bad):
    async def main():
        with match_log.MatchLog(tmp_path / "log.jsonl") as log:
            async with MafiaHost(TEN, seed=1, log=log) as host:
                agents = [bad.get(seat) or scripted(seat) for seat in range(10)]
                return await host.play(agents)

    result = run(main())
    env = recorder.replay(tmp_path / "log.jsonl")
    assert env.state().tobytes() == result.record
    lines = list(match_log.read(tmp_path / "log.jsonl"))
    assert lines[0]["kind"] == "match" and lines[-1]["kind"] == "end"
    told = [line["event"] for line in lines if line["kind"] == "event"]
    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
    faults = [line for line in lines if line["kind"] == "fault"]
    assert len(faults) == len(result.faults)
    assert bool(faults) == bool(bad)


# Agents that misbehave. Those of others run apart, as in the host.


BAD = {
    "silent": Silent,
    "endless": Endless,
    "endless nothing": EndlessNothing,
    "raising": Raising,
    "stubborn": Stubborn,
    "meddling": Meddling,
    "blocking": Blocking,
}


@pytest.mark.parametrize("kind", BAD)
def test_a_match_goes_on_whatever_an_agent_does(kind, caplog):
    async def main():
        async with MafiaHost(FIVE, seed=4, limits=None if kind == "meddling" else SHORT) as host:
            agents = [BAD[kind](id=f"p{seat + 1}", name=NAMES[seat]) for seat in (0, 1)]
            return await host.play([*agents, *(scripted(seat) for seat in (2, 3, 4))], seed=dealt("mafia"))

    with caplog.at_level(logging.WARNING):
        result = run(main())
    assert result.winner in ("town", "mafia")
    assert {fault.agent_id for fault in result.faults} <= {"p1", "p2"}
    assert bool(result.faults) == (kind != "meddling")
    assert len(warnings(caplog)) == len(result.faults)


def wrong(field, value):
    return lambda *args: {"actionType": "KILL", "targetId": "p2", field: value}


ANSWERS = {
    "oneself": (lambda c, info: wire.NightAction(wire.NIGHT_ACTIONS.get(info.self.role, "KILL"), info.self.id), "p1"),
    "unknown": (lambda c, info: wire.NightAction(wire.NIGHT_ACTIONS.get(info.self.role, "KILL"), "p99"), "p99"),
    "dead": (
        lambda c, info: wire.NightAction(
            wire.NIGHT_ACTIONS.get(info.self.role, "KILL"), next((p.id for p in c.players if not p.alive), "nobody")
        ),
        lambda c: wire.VoteAction(next((p.id for p in c.players if not p.alive), "nobody")),
    ),
    "wrong action": (wire.NightAction("VOTE", "p2"), "p1"),
    "wrong types": (wrong("targetId", ["p2"]), {"targetId": 5}),
    "no answer": (None, None),
    "rubbish": (b"\xff\x00", 3.5),
    "objects": (object(), object()),
    "struct with rubbish": (wire.NightAction("KILL", {"a": 1}), wire.VoteAction(["p2"])),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_illegal_answers_are_replaced_by_the_rules_of_the_notes(kind):
    night, vote = ANSWERS[kind]
    if isinstance(vote, str):
        vote = {"targetId": vote}
    for role in ("mafia", "doctor", "sheriff"):
        seed = dealt(role, 10)
        match, result = played(seed=seed, bad={0: Answers(night, vote)})
        faults = [fault for fault in result.faults if fault.method == "nightAction" and fault.agent_id == "p1"]
        if (kind, role) != ("oneself", "doctor"):
            assert faults[2].instead.endswith("drawn") and not faults[0].instead  # one more try, then a legal target
            assert faults[0].problem and faults[1].problem == faults[0].problem
        voted = [fault for fault in result.faults if fault.method == "vote"]
        assert all(fault.agent_id == "p1" and fault.instead == "abstains" for fault in voted)
        cast = [event["payload"] for event in events(match) if event["eventType"] == "VOTE_CAST"]
        assert all(vote["targetId"] is None for vote in cast if vote["voterId"] == "p1")


def test_a_doctor_cannot_protect_the_same_player_twice_running():
    seed = dealt("doctor", 10)
    match, result = played(seed=seed, bad={0: Answers(wire.NightAction("PROTECT", "p1"), wire.VoteAction(None))})
    protected = [
        event["payload"]["targetId"]
        for event in events(match)
        if event["eventType"] == "NIGHT_ACTION_SUBMITTED" and event["payload"]["agentId"] == "p1"
    ]
    assert protected[0] == "p1" and len(protected) > 1
    assert all(one != two for one, two in itertools.pairwise(protected))
    assert any("protected last night" in fault.problem for fault in result.faults)


@pytest.mark.parametrize("phase", ["NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING"])
def test_an_agent_that_vanishes_in_a_phase_is_replaced_from_there_on(phase):
    class Vanishing(Plain):
        gone = False

        async def think(self, context, private_info):
            self.gone = self.gone or context.phase == phase
            if self.gone:
                raise ConnectionError("the connection was lost")
            yield "I am here."

        async def say(self, context, public_info):
            if self.gone:
                raise ConnectionError("the connection was lost")
            yield "I am here."

        async def night_action(self, context, private_info):
            if self.gone:
                raise ConnectionError("the connection was lost")
            return await super().night_action(context, private_info)

        async def vote(self, context, public_info):
            if self.gone:
                raise ConnectionError("the connection was lost")
            return await super().vote(context, public_info)

    seed = dealt("mafia", 10)
    _match, result = played(seed=seed, bad={0: Vanishing()})
    assert result.winner and result.faults[0].phase == phase
    assert {fault.problem for fault in result.faults if not fault.instead} == {
        "ConnectionError: the connection was lost",
        *({"it said nothing"} if any(fault.method == "say" for fault in result.faults) else ()),
    }


def test_a_statement_has_at_most_five_sentences_and_is_heard_as_an_act():
    said = "I accuse Bob. One. Two! Three? Four... Five. Six."
    match, result = played(seed=dealt("mafia", 10), bad={0: Answers(None, wire.VoteAction(None), said)})
    statement = next(one for one in match._statements if one.player_id == "p1")
    assert statement.content == "I accuse Bob. One. Two! Three? Four..."
    assert (statement.type, statement.target_id) in (("accusation", "p2"), ("general", None))  # Bob may be dead
    assert any("five sentences" in fault.problem for fault in result.faults)


def test_wrong_players_are_told():
    agents = [scripted(seat) for seat in range(10)]
    for change, problem in (
        (lambda: agents[:9], "9 agents for a game of 10"),
        (lambda: [*agents[:9], scripted(0)], "no two agents may have the same"),
        (lambda: [*agents[:9], scripted(9, name="p1")], "another agent's id"),
        (lambda: [*agents[:9], scripted(9, name="a\nb")], "printable"),
        (lambda: [*agents[:9], scripted(9, name="x" * 65)], "printable"),
    ):
        with pytest.raises(ValueError, match=problem):
            MafiaMatch(TEN, change(), feed=EventFeed("g"))
    for wrong in ({"think": 0}, {"act": float("nan")}, {"tries": 0}, {"statement": 5_000}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MafiaLimits(**wrong)


def test_apart_gives_up_an_agent_that_is_still_busy():
    async def main():
        agent = IsolatedAgent(Stubborn())
        from mafia_players import context as made

        context, private, public = made("NIGHT_ACTIONS", role="mafia")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await agent.night_action(context, private)
        with pytest.raises(RuntimeError, match="still busy"):
            await agent.vote(context, public)
        agent.stop()

    run(main())


# Hostile objects.


class Everything(str):
    """Equal to everybody."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


class Hostile(Plain):
    """Takes no role, has another id every time, and answers with what no JSON can hold."""

    def __init__(self, **who):
        super().__init__(**who)
        self.config = {"llmConfig": {"apiKey": "sk-secret"}}

    def __setattr__(self, name, value):
        if name == "role" and value is not None:
            raise PermissionError("\ud800 no \x1b[2J role\n")
        super().__setattr__(name, value)

    async def think(self, context, private_info):
        yield "half a pair \ud800"

    async def say(self, context, public_info):
        yield "I accuse Bob. \udfff"

    async def night_action(self, context, private_info):
        return wire.NightAction("KILL", Everything("p9"), {"\ud800": object()})

    async def vote(self, context, public_info):
        raise ValueError("\ud800\x1b[2J\nVOTE_CAST")


@pytest.mark.parametrize("seed", [0, dealt("mafia")])
@pytest.mark.parametrize("apart", [False, True])
def test_what_cannot_be_written_costs_only_its_own_answers(seed, apart, tmp_path, caplog):
    hostile = Hostile(id="p1", name="Ann")
    agents = [hostile, *(scripted(seat) for seat in range(1, 5))]

    async def main():
        with match_log.MatchLog(tmp_path / "log") as log:
            if apart:
                return await MafiaHost(FIVE, limits=SHORT, log=log).play(agents, seed)
            return await MafiaMatch(FIVE, agents, feed=EventFeed("g"), seed=seed, limits=SHORT, note=log.write).play()

    result = run(main())
    assert {fault.agent_id for fault in result.faults} == {"p1"} and result.winner
    assert recorder.replay(tmp_path / "log").state().tobytes() == result.record
    assert "sk-secret" not in (tmp_path / "log").read_text()
    for line in warnings(caplog):
        assert line.getMessage().isprintable()


def test_an_answer_is_what_it_says_and_not_what_it_is_equal_to():
    everything = Answers(wire.NightAction("KILL", Everything("nobody")), wire.VoteAction(Everything("nobody")))
    match = table(seed=dealt("mafia"), seats=5, bad={0: everything})
    result = run(match.play())
    assert {fault.agent_id for fault in result.faults} == {"p1"} and result.winner
    assert any(fault.instead.endswith("drawn") for fault in result.faults)


def test_an_agent_of_many_small_chunks_is_cut_off():
    class Drip(Plain):
        async def think(self, context, private_info):
            while True:
                yield "."

    match = table(seats=5, bad={0: Drip()}, limits=MafiaLimits(thought=20_000))
    result = run(match.play())
    assert any("more than 5,000 chunks" in fault.problem for fault in result.faults)


def test_threads_and_loops_of_agents_end_with_the_match():
    async def main():
        host = MafiaHost(FIVE, limits=SHORT)
        for seed in range(5):
            await host.play([Plain(f"p{seat + 1}", NAMES[seat]) for seat in range(5)], seed)

    before = threading.active_count()
    run(main())
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.02)
    assert threading.active_count() <= before
