"""PokerTable: hold'em in the browser. It is the poker host with a page, and programs in some seats.

The page and the programs are clients of the host, by Moltpoker's protocol.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Self

from aiohttp import web

from ....envs.holdem import game as holdem
from ....envs.holdem import small_picture
from ...agents.base import Agent
from ..common.origins import Origins
from ..common.reconnecting import LiveError
from ..common.tokens import bearer_token
from ..poker import messages
from ..poker.agent import play
from ..poker.host import PokerHost
from ..poker.seats import Refusal
from .host import MOST_CLIENTS, page
from .poker_view import turn_state

AWAY = 120.0
"""Seconds without a connection after which a person loses the seat."""
COME_BACK = 1.0
"""Seconds after which a program without a seat tries again."""
JOINING = 60.0
"""The timeout in seconds for all programs to take their seats."""

logger = logging.getLogger(__name__)


class PokerTable:
    """A poker table for people and programs. Use it as an async context manager, or call `start` and `stop`.

    The first hand is dealt when every seat is taken. When the table ends (one player has all chips, or the last hand
    is played) a new one opens, and the programs take their seats again.

    Args:
        seats: number of seats.
        programs: name and agent by seat. The other seats, at least one, are for people.
        address, port: the address to listen on; port 0 chooses a free one.
        names: further host names under which browsers may reach the server.
        access_token: the token that agents need to register; None: no token.
        options: the other arguments of `poker.host.PokerHost`.

    Attributes:
        host: the poker server.
        url: the URL of the page, after the start.

    Raises:
        ValueError: if no seat is left for a person; or for a wrong option.
    """

    def __init__(
        self,
        seats: int,
        programs: Mapping[int, tuple[str, Agent]],
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        names: tuple[str, ...] = (),
        access_token: str | None = None,
        on_event: Callable[..., None] | None = None,
        **options: Any,
    ) -> None:
        people = [seat for seat in range(seats) if seat not in programs]
        if not people:
            raise ValueError(f"all {seats} seats are taken by programs: leave one to a person")
        self._programs = programs
        self._access_token = access_token
        self._tasks: list[asyncio.Task[None]] = []
        self._inside = ""  # where the programs connect
        self._joined = 0
        self._all_joined = asyncio.Event()
        self._on_event = on_event or (lambda kind, **fields: None)
        self.host = PokerHost(
            seats=seats,
            min_players=seats,
            away_after=AWAY,
            address=address,
            port=port,
            access_token=access_token,
            observers=MOST_CLIENTS,
            beside=[
                web.get("/v1/tables/{table_id}/view", self._view),
                *page(holdem(seats=seats), protocol="poker", people=people),
            ],
            origins=Origins.of(address, names),
            on_event=self._count_joins,
            **options,
        )

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The certificate that the server shows (see `Server`); set it before the start."""
        return self.host.tls

    @tls.setter
    def tls(self, tls: ssl.SSLContext | None) -> None:
        self.host.tls = tls

    @property
    def url(self) -> str:
        """The URL of the page, after the start."""
        return self.host.url

    async def start(self) -> None:
        """Start to listen, and let the programs take their seats.

        Raises:
            OSError: if the port is taken.
            TimeoutError: if a program does not get its seat in time.
        """
        await self.host.start()
        # The programs are in this process: they need no certificate, and it may have another name than this address.
        self._inside = self.host.url if self.tls is None else await self.host.open_loopback()
        for seat, (name, agent) in self._programs.items():
            self._tasks.append(asyncio.create_task(self._stay(seat, name, agent)))
        if self._programs:
            async with asyncio.timeout(JOINING):
                await self._all_joined.wait()

    async def stop(self) -> None:
        """Stop the programs and the server."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.host.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _stay(self, seat: int, name: str, agent: Agent) -> None:
        """Play at one table after another, in this seat."""
        while True:
            try:
                await play(
                    self._inside, agent, name=name, seat=seat, access_token=self._access_token, retry_after=COME_BACK
                )
            except LiveError as error:  # another player took the seat; there will be a new table
                logger.warning("%s has no seat: %s", name, error)
                await asyncio.sleep(COME_BACK)

    async def _view(self, request: web.Request) -> web.Response:
        """Answer with the picture of a table and the actions of its hand, as the seat of the session token sees them.

        Without a token they are what somebody who watches sees. The query ``narrow`` asks for the picture for phones.
        """
        table_id, token = request.match_info["table_id"], bearer_token(request)
        found = self.host.admit(token) if token else None
        table = self.host.tables.get(table_id)
        if table is None or (found is not None and found.table is not table):
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a} for this seat")
        state = turn_state(table.session, None if found is None else found.seat)
        game = state.game_state
        own: dict[str, Any] = next((row for row in game["players"] if row["seat"] == game["seat"]), {})
        facts = {name: game[name] for name in ("hand", "history", "smallBlind", "bigBlind")}
        narrow = "narrow" in request.query
        drawn = (small_picture.picture if narrow else table.session.game.renderer.picture)([state])
        return web.json_response({"picture": drawn, "rank": own.get("rank", ""), **facts})

    def _count_joins(self, kind: str, **fields: Any) -> None:
        if kind == "joined":
            self._joined += 1
            if self._joined >= len(self._programs):
                self._all_joined.set()
        self._on_event(kind, **fields)
