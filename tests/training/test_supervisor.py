"""The supervisor of deploy and host commands: logs, status lines, health, signals and the summary."""

import asyncio
import itertools
import json
import logging
import re
import signal
import urllib.request
from socket import socket

import pytest
from parlour.training import cli
from parlour.training.commands.activity import Activity
from parlour.training.commands.arguments import LiveArguments
from parlour.training.commands.supervisor import supervised, tell_status
from parlour.wrappers.live.common.client import Link
from parlour.wrappers.logs import program_log as logs
from parlour.wrappers.logs.match_log import read
from parlour.wrappers.logs.program_log import JsonLines, program_log
from rich.console import Console
from tiny import lines

SEVEN = Activity(counts=lambda: {"hands": 7})


def test_a_program_that_ends_has_a_summary_on_the_screen_and_in_the_log_file(tmp_path, capsys):
    live = LiveArguments(log_file=tmp_path / "logs" / "a.log", log=tmp_path / "match.jsonl")
    with supervised(live, Console()) as supervisor:
        supervisor.log.write("joined", seat=1)

        async def work():
            logging.getLogger("somebody").warning("a problem")
            return "hands"

        assert supervisor.run(work(), SEVEN, ending=str) == "hands"
    out, err = capsys.readouterr()
    assert re.fullmatch(r"summary: 7 hands, [\d,]+ MB of memory, after \d:\d\d:\d\d; ended: hands\n", out)
    assert "a problem" in err and "summary" not in err  # once on the screen is enough
    warning, summary = lines(tmp_path / "logs" / "a.log")
    assert (warning["level"], warning["logger"], warning["message"]) == ("warning", "somebody", "a problem")
    assert summary["message"].startswith("summary: 7 hands") and (summary["hands"], summary["ended"]) == (7, "hands")
    assert [entry["kind"] for entry in read(tmp_path / "match.jsonl")] == ["joined"]
    assert logging.getLogger().handlers == [] or all("a.log" not in str(one) for one in logging.getLogger().handlers)


@pytest.mark.parametrize(
    ("error", "why"), [(OSError("port taken"), "OSError: port taken"), (KeyboardInterrupt(), "Ctrl-C")]
)
def test_a_program_that_fails_has_a_summary_too(error, why, capsys):
    async def work():
        raise error

    with supervised(LiveArguments(), Console()) as supervisor, pytest.raises(type(error)):
        supervisor.run(work(), SEVEN)
    assert capsys.readouterr().out.rstrip().endswith(f"ended: {why}")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_program_in_order_with_its_code_and_summary(sign, capsys):
    cleaned = []

    async def work():
        try:
            signal.raise_signal(sign)
            await asyncio.sleep(60)
        finally:
            cleaned.append(sign)

    with supervised(LiveArguments(), Console()) as supervisor, pytest.raises(SystemExit) as ended:
        supervisor.run(work(), SEVEN)
    assert (ended.value.code, cleaned) == (128 + sign, [sign])
    out = capsys.readouterr().out
    assert out.startswith("summary: 7 hands") and out.endswith(f"ended: {sign.name}\n")


def test_a_closed_terminal_that_is_ignored_as_by_nohup_ends_nothing(capsys):
    async def work():
        signal.raise_signal(signal.SIGHUP)
        await asyncio.sleep(0.1)
        return "hands"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with supervised(LiveArguments(), Console()) as supervisor:
            assert supervisor.run(work(), SEVEN, ending=str) == "hands"
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("platform", [("poker",), ("arena", "kuhn", "--serve")])
def test_a_host_whose_port_is_taken_has_nothing_to_sum_up(platform, capsys):
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code = cli.main(["host", *platform, "--port", str(taken.getsockname()[1])])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert "the port is in use by another program" in err.splitlines()[-1]


def test_health_and_metrics_are_served_while_the_program_runs(capsys):
    def read(url):
        with urllib.request.urlopen(url) as reply:
            return reply.status, reply.read().decode()

    async def work():
        url = re.search(r"health at (\S+)/healthz", capsys.readouterr().err)[1]
        return [await asyncio.to_thread(read, f"{url}/{path}") for path in ("healthz", "metrics")]

    with supervised(LiveArguments(metrics_port=0), Console()) as supervisor:
        health, metrics = supervisor.run(work(), SEVEN)
    assert health[0] == 200 and json.loads(health[1])["hands"] == 7
    assert "parlour_hands_total 7.0" in metrics[1]


@pytest.mark.virtual_time
async def test_a_status_line_comes_every_minute(caplog):
    caplog.set_level("INFO")
    link = Link(asyncio.get_running_loop().time)
    hands = itertools.count()
    telling = asyncio.create_task(tell_status(Activity(counts=lambda: {"hands": next(hands)}, link=link), 60.0))
    await asyncio.sleep(330.0)
    telling.cancel()
    assert [record.levelname for record in caplog.records] == ["STATUS"] * 5
    await asyncio.sleep(0)
    telling = asyncio.create_task(tell_status(Activity(link=link), 60.0))
    await asyncio.sleep(61.0)
    telling.cancel()
    last = caplog.records[-1]
    assert last.levelname == "WARNING" and "problem: no connection to the platform for 390 s" in last.getMessage()
    assert last.fields["problem"].endswith("390 s")


def test_a_kind_of_lines_is_written_again_after_a_minute():
    now, written = 0.0, []
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())
    handler.addFilter(logs.RepeatedLines(handler, lambda: now))
    for now in range(121):
        handler.handle(logging.makeLogRecord({"msg": f"at {now}", "pathname": "a", "lineno": 1}))
    left_out = "40 more lines like this one are left out: at"
    minutes = [[f"at {second + start}" for second in range(20)] for start in (0, 60)]
    assert written == [*minutes[0], f"{left_out} 59", *minutes[1], f"{left_out} 119", "at 120"]


@pytest.mark.virtual_time
async def test_a_status_line_says_that_a_problem_is_over_and_none_comes_where_nothing_happens(caplog):
    caplog.set_level("INFO")
    problems = iter([None, None, "the disk is full", None, None])
    telling = asyncio.create_task(tell_status(Activity(failing=lambda: next(problems)), 60.0))
    await asyncio.sleep(310.0)
    telling.cancel()
    assert [record.levelname for record in caplog.records] == ["STATUS", "WARNING", "STATUS"]


def test_a_log_of_status_lines_and_faults_alone(capsys):
    with program_log("status", "text"):
        for level in (logging.INFO, logs.STATUS, logging.WARNING):
            logging.getLogger("x").log(level, "a line of %d", level)
    said = capsys.readouterr().err.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in said] == [str(logs.STATUS), str(logging.WARNING)]


def test_a_log_file_rotates_and_levels_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MOST_LINES", 40)
    path = tmp_path / "a.log"
    with program_log("warning", "text", path, most_bytes=400, old_files=2):
        for number in range(40):
            logging.getLogger("x").warning("line %d", number)
            logging.getLogger("x").info("not written")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.log", "a.log.1", "a.log.2"]
    kept = [line["message"] for name in ("a.log.2", "a.log.1", "a.log") for line in lines(tmp_path / name)]
    assert kept == [f"line {number}" for number in range(40 - len(kept), 40)] and len(kept) >= 6
    assert all(one.stat().st_size <= 400 for one in tmp_path.iterdir())


def test_json_lines_have_errors_and_take_any_text(capsys):
    with program_log("info", "json"):
        try:
            raise ValueError("bad")
        except ValueError:
            logging.getLogger("x").exception("it failed")
    line = json.loads(capsys.readouterr().err)
    assert line["level"] == "error" and "ValueError: bad" in line["error"] and line["time"].endswith("+00:00")
    record = logging.LogRecord("x", logging.INFO, "", 0, "said %s", ("\ud800",), None)
    assert json.loads(JsonLines().format(record))["message"] == "said \\ud800"
