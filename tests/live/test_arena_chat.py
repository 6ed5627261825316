"""The chat of a session, as our polling agent reads it."""

import asyncio

import aiohttp
from aiohttp import web
from live.arena_players import BARGAINING, run
from live.arena_sessions import QUICK, Client
from live.small_server import served
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.arena.polling_agent import ArenaPollingAgent
from parlour.wrappers.live.arena.session_feeds import SessionChatClient
from yarl import URL


class Listener:
    """An agent that stores the messages that it is shown, and passes."""

    def __init__(self):
        self.heard = []

    def respond(self, state):
        self.heard.append([(message.sender_id, message.scope.value, message.content) for message in state.messages])
        return AgentResponse(Action("pass"))


def test_the_agent_reads_the_chat_with_every_turn():
    listener = Listener()

    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            person = Client(http, host.url)
            _, seat = await person.post("create", game_id="unfair-split", player_name="ann")
            token = seat["token"]
            await person.post("chat", token=token, content="good morning")
            agent = ArenaAgent("us", listener)
            async with ArenaPollingAgent(agent, host.url, games=["unfair-split"], times=QUICK) as player:
                playing = asyncio.create_task(player.play(1, 1, invites=seat["invite_codes"]))
                await person.turn(token)
                await person.post("chat", token=token, content="half each?", scope="private", to_player_ids=["nobody"])
                await person.post("chat", token=token, content="I mean it")
                await person.post("act", token=token, action_type="submit_offer", payload={"my_share": 50})
                while (await person.turn(token))["status"] == "running":
                    await person.post("act", token=token, action_type="pass", payload={})
                await playing
            return player

    player = run(main())
    assert player.matches == 1
    assert listener.heard[-1][:2] == [("ann", "public", "good morning"), ("ann", "public", "I mean it")]


def test_a_chat_that_is_broken_or_missing_costs_nothing():
    said = {"index": 4, "sender_id": "p1", "sender_display_name": "ann", "content": "hello", "scope": "public"}
    answers = [
        web.json_response({"messages": ["junk", {"index": "x"}, said], "total": 1}),
        web.json_response([]),
        web.Response(status=500),
        web.json_response({"messages": [said, {"index": 5, "sender_id": "p2", "scope": "private"}], "total": 2}),
        web.Response(status=404),
    ]
    asked = []

    async def sync(request):
        asked.append(request.query["index"])
        return answers.pop(0)

    async def main():
        routed = web.get("/api/sessions/chat/sync", sync)
        async with served(routed) as address, aiohttp.ClientSession() as http:
            chat = SessionChatClient(http, URL(f"http://{address}/api/sessions"), "pt")
            return [[(one.sender_id, one.content) for one in await chat.read()] for _ in range(6)]

    hello = [("ann", "hello")]
    assert run(main()) == [hello, hello, hello, [*hello, ("p2", "")], [*hello, ("p2", "")], [*hello, ("p2", "")]]
    assert asked == ["0", "5", "5", "5", "6"]  # after the 404 it is not asked again
