"""The feeds beside a polling session: the chat of its players, and the events of its match."""

import logging
from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import Message, MessageScope
from ..common.client import UNREACHABLE, Backoff, LiveError, request_json
from .messages import STATE_LIMIT

logger = logging.getLogger(__name__)

MOST_MESSAGES = 1000
"""The latest messages of the chat that are kept."""
SECONDS = aiohttp.ClientTimeout(total=2.0)
"""The time of a request. The turn waits for it."""


class _SessionFeed:
    """Rows that an arena may send beside a session. A request that fails costs no turn.

    Args:
        http: the HTTP client.
        url: the URL of the feed.
        token: the player's token.
    """

    def __init__(self, http: aiohttp.ClientSession, url: URL, token: str) -> None:
        self._http = http
        self._url = url
        self._token = token
        self._next = 0
        self._exists = True

    async def _new_rows(self, name: str) -> list[Any]:
        """Return the rows from index `_next` on; [] if the arena has no feed, or does not answer."""
        if not self._exists:
            return []
        query = {"token": self._token, "index": str(self._next)}
        try:
            once = Backoff(0.0, 1)
            body = await request_json(self._http, "GET", self._url, once, STATE_LIMIT, params=query, timeout=SECONDS)
        except LiveError as error:
            self._exists = error.code == UNREACHABLE
            logger.info("%s cannot be read: %s", self._url, error)
            return []
        rows = body.get(name) if isinstance(body, Mapping) else None
        return rows if isinstance(rows, list) else []


class SessionChatClient(_SessionFeed):
    """The chat beside a session's match. Other players use it to speak at any time, and not in their turns only.

    Args:
        http: the HTTP client.
        sessions: the URL of the arena's sessions.
        token: the player's token.
    """

    def __init__(self, http: aiohttp.ClientSession, sessions: URL, token: str) -> None:
        super().__init__(http, sessions / "chat" / "sync", token)
        self._read: list[Message] = []

    async def read(self) -> list[Message]:
        """Return the messages of the chat that the player may read; without an answer, those read before."""
        # The answer's `total` is not used: one arena leaves out the messages that a player may not read.
        for row in await self._new_rows("messages"):
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
        return list(self._read)


class SessionEvents(_SessionFeed):
    """The refusals of one agent's actions in one session. The answer to an action may not contain them.

    The platform sends the events of all agents. Only the own actions are read, because the others' states are private.

    Args:
        http: the HTTP client.
        sessions: the URL of the arena's sessions.
        token: the player's token.
        agent_id: the agent's id in the match.
    """

    def __init__(self, http: aiohttp.ClientSession, sessions: URL, token: str, agent_id: str) -> None:
        super().__init__(http, sessions / "sync", token)
        self._agent_id = agent_id

    async def refused(self) -> list[tuple[str, str]]:
        """Return the actions that the platform refused since the last call as text, each with its reason."""
        events = await self._new_rows("events")
        self._next += len(events)
        refusals = list[tuple[str, str]]()
        for event in events:
            event = event if isinstance(event, Mapping) else {}
            data, own = (
                event.get("data"),
                (event.get("event_type"), event.get("agent_id")) == ("action", self._agent_id),
            )
            if own and isinstance(data, Mapping) and data.get("ok") is False:
                why = str(data.get("error_detail") or data.get("error"))
                refusals.append((f"{data.get('action_type')} {data.get('payload')}", why))
        return refusals
