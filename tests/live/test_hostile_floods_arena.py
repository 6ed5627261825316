"""Both ends of the arena's HTTP interface under a flood of broken bodies; see `flooding` for their number."""

import asyncio

import aiohttp
from live.arena_players import BARGAINING, FREE, Client, ours, polling
from live.flooding import beside, each, no_traceback, pool
from parlour.wrappers.live.arena.agent import ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost

OFFER = {"action_type": "submit_offer", "payload": {"my_share": 50}}


def bodies(**calls):
    """Broken bodies with the calls that they are for."""
    pools = {call: pool(body) for call, body in calls.items()}
    return [
        (call, frame) for frames in zip(*pools.values(), strict=True) for call, frame in zip(pools, frames, strict=True)
    ]


async def post(http, url, frame):
    """Send a body; whatever it is, it is answered, and never with an error of ours."""
    data = frame if isinstance(frame, bytes) else frame.encode(errors="replace")
    async with http.post(url, data=data) as reply:
        assert reply.status < 500, (url, frame, await reply.text())
        await reply.read()


def test_a_host_plays_on_with_agents_that_poll_and_agents_that_it_calls(caplog):
    matches = 0

    async def sessions(url):
        """Two honest players meet in sessions."""
        nonlocal matches
        async with aiohttp.ClientSession() as http:
            client = Client(http, url)
            while True:
                _, ann = await client.post("create", player_name="ann")
                async with polling("bob", url) as bob:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(bob.play(1, 1, invites=ann["invite_codes"]))
                        while (state := await client.turn(ann["token"]))["status"] == "running":
                            _, told = await client.post("act", token=ann["token"], **OFFER)
                            assert told == {"ok": True}, state
                        assert state["status"] == "finished" and state["error"] is None, state
                    assert (bob.matches, bob.lost, bob.agent.statistics.replaced) == (1, 0, 0)
                matches += 1

    async def called(host):
        """Two honest agents are called by the host."""
        nonlocal matches
        async with ArenaAgentServer(ours("cat")) as cat, ArenaAgentServer(ours("dan")) as dan:
            for server in (cat, dan):
                await server.register(host.url)
            while True:
                for result in await host.tournament(1, ["cat", "dan"]):
                    assert not any(result.rejected.values()) and not any(result.failed.values()), result
                    matches += 1

    async def main():
        async with ArenaHost(BARGAINING, limits=FREE) as host, aiohttp.ClientSession() as http:
            _, seat = await Client(http, host.url).post("create", player_name="eve")
            wire = {"scope": "public", "content": "hello", "to_agent_ids": ["ann"]}
            frames = bodies(
                **{
                    "register": {"agent_id": "eve", "endpoint": "http://127.0.0.1:9/", "supported_games": []},
                    "unregister": {"agent_id": "eve"},
                    "match": {"agent_ids": ["eve", "ann"], "num_matches": 1},
                    "sessions/create": {"game_id": "unfair-split", "player_name": "eve", "num_players": 2},
                    "sessions/join": {"invite_code": seat["invite_codes"][0], "player_name": "mallory"},
                    "sessions/act": {"token": seat["token"], **OFFER, "messages": [wire]},
                }
            )
            async with beside(sessions(host.url)), beside(called(host)):
                await each(lambda _, frame: post(http, f"{host.url}/api/{frame[0]}", frame[1]), frames)
                played = matches
                while matches < played + 4:
                    await asyncio.sleep(0.01)

    asyncio.run(main())
    no_traceback(caplog)
