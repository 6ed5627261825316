"""One table after another: an agent that goes on until it is stopped, or has played what it was to play."""

import asyncio
import logging
from collections.abc import Callable

from ..common.reconnecting import UNREACHABLE, LiveError
from . import messages
from .rest_client import PokerRestClient
from .table_connection import PokerResult, TableConnection

logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""Seconds that are waited at most before the next table is joined."""
WAIT = (messages.TABLE_FULL, messages.INVALID_TABLE_STATE, messages.ALREADY_SEATED)
"""What a join may answer that another time it does not."""
KEY_REFUSED = (messages.UNAUTHORIZED, messages.INVALID_API_KEY, messages.AGENT_NOT_FOUND)
"""What a server answers that does not know our key (any longer)."""
FOR_GOOD = (messages.OUTDATED_CLIENT, messages.VALIDATION_ERROR, messages.REAL_MONEY)
"""What no waiting changes."""


class TableLoop:
    """Joins a table, plays there until it ends or our chips are gone, and joins the next.

    Between two tables it waits: `retry_after` seconds where hands were played, else longer each time, up to
    `LONGEST_WAIT`. It gives up only where nothing was ever played: then an address or a key may be wrong.

    Args:
        rest: registers and joins.
        connect: returns the connection to the next table, given the hands that are left (None: any number).
        hands: stop after so many in all.
        retry_after: seconds.
    """

    def __init__(
        self,
        rest: PokerRestClient,
        connect: Callable[[int | None], TableConnection],
        hands: int | None,
        retry_after: float,
    ) -> None:
        self.result = PokerResult()
        self._rest = rest
        self._connect = connect
        self._hands = hands
        self._retry_after = retry_after
        self._failures = 0
        self._connection: TableConnection | None = None
        self._leaving = ""
        self._wake = asyncio.Event()

    async def play(self) -> PokerResult:
        """Play at one table after another.

        Raises:
            LiveError: if the server refuses us for good, or was never reached.
        """
        while not self._leaving:
            hands = self.result.hands
            await self._play_table()
            if self.result.reason in ("hands", "until"):
                return self.result
            self._failures = 0 if self.result.hands > hands else self._failures + 1
            wait = min(self._retry_after * (self._failures + 1), max(LONGEST_WAIT, self._retry_after))
            logger.info("%s; the next table in %.1f s", self.result.reason, wait)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                self._rest.forget_seat()
        self.result.reason = self._leaving
        return self.result

    async def leave(self, reason: str) -> None:
        """Stop after this hand, at once where we have no cards."""
        self._leaving = reason
        self._wake.set()
        if self._connection is not None:
            await self._connection.leave(reason)

    async def _play_table(self) -> None:
        left = None if self._hands is None else self._hands - self.result.hands
        self._connection = connection = self._connect(left)
        connection.backoff.reached = self.result.tables > 0
        try:
            await connection.play()
            self.result.add(connection.result)
        except LiveError as error:
            self.result.add(connection.result)
            self.result.reason = str(error)
            if not await self._may_go_on(error):
                raise
            logger.warning("%s", error)
        finally:
            self._connection = None

    async def _may_go_on(self, error: LiveError) -> bool:
        """Return whether another join may work; forget a key or a seat that stands in its way."""
        rest = self._rest
        if error.code in FOR_GOOD:
            return False
        if error.code in KEY_REFUSED and not rest.seated:
            return rest.forget_key()
        if error.code in (messages.SESSION_EXPIRED, messages.INVALID_SESSION):
            await rest.leave()  # a seat that nobody can play any longer
        if error.code == messages.ALREADY_SEATED:  # a seat of ours whose token is lost, as after a crash
            table = error.details.get("table_id")
            await (rest.leave(table) if isinstance(table, str) else rest.leave_waiting())
        return self.result.tables > 0 or (error.code in WAIT) or (rest.seated and error.code != UNREACHABLE)
