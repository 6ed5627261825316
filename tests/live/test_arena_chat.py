"""The chat of a session, as our polling agent reads it."""

import aiohttp
from aiohttp import web
from live.arena_players import run
from live.small_server import served
from parlour.wrappers.live.arena.polling_agent import SessionChatClient
from yarl import URL


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
