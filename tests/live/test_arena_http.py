"""Our arena over real HTTP on 127.0.0.1: agents behind HTTP, and its own REST calls."""

import asyncio
import json

import aiohttp
import pytest
from aiohttp import web
from live.arena_players import BARGAINING, FREE, endpoint, ours, run
from parlour import envs
from parlour.envs import TurnState
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.policies.base import RandomPolicy

# Over HTTP.


def test_our_agent_joins_over_http_and_sees_what_the_environment_shows(game_id, monkeypatch):
    """Law 1 over a real socket: the policy gets the very observations of the environment."""
    game = envs.game(game_id)
    seen, shown = [], []

    newest = max(game.versions)

    class Watched(RandomPolicy):
        encoder = newest

        def act(self, observations, masks):
            seen.append((observations.tobytes(), masks.tobytes()))
            return super().act(observations, masks)

    def watch(session, agent_id):
        seat = session.agent_ids.index(agent_id)
        table = session.match.table
        shown.append(
            (game.encoders[newest].observation(table, seat).tobytes(), session.game.mask(table, seat).tobytes())
        )
        return original(session, agent_id)

    from parlour.wrappers.live.common.match_session import MatchSession

    original = MatchSession.turn_state

    async def main():
        async with ArenaHost(game, limits=FREE, seed=3) as host:
            for seat in range(1, game.seats):
                host.add(ours(f"bot {seat}", game, RandomPolicy(seed=seat)))
            agent = ArenaAgent("over the wire", PolicyAgent(game, Watched(seed=9)))
            async with ArenaAgentServer(agent) as server:
                seen.clear()  # the rehearsal's
                await server.register(host.url)
                await host.wait_for(game.seats)
                monkeypatch.setattr(MatchSession, "turn_state", watch)
                await host.tournament(2)
                assert agent.statistics.replaced == 0
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
        async with ArenaHost(BARGAINING, server=ServerSettings(access_token="open sesame")) as host:
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

    run(main())


def test_agents_need_names_of_their_own():
    async def main():
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

    run(main())
    with pytest.raises(ValueError, match="timeout=0"):
        ArenaHost(BARGAINING, timeout=0)


def test_an_agent_can_leave_and_the_matches_are_listed():
    async def main():
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
                assert host.agent_ids == ["bot"]

    run(main())
