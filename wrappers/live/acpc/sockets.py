"""The sockets of a match: an agent at a dealer, and a dealer of two clients."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from ...agents.base import Agent
from ...logs.safe_match_log import SafeMatchLog
from ..common.agent_turn import AgentStatistics
from ..common.clock import Deadline
from ..common.player import Player
from .messages import LONGEST, VERSION
from .sessions import AgentSession, HostSession, greeted

logger = logging.getLogger(__name__)

SECONDS = 7.0
"""Seconds for an answer. The competition's dealer allows that much for a hand, on average."""
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def play_acpc(
    host: str,
    port: int,
    agent: Agent,
    session: AgentSession,
    *,
    seconds: float = SECONDS,
    statistics: AgentStatistics | None = None,
    log: SafeMatchLog | None = None,
) -> None:
    """Let an agent play the match of a dealer to its end. The session counts the hands and chips.

    Args:
        host, port: the dealer's address.
        agent: the agent.
        session: a new session.
        seconds: for an answer; then the safe action is played.
        statistics: the counters; None: new ones.
        log: the match log.

    Raises:
        OSError: if there is no dealer.
    """
    player = Player(agent, log=log, statistics=statistics)
    await player.warm_up()
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
                played = await player.answer(turn, Deadline.after(seconds))
                writer.write(f"{session.act(played.response)}\r\n".encode())
                await writer.drain()
            if not line:
                return
    except ConnectionError:
        return
    finally:
        writer.close()
        player.close()


async def host_acpc(
    session: HostSession,
    *,
    hands: int,
    address: str = "127.0.0.1",
    port: int = 0,
    seconds: float = SECONDS,
    log: SafeMatchLog | None = None,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Deal a match to the first two clients that come. The session counts what each has won.

    Args:
        session: a new session.
        hands: number of hands.
        address, port: where to listen; port 0: a free one.
        seconds: for an answer; then it is a check, else a fold.
        log: the match log.
        ready: called with the port.
    """
    seats: list[Stream] = []
    full = asyncio.Event()

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = b""
        with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
            line = await asyncio.wait_for(reader.readline(), seconds)
        if full.is_set() or not greeted(line.decode("ascii", "replace")):
            writer.close()
            return
        seats.append((reader, writer))
        if len(seats) == 2:
            full.set()

    server = await asyncio.start_server(come, address, port, limit=LONGEST)
    try:
        ready(server.sockets[0].getsockname()[1])
        await full.wait()
        server.close()
        await _deal(session, seats, hands, seconds, log or SafeMatchLog(None))
    finally:
        server.close()
        for _, writer in seats:
            writer.close()


async def _deal(session: HostSession, seats: list[Stream], hands: int, seconds: float, log: SafeMatchLog) -> None:
    while True:
        for (_, writer), line in zip(seats, session.lines(), strict=True):
            writer.write(f"{line}\r\n".encode())
        for _, writer in seats:
            with contextlib.suppress(ConnectionError):  # a player that is gone checks and folds
                await writer.drain()
        if session.turn is not None:
            await _answer(session, seats[session.turn][0], seconds)
            continue
        log.write("hand", **session.logged())
        if session.hand + 1 == hands or all(reader.at_eof() for reader, _ in seats):
            return
        session.go_on()


async def _answer(session: HostSession, reader: asyncio.StreamReader, seconds: float) -> None:
    """Play the first answer to the state; none in time, or too long a line: a check, else a fold."""
    with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
        async with asyncio.timeout(seconds):
            while line := await reader.readline():
                if session.receive(line.decode("ascii", "replace")):
                    return
    session.give_up()
