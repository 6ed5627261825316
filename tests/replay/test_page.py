"""The page of a log, the pages of a long one, films, and replays of a game of one's own."""

import json
import re
import subprocess
import sys
import threading
from http.client import HTTPConnection
from pathlib import Path

import drawn_nim
import numpy as np
import pytest
from logs import played
from needs import library
from parlour import envs
from parlour.envs import Message, MessageIntent, TurnState
from parlour.envs.core.options import with_options
from parlour.envs.core.turn_state import MessageScope
from parlour.training import cli
from parlour.wrappers.agents.base import SeatNames
from parlour.wrappers.replay.log_reader import Moment, moments, picture
from parlour.wrappers.replay.page import MatchPages, PageServer, film, page


def data(html):
    return json.loads(re.search(r'<script type="application/json" id="replay">(.*?)</script>', html, re.S)[1])


def film_of(replay, view):
    """Unroll a view's pictures as the page does; None where there is none."""
    stream, lines = iter(replay["frames"][replay["views"].index(view)]), []
    for count in stream:
        if count < 0:
            yield None
            continue
        changes = [(next(stream), next(stream)) for _ in range(next(stream))]
        lines = lines[:count] + [None] * (count - len(lines))
        for place, line in changes:
            lines[place] = line
        yield "\n".join(replay["lines"][line] for line in lines)


def test_every_picture_of_every_view_is_in_the_page(game_id, tmp_path):
    played(tmp_path / "log", envs.game(game_id), matches=2)
    told = list(moments(tmp_path / "log"))
    html = page(told, "a <match>")
    replay = data(html)
    assert len(replay["moments"]) == len(told)
    assert replay["views"] == list(told[0].views)
    for view in replay["views"]:
        assert list(film_of(replay, view)) == [picture(moment.views[view]) for moment in told]
    assert len(set(replay["lines"])) == len(replay["lines"])
    ends = [moment for moment in told if moment.agent is None]
    assert replay["results"] == [
        {row["agent_id"]: row["utility"] for row in next(iter(end.states.values())).outcome["payoffs"] if len(row) > 1}
        for end in ends
    ]
    assert [first for _, first, _ in replay["matches"]] == [0, next(i for i, one in enumerate(told) if one.match == 1)]
    assert "<title>a &lt;match&gt;</title>" in html


def test_a_call_where_nothing_is_owed_is_a_check(tmp_path):
    played(tmp_path / "log", envs.game("leduc"), matches=8)
    told, words = list(moments(tmp_path / "log")), set()
    for moment, shown in zip(told, data(page(told, "leduc"))["moments"], strict=True):
        if moment.action == "call":
            chips = moment.states[moment.agent].game_state["chips"].values()
            words.add((len(set(chips)) > 1, shown["action"]))
    assert words == {(True, "call"), (False, "check")}


def test_the_page_needs_no_network(tmp_path):
    played(tmp_path / "log", envs.game("auction"))
    html = page(moments(tmp_path / "log"), "t")
    assert "default-src 'none'" in html
    assert not re.search(r"""(src|href)=["'](?!data:)""", html)
    assert "@import" not in html
    assert "fetch(" not in html
    assert "{{" not in html.split("<script")[0]


def state(agent, *messages):
    return TurnState("m", "three_cards-v0", agent, "betting", False, game_state={"cards": 1}, messages=list(messages))


def test_messages_are_those_that_each_could_read():
    public = Message("0", "a", MessageScope.PUBLIC, "</script><b>{{style}}")
    secret = Message("1", "b", MessageScope.PRIVATE, "psst", ["a"])
    told = [
        Moment(
            0,
            "t",
            {"a": state("a"), "b": state("b")},
            "a",
            "says",
            [MessageIntent(MessageScope.PUBLIC, public.content)],
        ),
        Moment(0, "t", {"a": state("a", public, secret), "b": state("b", public, secret), "c": state("c", public)}),
        Moment(1, "t", {"a": state("a", public)}),
    ]
    html = page(told, "{{script}}")
    replay = data(html)
    assert replay["messages"] == [
        [1, "a", public.content, 0, ["a", "b", "c"]],
        [1, "b", "psst", 1, ["a", "b"]],
        [2, "a", public.content, 0, ["a"]],
    ]
    assert replay["title"] == "{{script}}"
    assert html.count("</script>") == 2
    assert [frame is None for frame in film_of(replay, "c")] == [True, False, True]


def test_films(tmp_path):
    library("resvg_py")
    from PIL import Image

    played(tmp_path / "log", envs.game("auction"), seed=2)
    told = list(moments(tmp_path / "log"))[-3:]
    count = film(told, tmp_path / "a.gif", "all", 2)
    image = Image.open(tmp_path / "a.gif")
    assert image.size == (640, 480)
    assert count == len(told) - 1 + 3
    seconds = []
    for frame in range(image.n_frames):
        image.seek(frame)
        seconds.append(image.info["duration"] / 1000)
    assert sum(seconds) == pytest.approx(count / 2)
    imageio = library("imageio_ffmpeg")
    assert film(told, tmp_path / "a.mp4", "player_1", 5) == count
    frames, _seconds = imageio.count_frames_and_secs(str(tmp_path / "a.mp4"))
    assert frames == count
    reader = imageio.read_frames(str(tmp_path / "a.mp4"))
    assert next(reader)["source_size"] == (640, 480)
    first = np.frombuffer(next(reader), np.uint8)
    reader.close()
    assert first.std() > 10


@pytest.mark.parametrize(
    ("name", "view", "fps", "complaint"),
    [
        ("a.avi", "all", 1, "ends in .gif or .mp4"),
        ("a.gif", "all", 0, "fps=0"),
        ("a.gif", "nobody", 1, "no view 'nobody'; there are 'all', 'player_0', 'player_1'"),
    ],
)
def test_films_that_cannot_be(tmp_path, name, view, fps, complaint):
    library("PIL")
    played(tmp_path / "log", envs.game("bargaining"))
    with pytest.raises(ValueError, match=complaint):
        film(moments(tmp_path / "log"), tmp_path / name, view, fps)


@pytest.fixture
def drawn(monkeypatch):
    """The pictures that are drawn, one by one."""
    pictures = []
    drawing = lambda *args: pictures.append(picture(*args)) or pictures[-1]  # noqa: E731
    monkeypatch.setattr("parlour.wrappers.replay.page.picture", drawing)
    return pictures


@pytest.mark.parametrize(("game", "options"), [("holdem", {"seats": 3}), ("bargaining", {}), ("mafia", {"seats": 7})])
def test_all_matches_are_listed_and_none_is_drawn(tmp_path, drawn, game, options):
    table = envs.game(game, **options)
    played(tmp_path / "log", table, matches=4, agent_ids=["ann", *table.agents[2:], "ann"])
    pages = MatchPages(tmp_path / "log", "log")
    contents = data(pages.contents())
    assert drawn == []
    whole = data(page(moments(tmp_path / "log"), "log"))
    assert contents["results"] == whole["results"]
    assert [title for _, _, title in contents["matches"]] == [title for _, _, title in whole["matches"]]
    drawn.clear()
    third = data(pages.match(2))
    views, here = len(whole["views"]), [moment for moment in moments(tmp_path / "log") if moment.match == 2]
    assert len(drawn) == views * len(here)
    assert third["place"] == [2, 4]
    assert third["results"] == [whole["results"][2]]
    assert third["moments"] == whole["moments"][whole["matches"][2][1] : whole["matches"][3][1]]


@pytest.fixture
def server(tmp_path):
    played(tmp_path / "log", envs.game("kuhn"), matches=3)
    with PageServer(MatchPages(tmp_path / "log", "log")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server, path):
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.putrequest("GET", path)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_the_pages_are_below_a_secret_path(server):
    assert get(server, server.path)[1] == server.pages.contents()
    assert get(server, f"{server.path}1")[1] == server.pages.match(1)
    for path in ("/", "/1", "1", "/favicon.ico", server.path[:-2]):
        assert get(server, path)[0] == 404, path
    for name in ("3", "-1", "x", "1/", "9" * 5_000):
        assert get(server, f"{server.path}{name}")[0] == 404, name


def test_a_match_that_does_not_replay_says_why(server):
    server.pages.matches[1] = (
        server.pages.matches[1]
        .replace(b'"payload":{}', b'"payload":{"x":1}', 1)
        .replace(b'"action_type":"', b'"action_type":"un', 1)
    )
    status, text = get(server, f"{server.path}1")
    assert status == 500
    assert "line 2 does not replay" in text
    assert get(server, f"{server.path}2")[0] == 200


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"kind":"turn","turn_state":{}}\n', "has no match or hand with all its players"),
        (b'{"kind":"hand","players":[]}\n', "line 1: a 'hand' line that is not read"),
    ],
)
def test_a_log_without_matches_is_refused(tmp_path, capsys, line, complaint):
    (tmp_path / "log").write_bytes(line)
    assert cli.main(["replay", str(tmp_path / "log"), "--serve"]) == 2
    assert complaint in capsys.readouterr().err


REPLAY = [sys.executable, "-m", "parlour.training.cli", "replay"]
TESTS = Path(__file__).parents[1]


@pytest.fixture
def log(tmp_path):
    game = with_options(drawn_nim.game, {"left": "stones"})
    played(tmp_path / "log.jsonl", game, agent_ids=["Ann & <b>", "second"])
    return tmp_path / "log.jsonl"


def test_a_log_is_replayed_with_the_game_that_the_command_names(log):
    refused = subprocess.run([*REPLAY, log], cwd=TESTS, capture_output=True, text=True)
    assert refused.returncode == 2 and "drawn_nim-v0" in refused.stderr
    named = subprocess.run([*REPLAY, log, "--game", "drawn_nim:game"], cwd=TESTS, capture_output=True, text=True)
    assert named.returncode == 0, named.stderr
    lines = "\n".join(data(log.with_suffix(".html").read_text("utf-8"))["lines"])
    assert ">Ann &amp; &lt;b&gt; moves<" in lines and ">second moves<" in lines
    assert ">21 stones<" in lines and " left<" not in lines  # the options of the match
    assert ">first" not in lines and 'class="first"' in lines


def test_names_are_written_over_the_words_of_a_picture_alone(monkeypatch):
    game = drawn_nim.game()
    monkeypatch.setattr("parlour.wrappers.replay.log_reader.game_of", lambda game_id: game)
    table = game.tables(1)[0]
    game.rules.reset(table)
    names = SeatNames(["second", "Bob"], game.agents)  # who sits first is called as the other seat
    drawn = picture([names.for_agents.state(game.turn_state(table, 0))], names)
    assert [part.split("<")[0] for part in drawn.split(">") if part.split("<")[0]] == ["second moves", "Bob", "21 left"]


@pytest.mark.parametrize("end", [{}, {"outcome": None}, {"outcome": {"reason": "stopped"}}])
def test_a_match_may_end_without_a_result_and_nothing_to_show_is_said(tmp_path, end):
    begun = {"kind": "match", "game": "kuhn-v0", "options": {}, "seed": 1, "agent_ids": ["ann", "bob"]}
    (tmp_path / "log").write_text(f"{json.dumps(begun)}\n{json.dumps({'kind': 'end', **end})}\n")
    pages = MatchPages(tmp_path / "log", "log")
    assert data(pages.contents())["results"] == [{}]
    assert len(data(pages.match(0))["matches"]) == 1
    with pytest.raises(ValueError, match="nothing to show"):
        page([], "t")
