"""Output in narrow terminals, and in encodings without names."""

import os
import re
import subprocess
import sys
from io import StringIO

import pytest
from parlour.training.cli import READABLE
from parlour.training.terminal import console
from parlour.training.terminal.console import Console, counting_bar, training_bar
from rich.table import Table


@pytest.mark.parametrize("width", [20, 30, 40, 55, 70, 80, 200])
def test_no_number_and_no_name_is_cut(width):
    table = Table("against", "return", "95 % interval", "wins from it", "95 % interval", "deals", title="a policy")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row(
        "a-run-with-a-long-name-2026", "[green]+16.54[/]", "+16.45 to +16.64", "-25.25", "-25.51 to -24.98", "20,000"
    )
    out = StringIO()
    Console(file=out, width=width).print(table)
    text = out.getvalue()
    for number in ("+16.54", "+16.45", "+16.64", "-25.25", "-25.51", "-24.98", "20,000"):
        assert number in text, text
    assert "…" not in text
    assert "a-run-with-a-long-name-2026" in re.sub(r"[\s│]|[+\d,.-]+(?= )", "", text) or width >= 55
    assert max(map(len, text.splitlines())) <= max(width, 27)


def test_the_bar_of_training_has_the_time_left_and_its_note_whole():
    bar = training_bar()
    bar.add_task("cloning conceder", total=1.0, note="123,456 timesteps/s, +12.34 big blinds an episode, tight -1.23")
    out = StringIO()
    Console(file=out, width=80).print(*bar.get_renderables())
    assert "-:--:--" in out.getvalue() and "…" not in out.getvalue()
    assert "+12.34 big blinds an episode, tight -1.23" in out.getvalue()


def test_without_a_terminal_a_line_tells_now_and_then_how_far_it_is(monkeypatch):
    out = StringIO()
    monkeypatch.setattr(console, "STDERR", Console(file=out, width=40))
    with training_bar() as bar:
        task = bar.add_task("training", total=1.0, note="")
        bar.update(task, completed=0.1, note="nobody waits yet")
        monkeypatch.setattr(console, "EVERY", 0.0)
        bar.update(task, completed=0.25, note="123,456 timesteps/s, +12.34 big blinds an episode")
    with counting_bar("deals", 4, note=lambda: "2 refused") as advance:
        advance(2)
        advance(2)
    lines = ["training: 25 %, 123,456 timesteps/s, +12.34 big blinds an episode", "deals: 50 %, 2 refused"]
    assert out.getvalue().splitlines() == lines


def test_names_are_readable_in_any_encoding():
    code = (
        "import sys; from parlour.training.cli import prepare_streams; prepare_streams();"
        "print('Zo\\u00eb \\u2212 \\u0141ukasz \\u2026 \\u4e2d'); print('\\u00e9', file=sys.stderr)"
    )
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout.decode("ascii").strip() == r"Zoe - Lukasz ... \u4e2d"
    assert done.stderr.decode("ascii").strip() == "e"
    assert READABLE
