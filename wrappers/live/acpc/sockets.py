"""The sockets of a match: an agent at a dealer, and a dealer of two clients."""

import asyncio
import contextlib
import logging

import numpy as np
from numpy.typing import NDArray

from ....envs.core.game import Game
from ...agents.base import Agent
from ..common.agent_runner import AgentDriver
from ..common.agent_turn import AgentStatistics
from ..common.clock import Deadline
from .messages import LONGEST, VERSION
from .sessions import AgentSession, HostSession, greeted

logger = logging.getLogger(__name__)

SECONDS = 7.0
"""Seconds for an answer; the ACPC's dealer gave ten."""


async def play_acpc(
    host: str,
    port: int,
    agent: Agent,
    game: Game,
    *,
    seconds: float = SECONDS,
    statistics: AgentStatistics | None = None,
) -> int:
    """Let an agent play the match of a dealer to its end, and return the number of hands.

    Args:
        host, port: the dealer's address.
        agent: the agent.
        game: heads-up hold'em with the stacks and blinds of the match, and ``button=1``.
        seconds: for an answer; then the safe action is played.
        statistics: the counters; None: new ones.

    Raises:
        OSError: if there is no dealer.
    """
    driver, session = AgentDriver(agent, statistics=statistics), AgentSession(game)
    await driver.warm_up()
    reader, writer = await asyncio.open_connection(host, port, limit=LONGEST)
    try:
        writer.write(f"{VERSION}\r\n".encode())
        while True:
            try:
                line = await reader.readline()
                turn = session.receive(line.decode("ascii", "replace"))
            except ValueError as error:  # also of a line that is too long
                logger.warning("a line was not understood: %s", error)
                continue
            if turn is not None:
                played = await driver.take(turn, Deadline.after(seconds))
                played.count(driver.statistics, "acpc")
                writer.write(f"{session.act(played.response)}\r\n".encode())
                await writer.drain()
            if not line:
                return session.hands
    except ConnectionError:
        return session.hands
    finally:
        writer.close()
        driver.close()


async def deal_acpc(
    clients: "asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]",
    game: Game,
    *,
    hands: int,
    seed: int | None = None,
    seconds: float = 10.0,
) -> NDArray[np.int64]:
    """Deal a match to the first two clients that come, and return what each has won: int64[2].

    Args:
        clients: the connections, as `asyncio.start_server` opens them with ``limit=LONGEST``.
        game: see `play_acpc`.
        hands: the number of hands.
        seed: of the deals.
        seconds: for an answer; then it is a check or a fold, as it is for one that is not legal.
    """
    seats: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    while len(seats) < 2:
        reader, writer = await clients.get()
        if greeted(await _line(reader, seconds)):
            seats.append((reader, writer))
        else:
            writer.close()
    session = HostSession(game, seed)
    while True:
        for (_, writer), line in zip(seats, session.lines(), strict=True):
            writer.write(f"{line}\r\n".encode())
        for _, writer in seats:
            with contextlib.suppress(ConnectionError):  # a player that is gone checks and folds
                await writer.drain()
        if session.turn is not None:
            session.receive(await _answer(seats[session.turn][0], session, seconds))
        elif session.hand + 1 < hands:
            session.go_on()
        else:
            break
    for _, writer in seats:
        writer.close()
    return session.totals


async def _answer(reader: asyncio.StreamReader, session: HostSession, seconds: float) -> str:
    """Return the next line that answers the state; empty if none comes in time. Answers to older states came late."""
    with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
        async with asyncio.timeout(seconds):
            while line := (await reader.readline()).decode("ascii", "replace"):
                if session.answers(line):
                    return line
    return ""


async def _line(reader: asyncio.StreamReader, seconds: float) -> str:
    """Return the next line; empty if none comes in time."""
    try:
        return (await asyncio.wait_for(reader.readline(), seconds)).decode("ascii", "replace")
    except (TimeoutError, ValueError, ConnectionError):
        return ""
