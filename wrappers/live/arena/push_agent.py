"""Our agents behind HTTP, where an arena calls them: it posts a TurnState to ``{endpoint}/act``."""

import msgspec
from aiohttp import web

from ....envs.core.turn_state import INVALID_PAYLOAD
from ...logs.log_text import describe_error
from ...logs.match_log import MatchLog
from ..common.reconnecting import Backoff
from ..common.server import Server, local_url, read_body
from .agent import ArenaAgent
from .decisions import ArenaDecisions, arena_client, arena_url, register
from .foreign_types import read_state
from .messages import ANSWER_SECONDS, STATE_LIMIT, MatchEnd, MatchStart


class ArenaAgentServer(Server):
    """An agent of ours behind HTTP: ``POST /act``, ``/match_start``, ``/match_end``, ``GET /health``.

    >>> async with ArenaAgentServer(ArenaAgent("me", agent), port=8100) as server:      # doctest: +SKIP
    ...     await server.register("http://127.0.0.1:9100")

    Args:
        agent: answers, in a thread of its own, one call at a time.
        address, port: where to listen; port 0 takes a free one.
        deadline: seconds for a decision, then the safe action.
        endpoint: the URL under which arenas reach us; None: the one we listen at.
        log: where every decision is written; None: nowhere.
    """

    def __init__(
        self,
        agent: ArenaAgent,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        deadline: float = 0.8 * ANSWER_SECONDS,
        endpoint: str | None = None,
        log: MatchLog | None = None,
    ) -> None:
        super().__init__(address=address, port=port, body_limit=STATE_LIMIT)
        self.agent = agent
        self._endpoint = endpoint
        self._decisions = ArenaDecisions(agent, deadline, log)

    @property
    def endpoint(self) -> str:
        """The URL under which arenas reach us, once started."""
        return self._endpoint or local_url(self.url)

    @property
    def turns(self) -> int:
        """Turns answered."""
        return self._decisions.turns

    @property
    def matches(self) -> int:
        """Matches that ended."""
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
        """Let the agent warm up, if it can."""
        await self._decisions.open()

    async def closing(self) -> None:
        """Let the agent go."""
        self._decisions.close()

    async def register(self, arena: str, access_token: str | None = None, retries: int = 10, wait: float = 1.0) -> None:
        """Send an arena our endpoint; again and again while it cannot be reached.

        Args:
            arena: its address, ``http://…``.
            access_token: what it asks of those who register, if it does.
            retries: further tries, before it is given up.
            wait: seconds between tries.

        Raises:
            ConnectionError: if it refuses us, or cannot be reached in the end.
            ValueError: if `arena` is no address.
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
        """Wait until so many matches have ended; None waits for ever."""
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
    """Return HTTP 400 with what was wrong with a body."""
    detail = describe_error(error)
    return web.json_response({"ok": False, "error": INVALID_PAYLOAD, "error_detail": detail}, status=400)
