"""Seconds until a person has the turn at a browser table."""

import time

from aiohttp import ClientSession
from parlour.envs import game as make_game
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.table.poker import PokerTable
from parlour.wrappers.policies.loading import make_policy

POKER = "holdem"
"""The game that has a table of its own."""


async def first_turn(name: str) -> float:
    """Open a table of a game with random bots, take its free seat and wait for the turn; return the processor time.

    Here the person is a client in the same process, whose part is small. The imports are not counted.
    """
    begun = time.process_time()
    game = make_game(name)
    bots = [(f"bot {seat}", PolicyAgent(game, make_policy("random", game, seed=seat))) for seat in range(1, game.seats)]
    table = (PokerTable if game.name == POKER else TableHost)(game, [None, *bots], seed=0)
    async with table, ClientSession(table.url) as page, page.ws_connect("/ws") as socket:
        await socket.send_json({"type": "sit", "name": "Ann"})
        while not (await socket.receive_json()).get("turn_state", {}).get("is_my_turn"):
            pass
    return time.process_time() - begun
