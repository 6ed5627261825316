"""`parlour play --screen` and `--out`, `parlour replay`."""

import io

import pytest
from command_line import printed
from needs import library
from parlour.envs import GameEnv, game
from parlour.training import cli
from parlour.training.terminal.match import QUESTION, Screen, TerminalMatch
from parlour.wrappers.logs.match_log import read
from rich.console import Console
from rich.live import Live

MATCH = ("bargaining", "--agents", "fair", "boulware", "--seed", "5")


def test_watching_shows_one_table_that_changes(capsys):
    out = printed(capsys, "play", *MATCH, "--screen", "--matches", "2", "--delay", "0")
    assert out.count("bargaining-v0") == 1  # no terminal: the last screen alone
    assert "over: " in out
    assert "boulware" in out
    assert "player_1 (boulware): " in out


@pytest.mark.parametrize("game_id", ["holdem", "mafia", "auction", "tangram"])
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_the_latest_action_stands_on_the_screen(game_id, size):
    table = game(game_id)
    console = Console(file=io.StringIO(), width=size[0], height=size[1], force_terminal=True)
    env, count = GameEnv(table), 0
    env.reset(seed=3)
    with Live(console=console, auto_refresh=False) as live:
        screen = Screen(TerminalMatch(table, [None] * table.seats, table.agents, console), live)
        while not env.table.done and count < 60:
            count += 1
            env.submit(env.agent_selection, table.view.encode(env.table, table.view.safe(env.table)).action)
            screen._done.append(f"action {count}: {'words ' * 30}")
            lines = console.render_lines(screen._drawn(table.renderer.text(env.match.turn_states("all"))), pad=False)
            shown = ["".join(part.text for part in line) for line in lines[: size[1] - 1]]
            assert any(f"action {count}:" in line for line in shown)
            assert max(map(len, shown)) <= size[0]


@pytest.mark.parametrize(("game_id", "lines"), [("holdem", 24), ("kuhn", 24), ("mafia", 30)])
def test_the_screen_of_a_person_leaves_room_for_the_question(game_id, lines):
    table = game(game_id)
    console = Console(file=io.StringIO(), width=80, height=lines, force_terminal=True)
    env, count = GameEnv(table), 0
    env.reset(seed=3)
    screen = Screen(TerminalMatch(table, [None] * table.seats, table.agents, console), None)
    while not env.table.done and count < 40:
        count += 1
        env.submit(env.agent_selection, table.view.encode(env.table, table.view.safe(env.table)).action)
        text = table.renderer.text([env.turn_state(table.agents[0])])
        screen.show(f"action {count}", text, ["words " * 90])
        drawn = console.render_lines(screen._drawn(text))
        assert len(drawn) <= lines - QUESTION
        assert any("words" in part.text for line in drawn for part in line)  # the latest is what was said


def test_a_match_is_recorded_as_a_page_and_replayed_from_its_log(tmp_path, capsys):
    out, log = tmp_path / "films" / "match.html", tmp_path / "logs" / "match.jsonl"
    assert f"written: {out}" in printed(capsys, "play", *MATCH, "--matches", "2", "--out", str(out), "--log", str(log))
    assert "fair, boulware" in out.read_text("utf-8")
    first = next(read(log))
    assert first["agent_ids"] == ["fair", "boulware"]
    assert cli.main(["replay", str(log)]) == 0
    again = log.with_suffix(".html").read_text("utf-8")
    assert (
        again.split("application/json")[1].split('"views"')[1]
        == (out.read_text("utf-8").split("application/json")[1].split('"views"')[1])
    )
    before = log.read_bytes()
    assert cli.main(["replay", str(log), "--out", str(log)]) == 2
    assert "is the log itself" in capsys.readouterr().err
    assert log.read_bytes() == before


@pytest.mark.slow
def test_a_match_is_recorded_as_a_film(tmp_path):
    library("resvg_py")
    out = tmp_path / "match.gif"
    assert cli.main(["play", *MATCH, "--out", str(out), "--view", "fair"]) == 0
    assert out.read_bytes()[:6] in (b"GIF87a", b"GIF89a")
