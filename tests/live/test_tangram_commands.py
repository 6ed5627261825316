"""`parlour deploy tangram` and `parlour host tangram` as a user types them."""

import asyncio
import json
import signal

import pytest
from command_line import address
from live.processes import SIGNALS, command, stopped
from parlour.wrappers.logs.match_log import read


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["documented", "godot"])
async def test_two_processes_build_a_figure_of_ones_own_together(dialect, tmp_path):
    log, own = tmp_path / "host.jsonl", tmp_path / "own.json"
    own.write_text('{"My box": [[0, 0], [4, 0], [4, 4], [0, 4]]}')
    figure, player = ("--options", f"figure={own}"), ["greedy", "--search"] if dialect == "godot" else ["solver"]
    async with command("deploy", "tangram", *player, "--port", "0", "--matches", "1", *figure) as agent:
        url = address((await agent.stdout.readline()).decode())
        options = (*figure, "--partner", "solver", "--dialect", dialect, "--log", str(log))
        async with command("host", "tangram", "--url", url, *options) as host:
            said, problems = await host.communicate()
            assert host.returncode == 0, problems.decode()
        printed, problems = await agent.communicate()
        assert agent.returncode == 0, problems.decode()
    assert "My box: 7 turns, 0 lost by the agent, 0 of its messages refused" in said.decode()
    assert ", 0 replaced," in printed.decode()
    assert json.loads(log.read_text().splitlines()[-1])["outcome"]["reason"] == "solved"


@pytest.mark.slow
@SIGNALS
async def test_both_ends_are_stopped_tidily(sig, code, tmp_path):
    logs = {end: tmp_path / f"{end}.jsonl" for end in ("deploy", "host")}
    async with command("deploy", "tangram", "random", "--port", "0", "--log", str(logs["deploy"])) as agent:
        url = address((await agent.stdout.readline()).decode())
        options = ("--partner", "random", "--matches", "1000", "--delay", "0.05", "--log", str(logs["host"]))
        async with command("host", "tangram", "--url", url, *options) as host:
            while not logs["deploy"].exists() or "response" not in logs["deploy"].read_text():
                await asyncio.sleep(0.1)
            assert await stopped(host, sig) == (code, "parlour host: stopped\n" if sig == signal.SIGINT else "")
        returned, problems = await stopped(agent, sig)
        assert returned == code and "Traceback" not in problems
    assert list(read(logs["deploy"]))[-1]["kind"] == "ended"
    assert {entry["kind"] for entry in read(logs["host"])} >= {"match", "turn"}


@pytest.mark.slow
@SIGNALS
async def test_a_person_at_the_terminal_is_not_waited_for(sig, code):
    async with command("deploy", "tangram", "random", "--port", "0") as agent:
        url = address((await agent.stdout.readline()).decode())
        async with command("host", "tangram", "--url", url, stdin=asyncio.subprocess.PIPE) as host:
            while b"play PIECE" not in await host.stdout.readline():
                pass
            returned, problems = await stopped(host, sig)
        assert returned == code and "Traceback" not in problems and "Fatal" not in problems
