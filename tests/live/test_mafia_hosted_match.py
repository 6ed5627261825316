"""A hosted match with its agents: the lifecycle of the document, clocks, logs, and agents that misbehave."""

import asyncio
import itertools
import json
import logging
import threading
import time

import pytest
from mafia_players import (
    FIVE,
    NAMES,
    SHORT,
    TEN,
    Blocking,
    Endless,
    EndlessNothing,
    Meddling,
    Plain,
    Raising,
    Silent,
    Stubborn,
    context,
    dealt,
    scripted,
    table,
    warnings,
)
from parlour.envs import game
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.mafia.hosted_match import HostedMatch
from parlour.wrappers.live.mafia.match_report import EventFeed
from parlour.wrappers.live.mafia.threaded_agent import ThreadedAgent
from parlour.wrappers.logs import match_log, recorder

pytestmark = pytest.mark.usefixtures("compiled_mafia")  # before any clock runs

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
    match = HostedMatch(other, agents, feed=EventFeed("g"), seed=3)
    result = run(match.play())
    assert not result.faults
    says = [event["payload"]["turnId"] for event in events(match) if event["eventType"] == "AGENT_SAY_STREAM"]
    assert bool(says) == other.options["talk"]
    assert any(turn.endswith("-2") for turn in says) == (other.options["discussion_rounds"] == 2)


# Observers.


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


# Calls and clocks.


class Meeting(Plain):
    """Waits in a method until all who are called at once are there."""

    def __init__(self, method, barriers, **who):
        super().__init__(**who)
        self._method, self._barriers = method, barriers

    async def _meet(self, method, context):
        if method == self._method:
            there = [player for player in context.players if player.alive]
            async with asyncio.timeout(10):
                await self._barriers.setdefault(context.round_number, asyncio.Barrier(len(there))).wait()

    async def think(self, context, private_info):
        if context.phase == "DAY_VOTING":
            await self._meet("think", context)
        yield "Hm."

    async def vote(self, context, public_info):
        await self._meet("vote", context)
        return await super().vote(context, public_info)


@pytest.mark.parametrize("method", ["think", "vote"])
def test_all_voters_are_called_at_once(method):
    barriers = {}
    agents = [Meeting(method, barriers, id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(5)]
    result = run(HostedMatch(FIVE, agents, feed=EventFeed("g"), seed=2).play())
    assert barriers and not [fault for fault in result.faults if fault.method in ("think", "vote")]


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
def test_a_stream_that_goes_on_when_its_time_is_up_is_cut_off():
    class GoesOn(Plain):
        async def think(self, context, private_info):
            while True:
                try:
                    await asyncio.sleep(10)
                except asyncio.CancelledError:
                    yield "and on "

    match = table(seats=5, bad={0: GoesOn()}, limits=SHORT)
    result = run(match.play(), 30)
    assert {(fault.method, fault.problem) for fault in result.faults} == {("think", "cut off after 0.05 s")}


async def test_a_match_that_is_cancelled_leaves_no_call_behind():
    ended = []

    class Waiting(Plain):
        async def think(self, context, private_info):
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(self.id)
            yield ""

    agents = [Waiting(f"p{seat + 1}", NAMES[seat]) for seat in range(5)]
    playing = asyncio.create_task(HostedMatch(FIVE, agents, feed=EventFeed("g"), seed=2).play())
    await asyncio.sleep(0.05)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert (len(asyncio.all_tasks())) <= 2 and len(ended) == 3  # mafia, doctor and sheriff


# Logs.


@pytest.mark.parametrize("bad", [{}, {seat: Raising(id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(4)}])
async def test_a_log_replays_to_the_same_bytes(tmp_path, bad):
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        async with MafiaHost(TEN, seed=1, log=log) as host:
            agents = [bad.get(seat) or scripted(seat) for seat in range(10)]
            result = await host.play(agents)
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


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
@pytest.mark.parametrize("kind", BAD)
async def test_a_match_goes_on_whatever_an_agent_does(kind, caplog):
    with caplog.at_level(logging.WARNING):
        async with MafiaHost(FIVE, seed=4, limits=None if kind == "meddling" else SHORT) as host:
            agents = [BAD[kind](id=f"p{seat + 1}", name=NAMES[seat]) for seat in (0, 1)]
            result = await host.play([*agents, *(scripted(seat) for seat in (2, 3, 4))], seed=dealt("mafia"))
    assert result.winner in ("town", "mafia")
    assert {fault.agent_id for fault in result.faults} <= {"p1", "p2"}
    assert bool(result.faults) == (kind != "meddling")
    assert len(warnings(caplog)) == len(result.faults)


async def test_a_threaded_agent_gives_up_an_agent_that_is_still_busy():
    agent = ThreadedAgent(Stubborn())
    state, private, public = context("NIGHT_ACTIONS", role="mafia")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await agent.night_action(state, private)
    with pytest.raises(RuntimeError, match="still busy"):
        await agent.vote(state, public)
    agent.stop()


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


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
@pytest.mark.parametrize("role", ["any", "mafia"])
@pytest.mark.parametrize("apart", [False, True])
def test_what_cannot_be_written_costs_only_its_own_answers(role, apart, tmp_path, caplog):
    seed = dealt("mafia") if role == "mafia" else 0
    hostile = Hostile(id="p1", name="Ann")
    agents = [hostile, *(scripted(seat) for seat in range(1, 5))]

    async def main():
        with match_log.MatchLog(tmp_path / "log") as log:
            if apart:
                return await MafiaHost(FIVE, limits=SHORT, log=log).play(agents, seed)
            return await HostedMatch(FIVE, agents, feed=EventFeed("g"), seed=seed, limits=SHORT, note=log.write).play()

    result = run(main())
    assert {fault.agent_id for fault in result.faults} == {"p1"} and result.winner
    assert recorder.replay(tmp_path / "log").state().tobytes() == result.record
    assert "sk-secret" not in (tmp_path / "log").read_text()
    for line in warnings(caplog):
        assert line.getMessage().isprintable()


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
