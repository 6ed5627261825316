"""Our agents on TurnState arenas: in process as an object with `act`, or behind HTTP.

An arena calls ``act(state)`` with types of its own and gets the types that it needs; or it posts the state to
``{endpoint}/act``. A decision that raises, is late or cannot be read is replaced by the safe action, with one warning.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from ....envs.core.turn_state import INVALID_PAYLOAD, Action, AgentResponse, TurnState
from ...agents.base import Agent
from ...agents.offers import quiet_action
from ...agents.policy import PolicyAgent
from ...logs.log_text import describe_error
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.agent_driver import AgentAnswer, AgentDriver, Deadline, count_turn
from ..common.agent_statistics import AgentStatistics
from ..common.end_counter import EndCounter
from ..common.reconnecting import Backoff, LiveError, TryAgain, retry
from ..common.server import Server, local_url, read_body
from .agent_session import ArenaAgentSession, ArenaTurn
from .foreign_types import convert_to, read_state
from .messages import ANSWER_SECONDS, STATE_LIMIT, MatchEnd, MatchStart


class ArenaAgent:
    """An agent of ours as an arena wants it.

    Args:
        agent_id: its name in the arena.
        agent: what plays: a `PolicyAgent`, or whatever has `respond`.
        response_type: what `act` returns: a pydantic model, dataclass or struct. None: a dict for a dict, else the
            `AgentResponse` of the module that defines the state's class, else ours.

    Attributes:
        statistics: its counters, whether it is called in process or behind HTTP.
    """

    def __init__(self, agent_id: str, agent: Agent, response_type: Any = None) -> None:
        self.agent_id = agent_id
        self.agent = agent
        self.statistics = AgentStatistics()
        self.session = ArenaAgentSession(agent.game if isinstance(agent, PolicyAgent) else None)
        self._response_type = response_type

    def act(self, state: Any) -> Any:
        """Answer a turn in the caller's own types. Never raises for what the agent does.

        Raises:
            ValueError, TypeError: if `state` is no TurnState, naming the field.
        """
        return _as_caller(self.respond(read_state(state)), state, self._response_type)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; the safe action where the agent raises or answers what cannot be read."""
        if not state.is_my_turn:
            return out_of_turn(state)
        turn = self.session.turn(state)
        began, problem = time.monotonic(), turn.problem
        try:
            response = turn.response(self.agent.respond(turn.seen)) if problem is None else turn.safe_response()
        except Exception as error:  # whatever it is, the match goes on
            response, problem = turn.safe_response(), describe_error(error)
        answer = AgentAnswer(problem=problem, seconds=time.monotonic() - began)
        self.count(answer, state.match_id, response)
        return response

    def count(self, answer: AgentAnswer, match_id: str, response: AgentResponse) -> None:
        """Count an answered turn; of a match's turns that the safe action answered, the first one gets a warning."""
        warns = answer.problem is not None and self.session.is_first_problem(match_id)
        count_turn(self.statistics, answer, f"match {match_id}", response.action.action_type, warns)

    def get_metadata(self) -> dict[str, Any]:
        """Return what platforms write beside a match: the agent's id, what plays, and its game."""
        told = {"agent_id": self.agent_id, "type": type(self.agent).__name__}
        if isinstance(self.agent, PolicyAgent):
            told |= {"type": type(self.agent.policy).__name__, "game": self.agent.game.id}
        return told

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Learn who sits where."""
        self.session.match_started(match_id, agent_ids)

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Forget the match."""
        self.session.match_ended(match_id)


def out_of_turn(state: TurnState) -> AgentResponse:
    """Return what an agent answers where it is asked for words alone: none."""
    offered = [offer.action_type for offer in state.allowed_actions]
    silent = not offered or "message_only" in offered
    return AgentResponse(Action("message_only") if silent else quiet_action(state.allowed_actions))


def _as_caller(response: AgentResponse, state: Any, response_type: Any) -> Any:
    if response_type is None:
        if isinstance(state, TurnState):
            return response
        if isinstance(state, Mapping):
            return response.to_dict()
        response_type = getattr(sys.modules.get(type(state).__module__), "AgentResponse", None)
    return convert_to(response, response_type)


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

    Attributes:
        turns: turns answered.
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
        if deadline <= 0:
            raise ValueError(f"deadline={deadline}: seconds for a decision, above 0")
        super().__init__(address=address, port=port, body_limit=STATE_LIMIT)
        self.agent = agent
        self.turns = 0
        self._endpoint = endpoint
        self._deadline = deadline
        self._log = SafeMatchLog(log)
        self._matches = EndCounter()
        self._driver: AgentDriver

    @property
    def endpoint(self) -> str:
        """The URL under which arenas reach us, once started."""
        return self._endpoint or local_url(self.url)

    @property
    def matches(self) -> int:
        """Matches that ended."""
        return self._matches.count

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
        self._driver = AgentDriver(self.agent.agent, log=self._log, statistics=self.agent.statistics)
        await self._driver.warm_up()

    async def closing(self) -> None:
        """Let the agent go."""
        self._driver.close()

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
        url = URL(arena)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError(f"{arena} is no address: give http://… of the arena")
        body = {"agent_id": self.agent.agent_id, "endpoint": self.endpoint}
        headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)

        async def attempt() -> None:
            async with http.post(url / "api/register", json=body) as reply:
                if reply.status >= 500:
                    raise TryAgain(f"the arena answered with HTTP {reply.status}")
                if not reply.ok:
                    reason = (await reply.content.read(300)).decode(errors="replace")
                    raise LiveError(f"HTTP {reply.status}", reason)

        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as http:
            try:
                await retry(attempt, Backoff(wait, retries + 1, growth=1))
            except LiveError as error:
                raise ConnectionError(f"cannot register at {url}: {error}") from None

    async def played(self, matches: int | None = None) -> None:
        """Wait until so many matches have ended; None waits for ever."""
        await self._matches.reached(matches)

    # The calls of an arena.

    async def _act(self, request: web.Request) -> web.Response:
        try:
            state = read_state(msgspec.json.decode(await read_body(request, ANSWER_SECONDS)))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            return unreadable(error)
        self.turns += 1
        if state.is_my_turn:
            response = await self._decide(self.agent.session.turn(state))
        else:
            response = out_of_turn(state)
        return web.json_response(body=response.to_json())

    async def _decide(self, turn: ArenaTurn) -> AgentResponse:
        logged = turn.logged() if self._log else turn.state
        answer = AgentAnswer(problem=turn.problem)
        if turn.problem is None:
            answer = await self._driver.ask(turn.seen, Deadline.after(self._deadline), turn.refusal)
        response = turn.safe_response() if answer.problem is not None else turn.response(answer.response)
        self.agent.count(answer, turn.state.match_id, response)
        answer = replace(answer, thoughts=turn.thoughts(answer.thoughts))
        self._driver.write_turn(answer, logged, response)
        return response

    async def _match_start(self, request: web.Request) -> web.Response:
        try:
            start = MatchStart.from_json(await read_body(request))
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self.agent.on_match_start(start.match_id, start.game_id, start.agent_ids)
        self._log.write("joined", match_id=start.match_id, game_id=start.game_id, agent_ids=start.agent_ids)
        return web.json_response({"ok": True})

    async def _match_end(self, request: web.Request) -> web.Response:
        try:
            end = MatchEnd.from_json(await read_body(request))
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self._log.write("ended", match_id=end.match_id, outcome=end.outcome)
        self.agent.on_match_end(end.match_id, end.outcome)
        self._matches.add()
        return web.json_response({"ok": True})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "agent_id": self.agent.agent_id})


def unreadable(error: Exception) -> web.Response:
    """Return HTTP 400 with what was wrong with a body."""
    detail = describe_error(error)
    return web.json_response({"ok": False, "error": INVALID_PAYLOAD, "error_detail": detail}, status=400)
