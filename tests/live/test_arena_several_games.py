"""`parlour host arena` with several games: who plays what, one rating over all, and the pages of the results."""

import asyncio
import json
import shutil

import aiohttp
import pytest
from live.arena_players import BARGAINING, run
from live.arena_sessions import Client
from parlour import envs, zoo
from parlour.training import cli
from parlour.wrappers import PolicyAgent, make_policy
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.logs import match_log
from parlour.wrappers.logs.match_log import FirstMatches

AGENTS = ["--agents", "random", "equilibrium", "zoo", "--seed", "1", "--port", "0"]


def said(capsys, *args):
    cli.main(["host", "arena", *args])
    return capsys.readouterr()


def test_each_agent_plays_the_games_that_it_knows(capsys, tmp_path):
    log = str(tmp_path / "log.jsonl")
    out = said(capsys, "bargaining,trust,kuhn", *AGENTS, "--rounds", "2", "--json", "--log", log).out
    answer = json.loads(out)
    players = {one["game"]: {row["agent_id"] for row in one["standings"]} for one in answer["games"]}
    assert players == {
        "bargaining-v0": {"random", "zoo"},
        "trust-v0": {"random", "equilibrium", "zoo"},
        "kuhn-v0": {"random", "equilibrium", "zoo"},
    }
    matches = {row["agent_id"]: row["matches"] for row in answer["over_all"]}
    assert matches == {"random": 4 + 8 + 8, "equilibrium": 8 + 8, "zoo": 4 + 8 + 8}
    assert len([line for line in match_log.read(log) if line["kind"] == "end"]) == 4 + 12 + 12


def test_the_pages_have_all_tables_and_the_first_matches(capsys, tmp_path):
    out = tmp_path / "results"
    told = said(capsys, "trust,kuhn", *AGENTS, "--rounds", "1", "--out", str(out), "--samples", "2").out
    assert "all games: 12 matches" in told and f"written: {out / 'index.html'}" in told.replace("\n", "")
    index = (out / "index.html").read_text()
    for words in ("All games", "trust-v0: 6 matches", "kuhn-v0: 6 matches", "rating over all", 'href="kuhn.html"'):
        assert words in index
    assert {file.name for file in out.iterdir()} == {"index.html", "trust.html", "kuhn.html"}
    assert "kuhn-v0: first matches" in (out / "kuhn.html").read_text()


def test_one_game_has_a_page_too(capsys, tmp_path):
    said(capsys, "kuhn", *AGENTS, "--rounds", "1", "--out", str(tmp_path), "--samples", "0")
    assert [file.name for file in tmp_path.iterdir()] == ["index.html"]
    assert "All games" not in (tmp_path / "index.html").read_text()


def test_a_game_without_enough_agents_is_left_out_and_named(capsys):
    told = said(capsys, "kuhn,mafia,dictator", "--agents", "random", "honest", "--rounds", "1", "--port", "0").out
    assert "dictator is left out: 1 agent for 2 seats" in told
    assert "mafia is left out" in told
    assert "kuhn-v0: 2 matches" in told


def test_an_own_policy_plays_its_game(capsys, tmp_path):
    own = tmp_path / "own.npz"
    shutil.copy(zoo.weights("zoo:kuhn"), own)
    told = said(capsys, "kuhn,dictator", "--agents", "random", str(own), "--rounds", "1", "--port", "0").out
    assert "kuhn-v0: 2 matches" in told
    assert "dictator is left out: 1 agent for 2 seats" in told


def test_a_folder_that_cannot_be_made_is_told_before_the_matches(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    told = said(capsys, "kuhn", *AGENTS, "--rounds", "1", "--out", str(tmp_path / "file"))
    assert "exists" in told.err and "matches" not in told.out


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["kuhn,kuhn"], "kuhn: named twice"),
        (["kuhn,chess"], "no game is called 'chess'"),
        (["kuhn,trust", "--agents", "random", "nobody"], "no bot, run or policy file is called 'nobody'"),
        (["kuhn,trust", "--agents", "random"], "no game has enough agents"),
        (["kuhn,trust", "--wait", "1"], "names 2 games: --wait, --seats and --options need a single one"),
        (["kuhn,trust", "--options", "seats=2"], "need a single one"),
        (["kuhn", "--samples", "-1", "--agents", "random"], "samples=-1"),
    ],
)
def test_what_cannot_be_played_is_named(capsys, args, why):
    assert cli.main(["host", "arena", *args]) == 2
    told = capsys.readouterr()
    assert why in told.err


def test_a_log_of_the_first_matches_passes_all_on(tmp_path):
    everything, first = match_log.MatchLog(tmp_path / "all.jsonl"), tmp_path / "first.jsonl"
    with everything, FirstMatches(first, 1, everything) as log:
        for number in range(3):
            log.write("match", match_id=f"m{number}")
            log.write("end", match_id=f"m{number}")
    assert [line["match_id"] for line in match_log.read(first)] == ["m0", "m0"]
    assert len(list(match_log.read(everything.path))) == 6


@pytest.mark.parametrize("size", [0, 10, match_log.BLOCK, 3 * match_log.BLOCK])
def test_a_line_that_a_crash_cut_off_is_removed_without_reading_what_is_before_it(tmp_path, size, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"kind":"a"}\n' * 20_000 + b"x" * size)
    monkeypatch.setattr(match_log.Path, "read_bytes", None)
    with match_log.MatchLog(path) as log:
        log.write("b")
    assert [line["kind"] for line in match_log.read(path)] == ["a"] * 20_000 + ["b"]


def test_one_server_has_the_sessions_and_matches_of_several_games():
    async def main():
        trust = ArenaHost(envs.game("trust"))
        async with ArenaHost(BARGAINING, others=[trust]) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, listed = await client.call("GET", "/api/games")
            assert {"unfair-split", "trust"} <= {row["game_id"] for row in listed["games"]}
            for game_id in ("trust", "unfair-split"):
                _, ann = await client.post("create", game_id=game_id, player_name="Ann")
                await client.post("join", invite_code=ann["invite_codes"][0], player_name="Bob")
                state = await client.turn(ann["token"])
                assert state["game_id"] == game_id
                assert ("endowment" in state["game_state"]) == (game_id == "trust")
            for host_of_one in (host, trust):
                for name in ("cat", "dan"):
                    game = host_of_one.game
                    host_of_one.add(ArenaAgent(name, PolicyAgent(game, make_policy("random", game))))
            body = {"agent_ids": ["cat", "dan"], "num_matches": 1, "game_id": "trust"}
            _, asked = await client.call("POST", "/api/match", json=body)
            while not trust.results:
                await asyncio.sleep(0.01)
            _, played = await client.call("GET", f"/api/match/{asked['session_id']}")
            _, match = await client.call("GET", f"/api/matches/{trust.results[0].match_id}")
            assert played["game_id"] == "trust" and match["game_id"] == "trust-v0" and not host.results

    run(main())
