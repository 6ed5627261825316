"""Our arena: tournaments of every game, real HTTP on 127.0.0.1, and agents that misbehave in every way."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import web
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.training import cli
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.arena.host_session import ArenaLimits
from parlour.wrappers.live.arena.messages import ANSWER_LIMIT
from parlour.wrappers.live.arena.results import MatchResult, assess, rate, standings
from parlour.wrappers.logs import match_log, recorder
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.policies.loading import make_policy
from pydantic import BaseModel

FREE = ArenaLimits(actions=None)
BARGAINING = envs.game("bargaining", rounds=3)


def ours(name, game=BARGAINING, policy="random", seed=1):
    return ArenaAgent(name, PolicyAgent(game, make_policy(policy, game, seed=seed)))


def run(main, within=60):
    return asyncio.run(asyncio.wait_for(main, within))


class Theirs:
    """An agent of others: `act` is whatever is given; it notes what it is told."""

    def __init__(self, name, act):
        self.agent_id, self._act = name, act
        self.told, self.states = [], []

    def act(self, state):
        self.states.append(state)
        return self._act(state)

    def on_match_start(self, match_id, game_id, agent_ids):
        self.told.append((match_id, game_id, agent_ids))

    def on_match_end(self, match_id, outcome):
        self.told.append((match_id, outcome))


def passing(state):
    return {"action": {"action_type": "pass"}}


@asynccontextmanager
async def endpoint(act, hook=None):
    """Serve an agent of others that answers ``/act`` with what `act` returns."""
    app = web.Application()
    posted = []

    async def handle(request):
        posted.append((request.path, await request.read()))
        if request.path != "/agent/act":
            return await hook(request) if hook is not None else web.Response()
        return await act(request)

    app.add_routes([web.post("/agent/{call}", handle)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/agent", posted
    finally:
        await runner.cleanup()


# Tournaments.


def test_every_game_is_hosted_and_every_match_replays(game, tmp_path):
    async def main():
        with match_log.MatchLog(tmp_path / "log.jsonl") as log:
            async with ArenaHost(game, limits=FREE, seed=1, log=log) as host:
                for seat in range(game.seats):
                    host.add(ours(f"agent {seat}", game, RandomPolicy(seed=seat)))
                return await host.tournament(1)

    results = run(main())
    assert len(results) == game.seats  # every rotation
    for result in results:
        assert sum(result.payoffs.values()) == pytest.approx(0) or not game.payoffs.zero_sum
        assert not any([*result.rejected.values(), *result.failed.values(), *result.forced.values(), result.error])
        assert result.agent_ids[0] in result.payoffs
    outcomes = [entry["outcome"] for entry in match_log.read(tmp_path / "log.jsonl") if entry["kind"] == "end"]
    assert len(outcomes) == game.seats
    assert recorder.replay(tmp_path / "log.jsonl").table.done


def test_a_round_robin_meets_everybody_in_every_seat():
    async def main():
        async with ArenaHost(BARGAINING, seed=1, concurrent=3) as host:
            for name in "abc":
                host.add(ours(name))
            return await host.tournament(2)

    tables = sorted(tuple(result.agent_ids) for result in run(main()))
    assert tables == sorted([(a, b) for a in "abc" for b in "abc" if a != b] * 2)


def test_the_same_seed_is_the_same_tournament():
    def tournament():
        async def main():
            async with ArenaHost(BARGAINING, seed=7, concurrent=2) as host:
                for number, name in enumerate("ab"):
                    host.add(ours(name, seed=number))
                return [result.payoffs for result in await host.tournament(5)]

        return run(main())

    assert tournament() == tournament()


def test_others_see_their_own_names_and_hooks_and_types():
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

    async def main():
        async with ArenaHost(BARGAINING) as host:
            host.add(typed)
            host.add(asynchronous)
            return await host.play(["ann", "bob"], seed=1)

    result = run(main())
    assert result.actions == 6 and result.reason == "max_rounds_exceeded"
    assert {type(state) for state in seen} == {Model, dict}
    assert seen[1]["agent_id"] == "bob" and seen[1]["game_state"]["last_offer_by"] == "ann"
    (match, game_id, agents), (same, outcome) = typed.told
    assert (game_id, agents, same) == ("bargaining-v0", ["ann", "bob"], match)
    assert {row["agent_id"] for row in outcome["payoffs"]} == {"ann", "bob"}


def test_matches_run_side_by_side():
    def slow(state):
        time.sleep(0.05)
        return {"action": {"action_type": "pass"}}

    async def main():
        async with ArenaHost(BARGAINING, concurrent=8) as host:
            for name in "abcd":
                host.add(Theirs(name, slow))
            began = time.monotonic()
            results = await host.tournament()
            return len(results), time.monotonic() - began

    count, seconds = run(main())
    assert count == 12
    assert seconds < 0.7 * 12 * 6 * 0.05  # one by one it would take the whole


# Agents that misbehave, in process.


def flood(state):
    return {"action": {"action_type": "message_only"}, "messages": [{"scope": "public", "content": "spam"}]}


def raising(error):
    def act(state):
        raise error

    return act


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
def test_a_bad_agent_loses_its_own_turns_only(name):
    bad = Theirs("bad", BAD[name])

    async def main():
        async with ArenaHost(BARGAINING, seed=1, timeout=20) as host:
            host.add(bad)
            host.add(ours("good"))
            host.add(ours("fine", policy="fair"))
            return await host.tournament()

    results = run(main())
    assert len(results) == 6
    for result in results:
        assert result.reason in ("agreement", "max_rounds_exceeded") and result.error is None
        others = [agent for agent in result.agent_ids if agent != "bad"]
        for kind in (result.rejected, result.failed, result.forced):
            assert not any(kind[agent] for agent in others)
        if "bad" in result.agent_ids:
            assert result.forced["bad"] > 0
    assert len(bad.told) == 8


@pytest.mark.parametrize("kind", ["raises", "wrong types"])
def test_a_mistake_may_cost_the_match(kind):
    async def main():
        async with ArenaHost(BARGAINING, limits=ArenaLimits(rejected="end", failed="end")) as host:
            host.add(Theirs("bad", BAD[kind]))
            host.add(ours("good"))
            host.add(ours("fine"))
            return await host.tournament()

    results = run(main())
    assert len(results) == 6
    for result in results:
        assert (result.reason == "error") == ("bad" in result.agent_ids)
        assert result.error is None or result.error.startswith("bad: ")


def test_an_agent_that_hangs_loses_its_turns_and_holds_up_nobody():
    release = threading.Event()

    async def main():
        async with ArenaHost(BARGAINING, timeout=0.2, concurrent=2) as host:
            host.add(Theirs("hangs", lambda state: release.wait(60) and passing(state)))
            host.add(ours("good"))
            host.add(ours("fine"))
            return await host.tournament()

    began = time.monotonic()
    results = run(main())
    release.set()
    assert len(results) == 6
    assert time.monotonic() - began < 10
    assert all(result.failed["hangs"] == result.forced["hangs"] > 0 for result in results if "hangs" in result.payoffs)


def test_a_hook_that_raises_or_hangs_costs_nothing():
    class Rude(Theirs):
        def on_match_start(self, match_id, game_id, agent_ids):
            raise RuntimeError("no")

        def on_match_end(self, match_id, outcome):
            time.sleep(0.6)

    async def main():
        async with ArenaHost(BARGAINING, timeout=0.3) as host:
            host.add(Rude("rude", passing))
            host.add(ours("good", policy="hardliner"))
            return await host.play(["rude", "good"])

    assert run(main()).failed == {"rude": 0, "good": 0}


def test_policies_that_fail_are_counted_too():
    class Broken:
        def act(self, observations, masks):
            return np.array([10**6])

    async def main():
        async with ArenaHost(BARGAINING) as host:
            host.add(ArenaAgent("broken", PolicyAgent(BARGAINING, Broken())))
            host.add(ours("good"))
            return await host.play(["broken", "good"])

    result = run(main())
    assert result.failed["broken"] == result.forced["broken"] > 0


# Over HTTP.


def test_our_agent_joins_over_http_and_sees_what_the_environment_shows(game_id, monkeypatch):
    """Law 1 over a real socket: the policy gets the very observations of the environment."""
    game = envs.game(game_id)
    seen, shown = [], []

    class Watched(RandomPolicy):
        def act(self, observations, masks):
            seen.append((observations.tobytes(), masks.tobytes()))
            return super().act(observations, masks)

    def watch(session, agent_id):
        seat = session.agent_ids.index(agent_id)
        table = session.env.table
        shown.append((session.game.observation(table, seat).tobytes(), session.game.mask(table, seat).tobytes()))
        return original(session, agent_id)

    from parlour.wrappers.live.arena.host_session import ArenaHostSession

    original = ArenaHostSession.turn_state

    async def main():
        async with ArenaHost(game, limits=FREE, seed=3) as host:
            for seat in range(1, game.seats):
                host.add(ours(f"bot {seat}", game, RandomPolicy(seed=seat)))
            agent = ArenaAgent("over the wire", PolicyAgent(game, Watched(seed=9)))
            async with ArenaAgentServer(agent) as server:
                seen.clear()  # the rehearsal's
                await server.register(host.url)
                await host.wait_for(game.seats)
                monkeypatch.setattr(ArenaHostSession, "turn_state", watch)
                await host.tournament(2)
                assert agent.replaced == 0
                assert (server.matches, server.turns) == (2 * game.seats, len(seen))
            return host.results

    results = run(main())
    assert seen and seen == shown
    assert not any(result.failed["over the wire"] + result.rejected["over the wire"] for result in results)


def test_the_wire_is_the_documents():
    async def answer(request):
        return web.json_response({"action": {"action_type": "pass"}})

    async def main():
        async with endpoint(answer) as (url, posted), ArenaHost(BARGAINING) as host:
            host.add_remote("remote", url)
            host.add(ours("good", policy="hardliner"))
            await host.play(["good", "remote"])
            return posted

    posted = run(main())
    assert [path for path, _ in posted] == ["/agent/match_start", *["/agent/act"] * 3, "/agent/match_end"]
    start, state, end = (json.loads(posted[i][1]) for i in (0, 1, -1))
    assert set(start) == {"match_id", "game_id", "agent_ids"}
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
            ("not found", 404, b"{}"),
            ("no json", 200, b"\xff\x00rubbish"),
            ("empty", 200, b""),
            ("deep", 200, b"[" * 100_000),
            ("a list", 200, b"[1, 2]"),
            ("infinity", 200, b'{"action":{"action_type":"submit_offer","payload":{"my_share":1e999}}}'),
            (
                "huge number",
                200,
                b'{"action":{"action_type":"submit_offer","payload":{"my_share":' + b"9" * 5000 + b"}}}",
            ),
        )
    },
}


async def _say(body, status):
    return web.Response(body=body, status=status)


@pytest.mark.parametrize("name", REMOTE)
def test_a_bad_agent_over_http_loses_its_own_turns_only(name):
    async def main():
        async with endpoint(REMOTE[name], REMOTE[name]) as (url, _), ArenaHost(BARGAINING, timeout=0.3) as host:
            host.add_remote("bad", url)
            host.add(ours("good", policy="hardliner"))
            host.add(ours("fine", policy="hardliner"))
            return await host.tournament()

    results = run(main())
    assert len(results) == 6
    for result in results:
        assert result.reason == "max_rounds_exceeded"
        if "bad" in result.payoffs:
            assert result.forced["bad"] == 3
            assert result.failed["bad"] + result.rejected["bad"] >= 3


def test_an_agent_that_is_not_there_loses_its_turns():
    async def main():
        async with ArenaHost(BARGAINING, timeout=5) as host:
            host.add_remote("gone", "http://127.0.0.1:1")
            host.add(ours("good"))
            return await host.play(["gone", "good"])

    assert run(main()).failed["gone"] > 0


# The host's REST calls.


def test_registration_and_reports():
    async def main():
        async with ArenaHost(BARGAINING, access_token="open sesame") as host:
            key = {"Authorization": "Bearer open sesame"}
            async with aiohttp.ClientSession() as http:

                async def call(method, path, headers=key, **kind):
                    async with http.request(method, host.url + path, headers=headers, **kind) as reply:
                        return reply.status, await reply.json()

                async def register(agent_id, url, **more):
                    return (await call("POST", "/api/register", json={"agent_id": agent_id, "endpoint": url, **more}))[
                        0
                    ]

                body = {"agent_id": "ann", "endpoint": "http://127.0.0.1:1/x"}
                assert (await call("POST", "/api/register", headers={}, json=body))[0] == 401
                assert (await call("POST", "/api/register", headers={"Authorization": "Bearer é"}, json=body))[0] == 401
                for name in ("", "x" * 65, "a\nb", 3, None, "accept", "ann\n"):
                    assert await register(name, "http://127.0.0.1:1") in (400, 409), name
                for url in (
                    "",
                    "file:///etc/passwd",
                    "127.0.0.1",
                    "http://",
                    "http://a b",
                    3,
                    "http://a/?q",
                    "ftp://a",
                ):
                    assert await register("eve", url) == 400, url
                for data in (b"", b"[]", b"{", b"\xff", b"[" * 9999):
                    assert (await call("POST", "/api/register", data=data))[0] == 400
                assert await register("ann", "http://127.0.0.1:1/x", capabilities=["more"]) == 201
                assert await register("ann", "http://127.0.0.1:1/x") == 201
                assert await register("ann", "http://127.0.0.1:2/x") == 409
                assert (await call("GET", "/api/agents"))[1] == {"agents": ["ann"]}
                host.add(ours("bob"))
                result = await host.play(["ann", "bob"])
                status, found = await call("GET", f"/api/matches/{result.match_id}")
                assert (status, found["payoffs"]) == (200, result.payoffs)
                status, found = await call("GET", "/api/matches/nowhere")
                assert (status, found["error"]) == (404, "match_not_found")
                status, found = await call("GET", "/api/results")
                assert {line["agent_id"] for line in found["standings"]} == {"ann", "bob"}
                assert (await call("GET", "/health"))[1]["game_id"] == "bargaining-v0"

    run(main())


def test_agents_need_names_of_their_own():
    async def main():
        async with ArenaHost(BARGAINING) as host:
            host.add(ours("ann"))
            for agent, words in (
                (ours("ann"), "already"),
                (ours("accept"), "a word of bargaining"),
                (ours("x" * 65), "length"),
                (object(), "needs agent_id and act"),
            ):
                with pytest.raises(ValueError, match=words):
                    host.add(agent)
            with pytest.raises(ValueError, match="no agent is called 'eve'"):
                await host.play(["ann", "eve"])
            with pytest.raises(ValueError, match="1 agents"):
                await host.tournament()

    run(main())
    for wrong in ({"timeout": 0}, {"concurrent": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ArenaHost(BARGAINING, **wrong)


# Results.


def test_standings_are_means_with_intervals_and_ratings():
    def match(number, a, b, deal=None, efficiency=None):
        return MatchResult(str(number), "g", ["a", "b"], {"a": a, "b": b}, "end", deal=deal, efficiency=efficiency)

    lines = standings([match(0, 3.0, 1.0, True, 1.0), match(1, 5.0, 1.0, False, 0.0), match(2, 4.0, 1.0)])
    first, second = lines
    assert (first.agent_id, first.mean, first.matches, first.deals, first.efficiency) == ("a", 4.0, 3, 0.5, 0.5)
    assert first.high - first.mean == pytest.approx(1.96 * 1.0 / 3**0.5)
    assert (second.low, second.high) == (1.0, 1.0)
    assert first.rating > 25 > second.rating
    assert standings([match(0, 1.0, 2.0)])[0].low is None
    assert standings([]) == []


def test_without_openskill_there_are_no_ratings(monkeypatch):
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    result = MatchResult("m", "g", ["a", "b"], {"a": 1.0, "b": 0.0}, "end")
    assert rate([result]) == {}
    assert standings([result])[0].rating is None


def test_deals_and_efficiency_are_those_of_the_outcome():
    def bargained(low, high, outcome):
        states = [
            TurnState("m", "bargaining-v0", name, "", False, game_state={"total": 100, "my_reservation_value": value})
            for name, value in (("a", low), ("b", high))
        ]
        return assess(states, outcome)

    def pay(a, b):
        return {"payoffs": [{"agent_id": "a", "utility": a}, {"agent_id": "b", "utility": b}]}

    assert bargained(20, 30, {"reason": "agreement", **pay(30, 20)}) == (True, 1.0)
    assert bargained(20, 30, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (False, 0.0)
    assert bargained(60, 50, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (None, None)
    assert bargained(20, 30, {"reason": "error", **pay(0, 0)}) == (None, None)
    bidders = [
        TurnState("m", "auction-v0", name, "", False, game_state={"my_valuation": value})
        for name, value in (("a", 80.0), ("b", 60.0))
    ]
    assert assess(bidders, {"reason": "auction_resolved", "winner": "b", **pay(0, 9)}) == (True, 0.75)
    assert assess([TurnState("m", "holdem-v0", "a", "", False)], {"reason": "showdown", "payoffs": []}) == (None, None)


# The commands.


def test_the_host_command(capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    three = ["bargaining", "--agents", "fair", "fair", "random", "--rounds", "2", "--log", str(log)]
    assert cli.main(["host", "arena", *three, "--port", "0", "--seed", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {line["agent_id"]: line["matches"] for line in report["standings"]} == {"fair": 8, "fair-2": 8, "random": 8}
    assert sum(entry["kind"] == "end" for entry in match_log.read(log)) == 12
    three = ["holdem", "--agents", "call", "tight", "random", "--rounds", "1"]
    assert cli.main(["host", "arena", *three, "--port", "0", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "holdem-v0: 3 matches" in out
    assert "call-2" in out  # "call" is a word of hold'em


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("barganing",), "did you mean 'bargaining'"),
        (("bargaining", "--agents", "fiar", "fair"), "did you mean 'fair'"),
        (("bargaining", "--agents", "fair"), "1 agents for 2 seats"),
        (("bargaining", "--agents", "fair", "fair", "--rounds", "0"), "rounds=0"),
        (("bargaining", "--agents", "fair", "--remote", "http://x"), "name=http"),
        (("bargaining", "--agents", "fair", "fair", "--timeout", "0"), "timeout=0"),
        (("bargaining", "--agents", "fair", "fair", "--port", "70000"), "port=70000"),
        (("bargaining", "--agents", "fair", "fair", "--max-actions", "-3"), "actions=-3"),
    ],
)
def test_a_mistake_is_told_in_one_line(capsys, arguments, words):
    assert cli.main(["host", "arena", *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


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


def test_an_answer_of_every_allowed_message_fits():
    messages = [{"scope": "public", "content": "\u0001" * 4000}] * 10
    assert len(json.dumps({"action": {"action_type": "pass"}, "messages": messages})) < ANSWER_LIMIT
