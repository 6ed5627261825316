"""The pages of a long log: its matches without playing them, and a match drawn when its page is asked for."""

import json
import re
import threading
from http.client import HTTPConnection

import pytest
from logs import played
from parlour import envs
from parlour.training import cli
from parlour.wrappers.replay import page as pages_of_all
from parlour.wrappers.replay.log_reader import moments
from parlour.wrappers.replay.page import MatchPages, PageServer, page


def data(html):
    return json.loads(re.search(r'<script type="application/json" id="replay">(.*?)</script>', html, re.DOTALL)[1])


@pytest.fixture
def drawn(monkeypatch):
    """The pictures that are drawn, one by one."""
    pictures = []
    draw = pages_of_all.picture
    monkeypatch.setattr(pages_of_all, "picture", lambda *args: pictures.append(draw(*args)) or pictures[-1])
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
