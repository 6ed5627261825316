"""The events of a session: a platform writes there whether it took an action. Its answer to the call does not say."""

from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from ..common.http_client import request_json
from ..common.reconnecting import UNREACHABLE, Backoff, LiveError
from .messages import STATE_LIMIT
from .session_chat import SECONDS


class SessionEvents:
    """Reads the refusals of one agent's actions in one session.

    The platform sends the events of all agents. Nothing is read but the own actions, because the others' states are
    private.

    Args:
        http: the HTTP client.
        sessions: the URL of the arena's sessions.
        token: the player's token.
        agent_id: the agent's id in the match.
    """

    def __init__(self, http: aiohttp.ClientSession, sessions: URL, token: str, agent_id: str) -> None:
        self._http = http
        self._url = sessions / "sync"
        self._token = token
        self._agent_id = agent_id
        self._index = 0
        self._is_there = True

    async def refused(self) -> list[str]:
        """Return what the platform wrote of each action that it refused since the last call.

        It never costs a turn: where the arena has no events, or does not answer, there is nothing to return.
        """
        if not self._is_there:
            return []
        query = {"token": self._token, "index": str(self._index)}
        try:
            once = Backoff(0.0, 1)
            body = await request_json(self._http, "GET", self._url, once, STATE_LIMIT, params=query, timeout=SECONDS)
        except LiveError as error:
            self._is_there = error.code == UNREACHABLE
            return []
        events = body.get("events") if isinstance(body, Mapping) else None
        self._is_there = isinstance(events, list)
        if not isinstance(events, list):
            return []
        self._index += len(events)
        return [text for event in events if (text := self._refusal(event)) is not None]

    def _refusal(self, event: Any) -> str | None:
        data = event.get("data") if isinstance(event, Mapping) else None
        if not isinstance(data, Mapping) or event.get("event_type") != "action":
            return None
        if event.get("agent_id") != self._agent_id or data.get("ok") is not False:
            return None
        return f"{data.get('action_type')} {data.get('payload')}: {data.get('error_detail') or data.get('error')}"
