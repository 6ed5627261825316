"""Our host: the lifecycle of the document, clocks, events, logs, agents that misbehave, and the two commands."""

import asyncio
import itertools
import json
import logging
import threading
import time

import pytest
from command_line import address, printed
from live.event_loops import run
from live.processes import SIGNALS, command
from mafia_players import (
    FIVE,
    NAMES,
    SHORT,
    TEN,
    Blocking,
    Endless,
    EndlessNothing,
    Explaining,
    Meddling,
    Plain,
    Raising,
    Silent,
    Stubborn,
    dealt,
    remote,
    scripted,
    table,
    warnings,
)
from parlour.envs import game
from parlour.training import cli
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import METADATA, REASON, beside
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.logs import match_log
from parlour.wrappers.replay import log_reader
from parlour.wrappers.replay.log_reader import moments

pytestmark = pytest.mark.usefixtures("compiled_mafia")  # before any clock runs

TEAMS = {"mafia": "mafia", "doctor": "town", "sheriff": "town", "villager": "town"}
HIDDEN = {"ROLES_ASSIGNED", "NIGHT_ACTION_SUBMITTED", "INVESTIGATION_RESULT", "AGENT_THINK_STREAM"}


def played(**settings):
    match = table(**settings)
    return match.events, run(match.play())


# The lifecycle.


def test_matches_of_scripted_agents_go_through_the_phases_without_a_fault_and_tell_every_event():
    seen = set()
    for seed in range(2):
        told, result = played(seed=seed)
        assert not result.faults
        seen |= {event.event_type for event in told}
        changes = [event.payload for event in told if event.event_type == "PHASE_CHANGED"]
        assert changes[0]["from"] == "SETUP" and changes[-1]["to"] == "END"
        assert all(one["to"] == two["from"] for one, two in itertools.pairwise(changes))
        order = ["NIGHT_ACTIONS", "MORNING_REVEAL", "DAY_DISCUSSION", "DAY_VOTING", "RESOLUTION"]
        for i, change in enumerate(changes[:-1]):
            assert change["to"] == order[i % 5]
            assert change["roundNumber"] == i // 5 + 1
            assert change["dayNumber"] == change["roundNumber"] - (change["to"] == "NIGHT_ACTIONS")
        assert told[0].event_type == "GAME_CREATED" and told[-1].event_type == "GAME_ENDED"
        assert told[-1].payload == {"winner": result.winner}
        winners = {agent for agent, role in result.roles.items() if TEAMS[role] == result.winner}
        assert result.payoffs == {agent: 1.0 if agent in winners else -1.0 for agent in result.roles}
        assert [event.sequence for event in told] == list(range(1, len(told) + 1))
        streams = {}
        for event in told:
            row = json.loads(wire.encode(event))
            assert row.keys() - {"private"} == {"eventType", "gameId", "sequence", "timestamp", "payload"}
            if event.event_type.endswith("_STREAM"):
                assert event.payload.keys() == {"agentId", "agentName", "chunk", "turnId"}
                streams.setdefault(event.payload["turnId"], []).append(event.payload["chunk"])
        for turn_id, chunks in streams.items():
            assert chunks[-1] == "" and all(chunks[:-1]) and len(chunks) > 1, turn_id
        assert ("think-night-1-p" in " ".join(streams) and "say-day-1-p1" in streams) or "say-day-1-p2" in streams
        for event in told:
            assert event.private == (event.event_type in HIDDEN)
            if not event.private and event.event_type not in ("PLAYER_ELIMINATED", "AGENT_SAY_STREAM", "GAME_ENDED"):
                assert not any(role in json.dumps(event.payload) for role in wire.ROLES)
    assert len(seen) == 12


@pytest.mark.parametrize("options", [{"seats": 11, "discussion_rounds": 2}, {"seats": 7, "talk": False}])
def test_other_sizes_and_options(options):
    other = game("mafia", **options)
    bad = {seat: scripted(seat, name=f"Player {seat}") for seat in range(other.seats)}
    told, result = played(seed=3, seats=other.seats, bad=bad, game=other)
    assert not result.faults
    says = [event.payload["turnId"] for event in told if event.event_type == "AGENT_SAY_STREAM"]
    assert bool(says) == other.options["talk"]
    assert any(turn.endswith("-2") for turn in says) == (other.options["discussion_rounds"] == 2)


async def test_a_watcher_that_fails_costs_nothing(caplog):
    def watch(event):
        raise OSError("disk full")

    result = await MafiaHost(FIVE, seed=1, on_event=watch).play([scripted(seat) for seat in range(5)])
    assert result.winner and not result.faults and "who watches failed at GAME_ENDED" in caplog.text


# Calls and clocks.


async def test_a_match_that_is_cancelled_leaves_no_call_behind():
    begun, ended, before = [], [], asyncio.all_tasks()

    class Waiting(MafiaScriptedAgent):
        async def think(self, context, private_info):
            begun.append(self.id)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(self.id)
            yield ""

    match = table(seats=5, seed=2, bad={seat: Waiting(f"p{seat + 1}", NAMES[seat]) for seat in range(5)})
    playing = asyncio.create_task(match.play())
    while len(begun) < 3:  # mafia, doctor and sheriff
        await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert asyncio.all_tasks() <= before and len(ended) == 3


# Logs.


async def test_a_log_replays_to_the_same_bytes(tmp_path):
    bad = {seat: Raising(id=f"p{seat + 1}", name=NAMES[seat]) for seat in range(4)}
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        result = await MafiaHost(TEN, seed=1, log=log).play([bad.get(seat) or scripted(seat) for seat in range(10)])
    env = log_reader.replay(tmp_path / "log.jsonl")
    assert env.state().tobytes() == result.record
    lines = list(match_log.read(tmp_path / "log.jsonl"))
    assert lines[0]["kind"] == "match" and lines[-1]["kind"] == "end"
    told = [line["event"] for line in lines if line["kind"] == "event"]
    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
    faults = [line for line in lines if line["kind"] == "fault"]
    assert len(faults) == len(result.faults) > 0


def test_reasons_are_in_the_events_and_the_log_and_no_player_hears_them(tmp_path):
    class Listening(MafiaScriptedAgent):
        async def think(self, context, private_info):
            heard.append(wire.encode(private_info))
            async for chunk in super().think(context, private_info):
                yield chunk

    heard, path = [], tmp_path / "log.jsonl"
    bad = {0: Explaining("p1", "Ann"), **{seat: Listening(f"p{seat + 1}", NAMES[seat], seed=1) for seat in (1, 2)}}
    with match_log.MatchLog(path) as log:
        told, result = played(seed=dealt("mafia"), seats=5, bad=bad, note=log.write)
    for event in told:
        if event.event_type == "NIGHT_ACTION_SUBMITTED" and event.payload["agentId"] == "p1":
            assert event.payload["metadata"] == {"plan": ["wait", 2]}
        if event.event_type == "VOTE_CAST" and event.payload["voterId"] == "p1":
            assert event.payload["reason"] == "it was too quiet"
    agent = FIVE.agents[0]
    turns = [line["response"]["action"] for line in match_log.read(path) if line.get("agent") == agent]
    explained = [turn["payload"] for turn in turns if turn["action_type"] != "say"]
    assert {next(iter(payload.keys() & {"metadata", "reason"})) for payload in explained} == {"metadata", "reason"}
    assert log_reader.replay(path).table.tobytes() == result.record
    shown = [moment for moment in moments(path) if moment.agent == "Ann" and not moment.action.startswith("say")]
    assert all("plan" in moment.think or "reason: it was too quiet" in moment.think for moment in shown)
    assert heard and b"too quiet" not in b"".join(heard) and b"plan" not in b"".join(heard)


def test_reasons_are_bounded_and_those_of_an_illegal_choice_are_left_out():
    assert beside(wire.VoteAction("p1", "x" * 99_999)) == {"reason": "x" * REASON}
    assert beside(wire.VoteAction("p1")) == beside(wire.NightAction("KILL", "p1")) == beside(None) == {}
    assert "leftOut" in beside(wire.NightAction("KILL", "p1", {"plan": "x" * METADATA}))["metadata"]

    class Tired(Plain):
        async def vote(self, context, public_info):
            return wire.VoteAction("p1", "I am tired")

    told, result = played(seed=3, seats=5, bad={0: Tired()})
    assert result.faults and not any("I am tired" in str(event.payload) for event in told)


def test_matches_side_by_side_are_logged_one_after_another(tmp_path, capsys):
    log, alone = tmp_path / "log.jsonl", tmp_path / "alone.jsonl"
    command = ["host", "mafia", "--players", "5", "--seed", "3", "--matches", "5"]
    shown = printed(capsys, *command, "--parallel", "3", "--log", str(log))
    assert "5 matches: town" in shown and "Alice:" not in shown  # statements of several matches would mix
    assert cli.main([*command, "--quiet", "--log", str(alone)]) == 0
    assert cli.main([*command, "--quiet", "--remote", "ws://127.0.0.1:9"]) == cli.MISTAKE
    assert capsys.readouterr().err.endswith("no call was ever answered at ws://127.0.0.1:9\n")

    def played(path):
        """What was done in each match, by its seed."""
        matches = {}
        for line in match_log.read(path):
            if line["kind"] == "match":
                now = matches[line["seed"]] = []
            elif line["kind"] in ("turn", "end"):
                now.append({name: line.get(name) for name in ("agent", "response", "outcome")})
        return matches

    assert played(log) == played(alone) and len(played(log)) == 5
    ids = [line["event"]["gameId"] for line in match_log.read(log) if line["kind"] == "event"]
    assert len({*ids}) == 5 == 1 + sum(one != other for one, other in itertools.pairwise(ids))


# Agents that misbehave. Those of others run apart.


class GoesOn(Plain):
    """Streams on when its time is over."""

    async def think(self, context, private_info):
        while True:
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                yield "and on "


class Wrong(MafiaScriptedAgent):
    """Chooses what nobody may."""

    async def night_action(self, context, private_info):
        return wire.NightAction("PROTECT", "p3") if context.round_number == 1 else wire.NightAction("KILL", "p1")


class Long(MafiaScriptedAgent):
    """Breaks a limit, and takes a while to end: what others do meanwhile is told after it."""

    async def think(self, context, private_info):
        try:
            yield "x" * 30_000
        finally:
            await asyncio.sleep(0.01)


BAD = {
    "silent": Silent,
    "long": Long,
    "wrong": Wrong,
    "endless": Endless,
    "endless nothing": EndlessNothing,
    "goes on": GoesOn,
    "raising": Raising,
    "stubborn": Stubborn,
    "meddling": Meddling,
    "blocking": Blocking,
}


@pytest.mark.usefixtures("only_p1_and_p2_have_a_clock")
@pytest.mark.parametrize("kind", BAD)
async def test_a_match_goes_on_whatever_an_agent_does(kind, caplog):
    events, limits = [], None if kind == "meddling" else SHORT
    with caplog.at_level(logging.WARNING):
        host = MafiaHost(FIVE, seed=4, limits=limits, on_event=lambda event: events.append(event.sequence))
        agents = [BAD[kind](id=f"p{seat + 1}", name=NAMES[seat]) for seat in (0, 1)]
        result = await host.play([*agents, *(scripted(seat) for seat in (2, 3, 4))], seed=dealt("mafia"))
    assert result.winner in ("town", "mafia") and events == sorted(events)
    assert {fault.agent_id for fault in result.faults} <= {"p1", "p2"}
    assert bool(result.faults) == (kind != "meddling")
    told = [line.getMessage() for line in warnings(caplog)]
    assert len(told) == len(result.faults)  # once each, in the words of the talk
    assert all("Ann: " in line or "Bob: " in line for line in told)
    assert not any(
        word in line for line in told for word in ("nightAction", "_ACTIONS", "DAY_", "p1", "p3", "KILL", "player_")
    )
    if kind == "stubborn":
        assert any("still busy" in fault.problem for fault in result.faults)
    if kind == "goes on":
        assert ("think", "cut off after 0.05 s") in {(fault.method, fault.problem) for fault in result.faults}


class Hostile(Plain):
    """Takes no role, has secrets in its config, and answers with what no JSON can hold."""

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
        return wire.NightAction("KILL", "p2", {"\ud800": object()})

    async def vote(self, context, public_info):
        raise ValueError("\ud800\x1b[2J\nVOTE_CAST")


@pytest.mark.parametrize("role", ["villager", "mafia"])
def test_what_cannot_be_written_costs_only_its_own_answers(role, tmp_path, caplog):
    agents = [Hostile(id="p1", name="Ann"), *(scripted(seat) for seat in range(1, 5))]
    with match_log.MatchLog(tmp_path / "log") as log:
        result = run(MafiaHost(FIVE, log=log).play(agents, dealt(role)))
    assert {fault.agent_id for fault in result.faults} == {"p1"} and result.winner
    assert log_reader.replay(tmp_path / "log").state().tobytes() == result.record
    assert "sk-secret" not in (tmp_path / "log").read_text()
    for line in warnings(caplog):
        assert line.getMessage().isprintable()


def test_threads_and_loops_of_agents_end_with_the_match():
    async def main():
        host = MafiaHost(FIVE)
        for seed in range(5):
            await host.play([Plain(f"p{seat + 1}", NAMES[seat]) for seat in range(5)], seed)

    before = threading.active_count()
    run(main())
    for _ in range(500):
        if threading.active_count() <= before:
            break
        time.sleep(0.02)
    assert threading.active_count() <= before


# The commands.


def test_host_command_plays_in_words_and_writes_a_log_that_replays(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    shown = printed(capsys, "host mafia --players 5 --seed 3 --matches 2 --log", str(log))
    assert "2 matches: town" in shown and "Alice: " in shown and "— Night 1" in shown and "— Day 1" in shown
    assert "DAY_" not in shown and "_ACTIONS" not in shown and "p1" not in shown
    assert log_reader.replay(log).table.done


@pytest.mark.slow
@SIGNALS
async def test_deploy_command_serves_until_it_is_told_to_end(sig, code, tmp_path):
    log = tmp_path / "log.jsonl"
    options = ["--port", "0", "--seed", "1", "--log", str(log)]
    async with command("deploy", "mafia", "social", *options) as process:
        async with remote(address((await process.stdout.readline()).decode()), 5) as agents:
            assert not (await MafiaHost(FIVE, seed=1).play(agents)).faults
        process.send_signal(sig)
        out, err = await asyncio.wait_for(process.communicate(), 90)
    assert process.returncode == code and b", 0 replaced," in out, err
    assert len({moment.agent for moment in moments(log)}) >= 3  # all but villagers decide on the first night
    assert list(match_log.read(log))[-1]["kind"] == "ended"
