"""Seconds until a person has the turn at a browser table."""

import time

from aiohttp import ClientSession

from ...envs import game as make_game
from ..commands.arguments import TableArguments
from ..commands.browser_tables import POKER, browser_table, players_of


async def first_turn(name: str) -> float:
    """Open a table of a game with random bots, take its free seat and wait for the turn; return the processor time.

    Here the person is a client in the same process, whose part is small. The imports are not counted.
    """
    begun = time.process_time()
    game, settings = make_game(name), TableArguments(delay=0)
    players = players_of(game, ["human", *["random"] * (game.seats - 1)], settings, seed=0)
    async with browser_table(game, players, settings, seed=0) as table, ClientSession(table.url) as page:
        await (_poker_turn if game.name == POKER else _turn)(page)
    return time.process_time() - begun


async def _turn(page: ClientSession) -> None:
    async with page.ws_connect("/ws") as socket:
        await socket.send_json({"type": "sit", "name": "Ann"})
        while not (await socket.receive_json()).get("turn_state", {}).get("is_my_turn"):
            pass


async def _poker_turn(page: ClientSession) -> None:
    async with page.post("/v1/agents", json={"name": "Ann"}) as reply:
        key = {"Authorization": f"Bearer {(await reply.json())['api_key']}"}
    async with page.post("/v1/tables/auto-join", json={}, headers=key) as reply:
        seat = await reply.json()
    async with page.ws_connect(f"{seat['ws_url']}?token={seat['session_token']}&format=agent") as socket:
        while "turn_token" not in await socket.receive_json():
            pass
