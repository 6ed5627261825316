"""The page and the film of a log."""

import json
import re

import numpy as np
import pytest
from logs import played
from needs import library
from parlour import envs
from parlour.envs import Message, MessageIntent, TurnState
from parlour.envs.core.turn_state import MessageScope
from parlour.wrappers.replay.film import film
from parlour.wrappers.replay.log_reader import Moment, moments, picture
from parlour.wrappers.replay.page import page


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
