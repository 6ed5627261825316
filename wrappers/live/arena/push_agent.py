"""Agents over HTTP that the arena calls: it posts a TurnState to ``{endpoint}/act``."""

import msgspec
from aiohttp import web

from ....envs.core.turn_state import INVALID_PAYLOAD
from ...logs.match_log import MatchLog, describe_error
from ..common.agent_turn import read_state
from ..common.client import Backoff
from ..common.server import Server, ServerSettings, local_url, read_body
from .agent import ArenaAgent, ArenaDecisions, arena_client, arena_url, register
from .messages import ANSWER_SECONDS, STATE_LIMIT, MatchEnd, MatchStart


class ArenaAgentServer(Server):
    """An agent over HTTP: ``POST /act``, ``/match_start``, ``/match_end``, ``GET /health``.

    >>> async with ArenaAgentServer(ArenaAgent("me", agent)) as server:      # doctest: +SKIP
    ...     await server.register("http://127.0.0.1:9100")

    Args:
        agent: the agent; it runs in its own thread, one call at a time.
        server: where it listens.
        deadline: seconds for a decision; after them the safe action is the answer.
        endpoint: the URL under which arenas reach the agent; None: the address where it listens.
        log: the log of all decisions; None: no log.
    """

    def __init__(
        self,
        agent: ArenaAgent,
        *,
        server: ServerSettings | None = None,
        deadline: float = 0.8 * ANSWER_SECONDS,
        endpoint: str | None = None,
        log: MatchLog | None = None,
    ) -> None:
        super().__init__(server, body_limit=STATE_LIMIT)
        self.agent = agent
        self._endpoint = endpoint
        self._decisions = ArenaDecisions(agent, deadline, log)

    @property
    def endpoint(self) -> str:
        """The URL under which arenas reach the agent, after the start."""
        return self._endpoint or local_url(self.url)

    @property
    def turns(self) -> int:
        """Number of answered turns."""
        return self._decisions.turns

    @property
    def matches(self) -> int:
        """Number of ended matches."""
        return self._decisions.ended.count

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.post("/act", self._act),
            web.post("/match_start", self._match_start),
            web.post("/match_end", self._match_end),
            web.get("/health", self._health),
        ]

    async def opening(self) -> None:
        """Warm up the agent, if it has `warm_up`."""
        await self._decisions.open()

    async def closing(self) -> None:
        """Stop the agent's thread."""
        self._decisions.close()

    async def register(self, arena: str, access_token: str | None = None, retries: int = 10, wait: float = 1.0) -> None:
        """Register the agent at an arena.

        Args:
            arena: the arena's address, ``http://…``.
            access_token: the arena's access token; None: it has none.
            retries: number of further tries if the arena cannot be reached.
            wait: seconds between tries.

        Raises:
            ConnectionError: if the arena refuses, or cannot be reached after all tries.
            ValueError: if `arena` is not an HTTP URL.
        """
        body = {
            "agent_id": self.agent.agent_id,
            "endpoint": self.endpoint,
            "agent_type": "remote",
            "display_name": self.agent.agent_id,
            "supported_games": self.agent.supported_games,
        }
        url = arena_url(arena)
        async with arena_client(access_token) as http:
            await register(http, url, Backoff(wait, retries + 1, growth=1), body)

    async def played(self, matches: int | None = None) -> None:
        """Wait until this number of matches has ended; None: without end."""
        await self._decisions.ended.reached(matches)

    # The calls of an arena.

    async def _act(self, request: web.Request) -> web.Response:
        try:
            state = read_state(msgspec.json.decode(await read_body(request, ANSWER_SECONDS)))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            return unreadable(error)
        return web.json_response(body=(await self._decisions.decide(state)).to_json())

    async def _match_start(self, request: web.Request) -> web.Response:
        try:
            start = MatchStart.from_json(await read_body(request))
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self._decisions.match_started(start.match_id, start.game_id, start.agent_ids)
        return web.json_response({"ok": True})

    async def _match_end(self, request: web.Request) -> web.Response:
        try:
            end = MatchEnd.from_json(await read_body(request))
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self._decisions.match_ended(end.match_id, end.outcome)
        return web.json_response({"ok": True})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "agent_id": self.agent.agent_id})


def unreadable(error: Exception) -> web.Response:
    """Return HTTP 400 with the error of a request's body."""
    detail = describe_error(error)
    return web.json_response({"ok": False, "error": INVALID_PAYLOAD, "error_detail": detail}, status=400)
