"""`parlour deploy tangram` and `parlour host tangram` as a user types them."""

import json
import re

import pytest
from live.test_poker_host import on_loop
from live.test_poker_stop import command
from parlour.training import cli


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["documented", "godot"])
@on_loop
async def test_two_processes_build_a_house_together(dialect, tmp_path):
    log = tmp_path / "host.jsonl"
    async with command("deploy", "tangram", "solver", "--port", "0", "--games", "1") as agent:
        first = (await agent.stdout.readline()).decode()
        url = re.search(r"ws://\S+?(?=;)", first)[0]
        options = ("--options", 'figure="A house"', "--partner", "solver", "--dialect", dialect, "--log", str(log))
        async with command("host", "tangram", "--url", url, *options) as host:
            said, problems = await host.communicate()
            assert host.returncode == 0, problems.decode()
        printed, problems = await agent.communicate()
        assert agent.returncode == 0, problems.decode()
    assert "A house: 7 turns, 0 lost by the agent, 0 of its messages refused" in said.decode()
    assert "0 replaced by finish" in printed.decode()
    assert json.loads(log.read_text().splitlines()[-1])["outcome"]["reason"] == "solved"


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["deploy", "tangram", "nobody"], "nobody"),
        (["deploy", "tangram", "random", "--port", "70000"], "port=70000"),
        (["deploy", "tangram", "random", "--deadline", "0"], "deadline=0"),
        (["host", "tangram", "--url", "http://localhost:5000"], "no address"),
        (["host", "tangram", "--matches", "0"], "matches=0"),
        (["host", "tangram", "--partner", "nobody"], "nobody"),
        (["host", "tangram", "--options", "figure=1"], "figure"),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, list) else "",
)
def test_mistakes_are_told_in_one_line(args, problem, capsys):
    assert cli.main(args) == 2
    line = capsys.readouterr().err
    assert problem in line
    assert line.count("\n") == 1
