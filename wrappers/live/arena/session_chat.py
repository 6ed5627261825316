"""The chat of a polling session, as messages of a TurnState."""

import logging
from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import Message, MessageScope
from ..common.http_client import request_json
from ..common.reconnecting import UNREACHABLE, Backoff, LiveError
from .messages import STATE_LIMIT

logger = logging.getLogger(__name__)

MOST_MESSAGES = 1000
"""The latest messages of the chat that are kept."""
SECONDS = aiohttp.ClientTimeout(total=2.0)
"""How long the chat may take. The turn waits for it."""


class SessionChatClient:
    """The chat beside a session's match. Other players use it to speak at any time, and not in their turns only.

    Args:
        http: the HTTP client.
        url: of the arena's sessions.
        token: of the player.
    """

    def __init__(self, http: aiohttp.ClientSession, url: URL, token: str) -> None:
        self._http = http
        self._url = url / "chat" / "sync"
        self._token = token
        self._next = 0
        self._read: list[Message] = []
        self._is_there = True

    async def read(self) -> list[Message]:
        """Return the messages of the chat that the player may read.

        The chat never costs a turn: where the arena has none, or does not answer, these are the messages read before.
        """
        if self._is_there:
            query = {"token": self._token, "index": str(self._next)}
            try:
                once = Backoff(0.0, 1)
                body = await request_json(
                    self._http, "GET", self._url, once, STATE_LIMIT, params=query, timeout=SECONDS
                )
            except LiveError as error:
                self._is_there = error.code == UNREACHABLE
                logger.info("the chat cannot be read: %s", error)
            else:
                self._take(body)
        return list(self._read)

    def _take(self, body: Any) -> None:
        """Add the messages of an answer. Its `total` is not used: one arena leaves out what a player may not read."""
        rows = body.get("messages") if isinstance(body, Mapping) else None
        for row in rows if isinstance(rows, list) else ():
            if not isinstance(row, Mapping) or not isinstance(index := row.get("index"), int) or index < self._next:
                continue
            self._next = index + 1
            self._read.append(
                Message(
                    message_id=f"chat_{index}",
                    sender_id=str(row.get("sender_display_name") or row.get("sender_id")),
                    scope=MessageScope.PRIVATE if row.get("scope") == "private" else MessageScope.PUBLIC,
                    content=str(row.get("content", "")),
                )
            )
        del self._read[:-MOST_MESSAGES]
