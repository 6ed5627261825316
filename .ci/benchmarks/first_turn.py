"""Seconds until a person has the turn at a browser table."""

import time
from typing import Any

from aiohttp import ClientSession
from parlour.envs import game as make_game
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.poker.host_session import PokerRules
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.table.poker import PokerTable
from parlour.wrappers.policies.loading import make_policy

POKER = "holdem"
"""The game that is played at a table of the poker host."""


async def first_turn(name: str) -> float:
    """Open a table of a game with random bots, take its free seat and wait for the turn; return the processor time.

    Here the person is a client in the same process, whose part is small. The imports are not counted.
    """
    begun = time.process_time()
    game = make_game(name)
    bots = [(f"bot {seat}", PolicyAgent(game, make_policy("random", game, seed=seat))) for seat in range(1, game.seats)]
    poker = game.name == POKER
    rules, programs = PokerRules(seats=game.seats, stack=200), dict(enumerate(bots, 1))
    table: Any = PokerTable(rules, programs, seed=0) if poker else TableHost(game, [None, *bots], seed=0)
    async with table, ClientSession(table.url) as page:
        await (_poker_turn if poker else _turn)(page)
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
