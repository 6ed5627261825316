"""Our host's observers, over real sockets: who gets which events; and the two commands."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from itertools import pairwise

import aiohttp
import pytest
from command_line import address
from mafia_players import FIVE, NAMES, Plain, scripted
from parlour.envs import game
from parlour.training import cli
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.host import REMEMBERED, MafiaHost
from parlour.wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from parlour.wrappers.logs import match_log, recorder
from parlour.wrappers.replay.log_reader import moments

SESAME = ServerSettings(access_token="sesame")
PRIVATE = {"ROLES_ASSIGNED", "NIGHT_ACTION_SUBMITTED", "INVESTIGATION_RESULT", "AGENT_THINK_STREAM"}


def run(main, within=120):
    return asyncio.run(asyncio.wait_for(main, within))


def five():
    return [scripted(seat) for seat in range(5)]


@asynccontextmanager
async def observing(host, query="", **headers):
    async with aiohttp.ClientSession(headers=headers) as http, http.ws_connect(f"{host.url}/observe{query}") as socket:
        yield socket


async def until_the_end(socket):
    told = []
    while not told or told[-1]["eventType"] != "GAME_ENDED":
        told.append(json.loads((await socket.receive(timeout=90)).data))
    return told


async def test_the_public_and_the_admins_each_get_their_stream():
    async with (
        MafiaHost(FIVE, seed=1, server=SESAME) as host,
        observing(host) as public,
        observing(host, "?view=admin&token=sesame") as by_query,
        observing(host, "?view=admin", Authorization="Bearer sesame") as by_header,
    ):
        playing = asyncio.create_task(host.play(five()))
        streams = await asyncio.gather(*map(until_the_end, (public, by_query, by_header)))
        (public, admin, also), result = streams, await playing
    assert admin == also
    assert {event["eventType"] for event in admin} >= PRIVATE - {"INVESTIGATION_RESULT"}
    assert not PRIVATE & {event["eventType"] for event in public} and not any("private" in event for event in public)
    assert [event["sequence"] for event in public] == list(range(1, len(public) + 1))
    assert public[-1]["payload"]["winner"] == result.winner


async def test_observers_come_late_and_come_again():
    async with MafiaHost(FIVE, seed=1) as host:
        await host.play(five())
        await host.play(five())
        async with aiohttp.ClientSession() as http, http.get(f"{host.url}/matches") as reply:
            first, second = (await reply.json())["matches"]
        async with observing(host, f"?match={first['matchId']}") as socket:
            whole = await until_the_end(socket)
            assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE  # there is no more of it
        async with observing(host, f"?match={first['matchId']}&after=7") as socket:
            rest = await until_the_end(socket)
        async with observing(host, f"?match={second['matchId']}") as socket:
            other = await until_the_end(socket)
        first, whole, rest, other = first, whole, rest, other
    assert len(whole) == first["events"] and rest == whole[7:]
    assert {event["gameId"] for event in whole}.isdisjoint({event["gameId"] for event in other})


async def test_who_stays_sees_one_match_after_another():
    async with MafiaHost(FIVE, seed=1) as host, observing(host) as socket:
        told = []
        for _ in range(3):
            playing = asyncio.create_task(host.play(five()))
            told.append(await until_the_end(socket))
            await playing
    assert len({event["gameId"] for events in told for event in events}) == 3
    assert all(events[0]["sequence"] == 1 for events in told)


@pytest.mark.parametrize(
    "query, status",
    [
        ("?view=admin", 401),
        ("?view=admin&token=wrong", 401),
        ("?view=admin&token=", 401),
        ("?view=all", 400),
        ("?after=-1", 400),
        ("?after=x", 400),
        ("?match=none", 404),
    ],
)
async def test_wrong_observers_are_refused(query, status):
    async with MafiaHost(FIVE, server=SESAME) as host, aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.WSServerHandshakeError) as error:
            await http.ws_connect(f"{host.url}/observe{query}")
        async with http.get(f"{host.url}/observe") as reply:
            assert reply.status == 426
        assert error.value.status == status


async def test_what_observers_say_changes_nothing_and_floods_are_cut_off():
    async with MafiaHost(FIVE, seed=1) as host, observing(host) as socket, observing(host) as other:
        await socket.send_str("x" * 100_000)
        await other.send_str('{"id": 1, "method": "vote"}')
        result, told = await host.play(five()), await until_the_end(other)
    assert not result.faults and told[-1]["payload"]["winner"] == result.winner


async def test_old_matches_are_forgotten():
    async with MafiaHost(FIVE, seed=1) as host:
        for _ in range(REMEMBERED + 3):
            await host.play(five())
        async with aiohttp.ClientSession() as http, http.get(f"{host.url}/health") as reply:
            feeds, results, health = list(host._feeds), [result.game_id for result in host.results], await reply.json()
    assert feeds == results and len(results) == REMEMBERED
    assert results[-1].endswith(f"-{REMEMBERED + 3}")  # the latest are kept
    assert health["matches"] == REMEMBERED + 3


async def test_matches_side_by_side_do_not_mix():
    async with MafiaHost(FIVE, seed=1) as host:
        results = await asyncio.gather(
            *(host.play([Plain(id=f"p{i + 1}", name=NAMES[i]) for i in range(5)]) for _ in range(4))
        )
    assert len({result.game_id for result in results}) == 4


def test_wrong_settings_are_told():
    with pytest.raises(ValueError, match="access_token is empty"):
        ServerSettings(access_token="")
    with pytest.raises(ValueError, match="not mafia"):
        MafiaHost(game("auction"))


# The commands.


def test_host_command_plays_and_writes_a_log_that_replays(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    command = ["host", "mafia", "--players", "5", "--port", "0", "--seed", "3", "--matches", "2", "--log", str(log)]
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert "2 matches: town" in shown and "Alice" in shown and "admins: ws://" in shown
    assert recorder.replay(log).table.done


def test_matches_side_by_side_are_logged_one_after_another(tmp_path, capsys):
    log, alone = tmp_path / "log.jsonl", tmp_path / "alone.jsonl"
    command = ["host", "mafia", "--players", "5", "--port", "0", "--seed", "3", "--matches", "5"]
    assert cli.main([*command, "--parallel", "3", "--log", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "5 matches: town" in shown and "Alice:" not in shown  # statements of several matches would mix
    assert cli.main([*command, "--quiet", "--log", str(alone)]) == 0

    def played(path):
        """What was done in each match, without what differs from host to host."""
        matches = []
        for line in match_log.read(path):
            if line["kind"] == "match":
                matches.append([line["seed"]])
            elif line["kind"] in ("turn", "end"):
                matches[-1].append({name: line.get(name) for name in ("agent", "response", "outcome")})
        return matches

    assert played(log) == played(alone) and len(played(log)) == 5
    ids = [line["event"]["gameId"] for line in match_log.read(log) if line["kind"] == "event"]
    assert len({*ids}) == 5 == 1 + sum(one != other for one, other in pairwise(ids))


async def test_an_observer_sees_all_matches_that_are_played_at_once():
    async with MafiaHost(FIVE, seed=1) as host, observing(host) as socket:
        playing = asyncio.gather(*(host.play(five()) for _ in range(3)))
        told = [await until_the_end(socket) for _ in range(3)]
        told, results = told, await playing
    assert [events[0]["gameId"] for events in told] == [result.game_id for result in results]


@pytest.mark.parametrize(
    "arguments, hint",
    [
        (["--agents", "agressive"], "aggressive"),
        (["--agents", "llm"], "--model"),
        (["--players", "4"], "5 to 20"),
        (["--remote", "http://x"], "ws://"),
        (["--port", "70000"], "give a port from 0"),
        (["--matches", "0"], "at least 1 match"),
        (["--parallel", "0"], "parallel=0"),
        (["--prompts", "none.toml"], "--prompts has no meaning"),
        (
            ["--agents", "llm", "--model", "m", "--llm-url", "http://127.0.0.1:9/v1", "--prompts", "none.toml"],
            "none.toml",
        ),
    ],
)
def test_mistakes_on_the_command_line_are_explained(arguments, hint, capsys):
    assert cli.main(["host", "mafia", *arguments]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "code"),
    [pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_deploy_command_serves_until_it_is_told_to_end(told, code, tmp_path):
    log = tmp_path / "log.jsonl"
    options = ["--port", "0", "--seed", "1", "--log", str(log)]
    process = subprocess.Popen(
        [sys.executable, "-m", "parlour.training.cli", "deploy", "mafia", "social", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        url = address(process.stdout.readline())

        async def main():
            async with MafiaHost(FIVE, seed=1) as host:
                connection = ServiceConnection(url)
                agents = [RemoteAgent(f"p{seat + 1}", NAMES[seat], connection) for seat in range(5)]
                result = await host.play(agents)
                await connection.close()
                return result

        assert not run(main()).faults
        process.send_signal(told)
        out, err = process.communicate(timeout=90)
        assert process.returncode == code and ", 0 replaced," in out, err
        assert len({moment.agent for moment in moments(log)}) >= 3  # all but villagers decide on the first night
        assert list(match_log.read(log))[-1]["kind"] == "ended"
    finally:
        process.kill()


def test_there_are_twelve_event_types():
    assert len(wire.EVENTS) == len(set(wire.EVENTS)) == 12
