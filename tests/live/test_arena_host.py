"""Our arena: tournaments of every game, agents that misbehave in process and over HTTP, its calls, and the commands."""

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from typing import Any

import aiohttp
import endpoint as models
import pytest
from aiohttp import web
from command_line import facts, line, printed
from live.arena_players import BARGAINING, FREE, Client, Theirs, endpoint, flood, ours, passing, polling, raising
from live.event_loops import run, until
from needs import library
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.training import cli
from parlour.training.evaluation import arena_results
from parlour.training.evaluation.arena_results import Standings
from parlour.wrappers import make_policy
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost, ArenaResult, assess
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.logs import match_log
from parlour.wrappers.logs.match_log import FirstMatches
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.replay import log_reader
from pydantic import BaseModel

# Tournaments.


async def test_a_policy_that_hangs_loses_its_turns_and_holds_up_nobody_else():
    release, ticks = threading.Event(), []

    async def ticking():
        while not release.is_set():
            ticks.append(None)
            await asyncio.sleep(0.01)

    async with ArenaHost(BARGAINING, limits=FREE, timeout=0.2, seed=1) as host:
        stuck = ours("stuck")
        stuck.agent.respond = lambda state: release.wait(20)
        for agent in (stuck, ours("ann", seed=2)):
            host.add(agent)
        beat = asyncio.create_task(ticking())
        result = await host.play(["stuck", "ann"])
        release.set()
        await beat

    assert result.forced["stuck"] > 0 == result.forced["ann"]
    assert len(ticks) > 5


async def test_every_game_is_hosted_and_every_match_replays(game, tmp_path):
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        async with ArenaHost(game, limits=FREE, seed=1, log=log) as host:
            for seat in range(game.seats):
                host.add(ours(f"agent {seat}", game, RandomPolicy(seed=seat)))
            results = await host.tournament(1)

    assert len(results) == game.seats  # every rotation
    for result in results:
        assert sum(result.payoffs.values()) == pytest.approx(0) or not game.payoffs.zero_sum
        assert not any([*result.rejected.values(), *result.failed.values(), *result.forced.values(), result.error])
        assert result.agent_ids[0] in result.payoffs
    outcomes = [entry["outcome"] for entry in match_log.read(tmp_path / "log.jsonl") if entry["kind"] == "end"]
    assert len(outcomes) == game.seats
    assert log_reader.replay(tmp_path / "log.jsonl").table.done


async def test_a_round_robin_meets_everybody_in_every_seat():
    async with ArenaHost(BARGAINING, seed=1) as host:
        for name in "abc":
            host.add(ours(name))
        outcome = await host.tournament(2, concurrent=3)

    tables = sorted(tuple(result.agent_ids) for result in outcome)
    assert tables == sorted([(a, b) for a in "abc" for b in "abc" if a != b] * 2)


def test_the_same_seed_is_the_same_tournament():
    def tournament():
        async def main():
            async with ArenaHost(BARGAINING, seed=7) as host:
                for number, name in enumerate("ab"):
                    host.add(ours(name, seed=number))
                return [result.payoffs for result in await host.tournament(5, concurrent=2)]

        return run(main())

    assert tournament() == tournament()


async def test_others_see_their_own_names_and_hooks_and_types():
    class Model(BaseModel):
        agent_id: str
        is_my_turn: bool
        game_state: dict[str, Any]

    seen = []

    class Typed(Theirs):
        def act(self, state: Model) -> Any:
            seen.append(state)
            return {"action": {"action_type": "submit_offer", "payload": {"my_share": 50}}}

    class Asynchronous(Theirs):
        async def act(self, state: Mapping[str, Any]):
            await asyncio.sleep(0)
            seen.append(state)
            return AgentResponse(Action("pass"))

    typed, asynchronous = Typed("ann", None), Asynchronous("bob", None)

    async with ArenaHost(BARGAINING) as host:
        host.add(typed)
        host.add(asynchronous)
        result = await host.play(["ann", "bob"], seed=1)

    assert result.actions == 6 and result.reason == "max_rounds_exceeded"
    assert {type(state) for state in seen} == {Model, dict}
    assert seen[1]["agent_id"] == "bob" and seen[1]["game_state"]["last_offer_by"] == "ann"
    (match, game_id, agents), (same, outcome) = typed.told
    assert (game_id, agents, same) == ("bargaining-v0", ["ann", "bob"], match)
    assert {row["agent_id"] for row in outcome["payoffs"]} == {"ann", "bob"}


# Agents that misbehave, in process.


class Exploding:
    def __getattr__(self, name):
        raise RuntimeError("do not look at me")


class BrokenText(Exception):
    def __str__(self):
        raise ValueError("no text either")


RUBBISH = {
    "none": None,
    "text": "accept",
    "wrong types": {"action": {"action_type": 3, "payload": []}},
    "unknown action": {"action": {"action_type": "explode"}},
    "not a number": {"action": {"action_type": "submit_offer", "payload": {"my_share": float("nan")}}},
    "ten megabytes": {"action": {"action_type": "pass", "payload": {"x": "y" * 10_000_000}}},
    "deep": json.loads("[" * 400 + "]" * 400),
    "half characters": {"action": {"action_type": "\ud800"}},
    "long message": {"action": {"action_type": "pass"}, "messages": [{"scope": "public", "content": "x" * 10**7}]},
    "many messages": {"action": {"action_type": "pass"}, "messages": [{"scope": "public", "content": "x"}] * 100_000},
}

BAD = {
    "raises": raising(RuntimeError("boom")),
    "raises without text": raising(BrokenText()),
    "exits": raising(SystemExit(1)),
    "interrupts": raising(KeyboardInterrupt()),
    "floods": flood,
    "explodes": lambda state: Exploding(),
    "changes the state": lambda state: state.game_state.clear() or state.allowed_actions.clear(),
    **{name: lambda state, answer=answer: answer for name, answer in RUBBISH.items()},
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_agent_loses_its_own_turns_only(name):
    bad = Theirs("bad", BAD[name])

    async with ArenaHost(BARGAINING, seed=1, timeout=20) as host:
        host.add(bad)
        host.add(ours("good"))
        host.add(ours("fine", policy="fair"))
        results = await host.tournament()

    assert len(results) == 6
    for result in results:
        assert result.reason in ("agreement", "max_rounds_exceeded") and result.error is None
        others = [agent for agent in result.agent_ids if agent != "bad"]
        for kind in (result.rejected, result.failed, result.forced):
            assert not any(kind[agent] for agent in others)
        if "bad" in result.agent_ids:
            assert result.forced["bad"] > 0
    assert len(bad.told) == 8


async def test_a_hook_that_raises_or_hangs_costs_nothing():
    class Rude(Theirs):
        def on_match_start(self, match_id, game_id, agent_ids):
            raise RuntimeError("no")

        def on_match_end(self, match_id, outcome):
            time.sleep(0.6)

    async with ArenaHost(BARGAINING, timeout=0.3) as host:
        host.add(Rude("rude", passing))
        host.add(ours("good", policy="hardliner"))
        assert (await host.play(["rude", "good"])).failed == {"rude": 0, "good": 0}


# Over HTTP.


async def test_the_wire_is_the_documents():
    async def answer(request):
        return web.json_response({"action": {"action_type": "pass"}})

    async with endpoint(answer) as (url, posted), ArenaHost(BARGAINING) as host:
        host.add_remote("remote", url)
        host.add(ours("good", policy="hardliner"))
        await host.play(["good", "remote"])

    assert [path for path, _ in posted] == ["/agent/match_start", *["/agent/act"] * 3, "/agent/match_end"]
    start, state, end = (json.loads(posted[i][1]) for i in (0, 1, -1))
    assert set(start) == {"match_id", "game_id", "agent_ids"}
    assert start["game_id"] == state["game_id"] == "unfair-split"  # what agents of the platform know
    assert list(state) == list(TurnState.__struct_fields__)
    assert state["agent_id"] == state["current_turn_agent_id"] == "remote"
    assert set(end) == {"match_id", "outcome"} and end["match_id"] == start["match_id"] == state["match_id"]


async def _hang(request):
    await asyncio.sleep(30)


async def _disconnect(request):
    request.transport.abort()
    return web.Response()


async def _megabytes(request):
    return web.Response(body=b'{"x":"' + b"y" * 10_000_000 + b'"}')


async def _endless(request):
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 1000)
        await asyncio.sleep(0.01)


async def _away(request):
    raise web.HTTPTemporaryRedirect("http://127.0.0.1:1/act")


REMOTE = {
    "hangs": _hang,
    "disconnects": _disconnect,
    "ten megabytes": _megabytes,
    "endless": _endless,
    "redirects": _away,
    **{
        name: lambda request, body=body, status=status: _say(body, status)
        for name, status, body in (
            ("fails", 500, b"oops"),
            ("no json", 200, b"\xff\x00rubbish"),
            ("deep", 200, b"[" * 100_000),
            ("a list", 200, b"[1, 2]"),
            ("huge number", 200, b'{"action":{"action_type":"submit_offer","payload":{"my_share":1e999}}}'),
        )
    },
}


async def _say(body, status):
    return web.Response(body=body, status=status)


@pytest.mark.parametrize("name", REMOTE)
async def test_a_bad_agent_over_http_loses_its_own_turns_only(name):
    async with endpoint(REMOTE[name], REMOTE[name]) as (url, _), ArenaHost(BARGAINING, timeout=0.3) as host:
        host.add_remote("bad", url)
        host.add(ours("good", policy="hardliner"))
        host.add(ours("fine", policy="hardliner"))
        results = await host.tournament()

    assert len(results) == 6
    for result in results:
        assert result.reason == "max_rounds_exceeded"
        if "bad" in result.payoffs:
            assert result.forced["bad"] == 3
            assert result.failed["bad"] + result.rejected["bad"] >= 3


# The host's REST calls.


async def test_registration_and_reports():
    async with ArenaHost(BARGAINING, server=ServerSettings(access_token="open sesame")) as host:
        key = {"Authorization": "Bearer open sesame"}
        async with aiohttp.ClientSession() as http:

            async def call(method, path, headers=key, **kind):
                async with http.request(method, host.url + path, headers=headers, **kind) as reply:
                    return reply.status, await reply.json()

            async def register(agent_id, url, **more):
                body = {"agent_id": agent_id, "endpoint": url, **more}
                return (await call("POST", "/api/register", json=body))[0]

            body = {"agent_id": "ann", "endpoint": "http://127.0.0.1:1/x"}
            for path in ("register", "match", "sessions/create", "sessions/join"):
                assert (await call("POST", f"/api/{path}", headers={}, json=body))[0] == 401
            assert (await call("POST", "/api/register", headers={"Authorization": "Bearer é"}, json=body))[0] == 401
            for name in ("", "x" * 65, "a\nb", 3, None, "accept", "ann\n"):
                assert await register(name, "http://127.0.0.1:1") in (400, 409), name
            for url in ("", "file:///etc/passwd", "127.0.0.1", "http://", "http://a b", 3, "http://a/?q"):
                assert await register("eve", url) == 400, url
            for data in (b"", b"[]", b"{", b"\xff", b"[" * 9999):
                assert (await call("POST", "/api/register", data=data))[0] == 400
            assert await register("ann", "http://127.0.0.1:1/x", capabilities=["more"]) == 200
            assert await register("ann", "http://127.0.0.1:1/x") == 200
            assert await register("ann", "http://127.0.0.1:2/x") == 409
            assert await register("cleo", "http://127.0.0.1:1/x", supported_games=["chess"]) == 409
            agents = (await call("GET", "/api/agents"))[1]["agents"]
            assert [one["agent_id"] for one in agents] == ["ann"]
            host.add(ours("bob"))
            result = await host.play(["ann", "bob"])
            status, found = await call("GET", f"/api/matches/{result.match_id}")
            assert (status, found["payoffs"]) == (200, result.payoffs)
            status, found = await call("GET", "/api/matches/nowhere")
            assert (status, found["error"]) == (404, "match_not_found")
            assert (await call("GET", "/health"))[1]["game_id"] == "bargaining-v0"
            async with polling("dan", host.url, access_token="open sesame") as player:
                await player.register()


async def test_agents_need_names_of_their_own():
    async with ArenaHost(BARGAINING) as host:
        host.add(ours("ann"))
        for agent, words in (
            (ours("ann"), "already"),
            (ours("accept"), "a word of bargaining"),
            (ours("x" * 65), "1 to 64 characters, not 65"),
            (ours("\u202eann"), "hidden characters"),
            (object(), "needs agent_id and act"),
        ):
            with pytest.raises(ValueError, match=words):
                host.add(agent)
        with pytest.raises(ValueError, match="no agent is called 'eve'"):
            await host.play(["ann", "eve"])
        with pytest.raises(ValueError, match="1 agent:"):
            await host.tournament()
        with pytest.raises(ValueError, match="concurrent=0"):
            await host.tournament(concurrent=0)

    with pytest.raises(ValueError, match="timeout=0"):
        ArenaHost(BARGAINING, timeout=0)


async def test_an_agent_can_leave_and_one_that_is_silent_for_long_is_forgotten(monkeypatch):
    async with ArenaHost(envs.game("bargaining"), limits=FREE, seed=3) as host, aiohttp.ClientSession() as http:
        host.add(ours("bot"))
        agent = ArenaAgent("over the wire", PolicyAgent(BARGAINING, RandomPolicy(seed=9)))

        async def post(path, body):
            async with http.post(f"{host.url}/api/{path}", json=body) as answer:
                return answer.status, await answer.json()

        async with ArenaAgentServer(agent) as server:
            body = {"agent_id": "over the wire", "endpoint": server.endpoint}
            _, registered = await post("register", body)
            claim = {"agent_id": "over the wire", "claim_token": registered["claim_token"]}
            assert "claim_token" not in (await post("register", body))[1]  # it comes again, or somebody else does
            playing = asyncio.create_task(host.tournament(2))
            await asyncio.sleep(0)
            status, refused = await post("unregister", claim)
            assert (status, "tournament" in refused["error"]) == (409, True)
            await playing
            assert (await post("unregister", {"agent_id": "bot"}))[0] == 409  # it is the host's own
            for theft in (
                await post("unregister", {"agent_id": "over the wire"}),
                await post("unregister", {**claim, "claim_token": "wrong"}),
                await post("register", {**body, "endpoint": "http://127.0.0.1:9/"}),
            ):
                assert theft[0] in (403, 409)
            assert host.players["over the wire"].endpoint == server.endpoint
            moved = {**body, **claim, "endpoint": f"{server.endpoint}/there"}
            assert (await post("register", moved))[1]["claim_token"] == claim["claim_token"]
            assert host.players["over the wire"].endpoint == moved["endpoint"]
            assert await post("unregister", claim) == (200, {"ok": True})
            assert await post("unregister", claim) == (200, {"ok": False})
            await post("register", body)
            monkeypatch.setattr(limits, "REGISTERED_SECONDS", -60.0)
            await post("register", {**body, "agent_id": "another"})
            assert list(host.players) == ["bot", "another"]


AGENTS = ["--agents", "random", "equilibrium", "zoo", "--seed", "1", "--port", "0"]


def test_each_agent_plays_the_games_that_it_knows_and_the_pages_have_all_tables(capsys, tmp_path):
    log, pages = str(tmp_path / "log.jsonl"), tmp_path / "results"
    files = ("--log", log, "--out", str(pages), "--samples", "2")
    answer = facts(capsys, "host arena bargaining,trust,kuhn", *AGENTS, "--rounds", "2", *files)
    players = {one["game"]: {row["agent_id"] for row in one["standings"]} for one in answer["games"]}
    assert players == {
        "bargaining-v0": {"random", "zoo"},
        "trust-v0": {"random", "equilibrium", "zoo"},
        "kuhn-v0": {"random", "equilibrium", "zoo"},
    }
    matches = {row["agent_id"]: row["matches"] for row in answer["over_all"]}
    assert matches == {"random": 4 + 8 + 8, "equilibrium": 8 + 8, "zoo": 4 + 8 + 8}
    assert len([line for line in match_log.read(log) if line["kind"] == "end"]) == 4 + 12 + 12
    index = (pages / "index.html").read_text()
    for words in ("All games", "trust-v0: 12 matches", "kuhn-v0: 12 matches", "rating over all", 'href="kuhn.html"'):
        assert words in index
    assert {file.name for file in pages.iterdir()} == {"index.html", "bargaining.html", "trust.html", "kuhn.html"}
    assert "kuhn-v0: first matches" in (pages / "kuhn.html").read_text()
    assert "no game has enough agents" in line(capsys, "host arena kuhn,trust --agents random")[2]


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


async def test_one_server_has_the_sessions_and_matches_of_several_games():
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
        await until(lambda: trust.results)
        _, played = await client.call("GET", f"/api/match/{asked['session_id']}")
        _, match = await client.call("GET", f"/api/matches/{trust.results[0].match_id}")
        assert played["game_id"] == "trust" and match["game_id"] == "trust-v0" and not host.results


# Results.


def lines_of(*matches):
    table = Standings()
    for match in matches:
        table.add(match)
    return table.lines()


def test_standings_are_means_with_intervals_and_ratings():
    def match(number, a, b, deal=None, efficiency=None):
        return ArenaResult(str(number), "g", ["a", "b"], {"a": a, "b": b}, "end", deal=deal, efficiency=efficiency)

    lines = lines_of(match(0, 3.0, 1.0, True, 1.0), match(1, 5.0, 1.0, False, 0.0), match(2, 4.0, 1.0))
    first, second = lines
    assert (first.agent_id, first.mean, first.matches, first.deals, first.efficiency) == ("a", 4.0, 3, 0.5, 0.5)
    assert first.high - first.mean == pytest.approx(4.303 * 1.0 / 3**0.5)
    assert (second.low, second.high) == (1.0, 1.0)
    assert first.rating > 25 > second.rating
    assert lines_of(match(0, 1.0, 2.0))[0].low is None
    assert lines_of() == []


def test_an_arena_that_stays_for_months_forgets_the_oldest_agents(monkeypatch):
    monkeypatch.setattr(arena_results, "MOST_AGENTS", 3)
    table = Standings()
    for pair in ("ab", "ac", "ad", "ae"):
        table.add(ArenaResult(pair, "g", list(pair), {pair[0]: 1.0, pair[1]: 0.0}, "end"))
    assert table.matches == 4
    lines = {line.agent_id: line.matches for line in table.lines()}
    assert lines == {"a": 4, "d": 1, "e": 1}


def test_deals_and_efficiency_are_those_of_the_outcome():
    def seen(game, *states):
        return [TurnState("m", game, name, "", False, game_state=one) for name, one in zip("ab", states, strict=True)]

    def bargained(low, high, outcome):
        states = ({"total": 100, "my_reservation_value": value} for value in (low, high))
        return assess(seen("bargaining-v0", *states), outcome)

    def pay(a, b):
        return {"payoffs": [{"agent_id": "a", "utility": a}, {"agent_id": "b", "utility": b}]}

    assert bargained(20, 30, {"reason": "agreement", **pay(30, 20)}) == (True, 1.0)
    assert bargained(20, 30, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (False, 0.0)
    assert bargained(60, 50, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (None, None)
    assert bargained(20, 30, {"reason": "error", **pay(0, 0)}) == (None, None)
    issues = seen(
        "multi_issue_bargaining-v0",
        {"my_preferences": {"price": [0.0, 0.6], "date": [0.4, 0.0]}, "my_reservation_value": 0.3},
        {"my_preferences": {"price": [0.3, 0.0], "date": [0.0, 0.7]}, "my_reservation_value": 0.4},
    )
    # The most without a loss is 0.3 and 0.3: the high price for one, the late date for the other.
    assert assess(issues, {"reason": "agreement", **pay(0.15, 0.3)}) == (True, pytest.approx(0.75))
    assert assess(issues, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (False, 0.0)
    issues[0].game_state["my_reservation_value"] = 0.7
    assert assess(issues, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (None, None)
    bidders = seen("auction-v0", {"my_valuation": 80.0}, {"my_valuation": 60.0})
    assert assess(bidders, {"reason": "auction_resolved", "winner": "b", **pay(0, 9)}) == (True, 0.75)
    assert assess([TurnState("m", "holdem-v0", "a", "", False)], {"reason": "showdown", "payoffs": []}) == (None, None)


# The commands.


def test_the_host_command(capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    three = ["bargaining", "--agents", "fair", "fair", "random", "--rounds", "2", "--log", str(log)]
    report = facts(capsys, "host arena", *three, "--port", "0", "--seed", "1")
    assert {line["agent_id"]: line["matches"] for line in report["standings"]} == {"fair": 8, "fair-2": 8, "random": 8}
    assert sum(entry["kind"] == "end" for entry in match_log.read(log)) == 12
    three = ["holdem", "--agents", "call", "tight", "random", "--rounds", "1"]
    out = printed(capsys, "host arena", *three, "--port", "0", "--seed", "1")
    assert "holdem-v0: 3 matches" in out
    assert "call-2" in out  # "call" is a word of hold'em


def test_the_host_command_counts_the_answers_of_a_language_model(capsys, tmp_path):
    library("openai")
    bid, challenge = ('{"action_type": "bid", "payload": {"quantity": 1, "face": 9}}', '{"action_type": "challenge"}')
    with models.answering(models.saying("I would rather talk.", bid, challenge)) as url:
        words = f"host arena liars_dice --agents llm careful --rounds 2 --model stub --llm-url {url} --port 0 --seed 1"
        row = facts(capsys, words, "--out", str(tmp_path))["models"]["llm"]
    assert row["unparsable"] == 1 and row["illegal"] >= 1  # the second answer is out of the bounds of its schema
    assert row["decisions"] >= 2 and row["tokens in"] >= 11 * (row["decisions"] + 1)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "Language models" in page and "<th>unparsable</th>" in page


def test_both_commands_meet(capsys):
    """`parlour host arena --wait 1` and `parlour deploy arena`, each in a thread, over a real socket."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def deploy():
        guest = ["conceder", "--game", "bargaining", "--name", "guest", "--port", "0", "--matches", "6", "--seed", "2"]
        assert cli.main(["deploy", "arena", *guest, "--arena", f"http://127.0.0.1:{port}"]) == 0

    guest = threading.Thread(target=deploy, daemon=True)
    guest.start()
    one = ["bargaining", "--agents", "fair", "--wait", "1", "--rounds", "3", "--port", str(port)]
    assert cli.main(["host", "arena", *one, "--seed", "1", "--json"]) == 0
    guest.join(20)
    assert not guest.is_alive()
    report = json.loads(next(line for line in capsys.readouterr().out.splitlines() if line.startswith("{")))
    assert {line["agent_id"]: (line["matches"], line["failed"]) for line in report["standings"]} == {
        "fair": (6, 0),
        "guest": (6, 0),
    }
