"""`parlour host poker`: hosts poker tables over WebSocket."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from ....envs.core.counted import counted
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.common.server import local_url
from ....wrappers.live.poker.host import PokerHost, PokerRoom
from ....wrappers.live.poker.hosted_table import PokerTimes
from ....wrappers.live.poker.messages import in_words
from ....wrappers.live.poker.table_data import PokerRules
from ....wrappers.logs.safe_match_log import SafeMatchLog
from ...terminal.console import Console
from ..arguments import LiveArguments, SessionArguments, TlsServerArguments
from ..supervisor import Supervisor

PORT = TlsServerArguments(port=9000)


def command(
    *,
    seats: int = 9,
    tables: int = 1,
    small_blind: int = 1,
    big_blind: int = 2,
    stack: int = 100,
    min_players: int = 2,
    raise_cap: int | None = 4,
    hands: int | None = None,
    rebuy: bool = False,
    timeout: float = 30.0,
    hand_delay: float = 1.5,
    away_after: float = 300.0,
    observers: int = 20,
    state: Path | None = None,
    listening: TlsServerArguments = PORT,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Serve poker tables over WebSocket, until Ctrl-C, SIGTERM, or every table has played its hands.

    Args:
        seats: Seats per table, 2 to 10.
        tables: Number of open tables; a table that ends is replaced by a new one.
        small_blind: Chips of the small blind.
        big_blind: Chips of the big blind.
        stack: Chips of a new player.
        min_players: Number of connected players at which the first hand begins.
        raise_cap: The most bets and raises on a street; None: no cap.
        hands: Number of hands after which a table ends; the server ends when all tables have ended. None: no limit. An
            abandoned table does not count; its replacement does.
        rebuy: Whether a player without chips gets a new stack before the next hand.
        timeout: Seconds to act; then the host checks if possible, else folds. It acts at once for a seat without a
            connection, which sits out after two turns.
        hand_delay: Seconds between two hands.
        away_after: Seconds without a connection after which a player loses its seat. It keeps its chips.
        observers: The most connections that look on without a seat, at /v1/ws/observe/TABLE. They see no hidden cards.
        state: File that keeps agents, tables, seats, chips and tokens: started again with it, the host goes on where it
            was killed or stopped. A hand that was under way is void, and its stakes are returned.
    """
    console = Console()
    ended: Counter[str] = Counter()
    with Supervisor(live, session, console) as supervisor:
        match_log = SafeMatchLog(supervisor.log)

        def note(kind: str, **fields: Any) -> None:
            ended[kind] += 1
            match_log.write(kind, **fields)
            console.print(f"{fields['table_id']} {_line(kind, fields)}", markup=False)

        server = PokerHost(
            PokerRules(
                seats=seats,
                small_blind=small_blind,
                big_blind=big_blind,
                stack=stack,
                min_players=min_players,
                raise_cap=raise_cap,
                max_hands=hands,
                rebuy=rebuy,
            ),
            PokerTimes(act=timeout, hand=hand_delay, away=away_after),
            room=PokerRoom(tables=tables, observers=observers, state=state),
            seed=session.seed,
            server=listening.settings,
            on_event=note,
        )
        activity = Activity(counts=lambda: _counts(server, ended), failing=lambda: server.problem)
        supervisor.run(_serve(server, forever=hands is None, console=console), activity)


def _counts(server: PokerHost, ended: Counter[str]) -> dict[str, float]:
    """Return the numbers of a status line; `ended` counts the host's events by their kind."""
    counts, tables = server.counts, list(server.tables.values())
    return {
        "hands": ended["hand"],
        "turns": counts.turns,
        "replaced": counts.replaced,
        "refused": counts.refused,
        "tables": sum(table.ended_at is None for table in tables),
        "connections": server.connections,
    }


async def _serve(server: PokerHost, forever: bool, console: Console) -> None:
    async with server:
        token = " --access-token-file FILE" if server.settings.access_token else ""
        for line in (
            f"serving poker at {server.url} with the WebSocket {server.ws_url} (Ctrl-C ends it)",
            f"seat an agent with: parlour deploy poker tight --api {local_url(server.url)}{token}",
        ):
            console.print(line, markup=False, soft_wrap=True)
        await (asyncio.Event().wait() if forever else server.finished())


def _line(kind: str, event: dict[str, Any]) -> str:
    match kind:
        case "joined":
            return f"{event['name'] or event['agent_id']} takes seat {event['seat']}"
        case "left":
            return f"seat {event['seat']} leaves"
        case "hand":
            won = ", ".join(f"{row['won']} chips to seat {row['seat']}" for row in event["results"] if row["won"])
            return f"hand {event['hand']}: from the pot {won}"
        case _:
            return f"ended after {counted(event['hands'], 'hands')}: {in_words(event['reason'])}"
