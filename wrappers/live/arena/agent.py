"""Our agents on TurnState arenas: in process as an object with `act`, or behind HTTP.

An arena calls ``act(state)`` with types of its own and gets what those types need; or it posts the state to
``{endpoint}/act``. A decision that raises, is late or cannot be read is replaced by the safe action, with one warning.
"""

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Self

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from ....envs.core.turn_state import INVALID_PAYLOAD, Action, AgentResponse, TurnState
from ...agents.base import Agent, thoughts
from ...agents.policy import PolicyAgent
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts, without_images
from ..common.worker import Worker, described
from .messages import ANSWER_WITHIN, MatchEnd, MatchStart, Names, native, plain, read_response, read_state

logger = logging.getLogger(__name__)

STATE_LIMIT = 2**23
"""Bytes a TurnState may have: it carries the whole chat."""
MATCHES = 10_000
"""Matches whose order of seats is remembered."""
WAY_OUT = ("pass", "check", "fold")
"""What is safe where the game is not known, in this order."""


class ArenaAgent:
    """An agent of ours as an arena wants it.

    Args:
        agent_id: its name in the arena.
        agent: what plays: a `PolicyAgent`, or whatever has `respond`.
        response_type: what `act` returns: a pydantic model, dataclass or struct. None: a dict for a dict, else the
            `AgentResponse` of the module that defines the state's class, else ours.

    Attributes:
        replaced: decisions that the safe action took the place of.
    """

    def __init__(self, agent_id: str, agent: Agent, response_type: Any = None) -> None:
        self.agent_id = agent_id
        self.agent = agent
        self.replaced = 0
        self._response_type = response_type
        self._orders: dict[str, list[str]] = {}

    def act(self, state: Any) -> Any:
        """Answer a turn in the caller's own types. Never raises for what the agent does.

        Raises:
            ValueError, TypeError: if `state` is no TurnState, naming the field.
        """
        return _as_caller(self.respond(read_state(state)), state, self._response_type)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; the safe action where the agent raises or answers what cannot be read."""
        return self._respond(state)[0]

    def noted(self, state: TurnState) -> tuple[AgentResponse, dict[str, Any]]:
        """Answer a turn as `respond` does; return with it what a log notes: thoughts, or why it was ``replaced``."""
        response, problem = self._respond(state)
        return response, safe_thoughts(lambda: self._thoughts(state)) if problem is None else {"replaced": problem}

    def _respond(self, state: TurnState) -> tuple[AgentResponse, str | None]:
        if not state.is_my_turn:
            return AgentResponse(Action("message_only")), None
        names, seen = self._seats(state)
        try:
            response = read_response(plain(self.agent.respond(seen)))
        except Exception as error:  # whatever it is, the match goes on
            problem = described(error)
            return self.safe(state, problem), problem
        return response if names is None else names.response_outward(response), None

    def _thoughts(self, state: TurnState) -> dict[str, Any]:
        """Return what the agent tells of its answer, with the arena's names in it."""
        thought = thoughts(self.agent)
        names, _ = self._seats(state)
        if names is not None and "probabilities" in thought:
            chances = thought["probabilities"].items()
            thought["probabilities"] = {names.words_outward(answer): chance for answer, chance in chances}
        return thought

    def safe(self, state: TurnState, problem: str) -> AgentResponse:
        """Return the safe action, because of a problem that is told in the log."""
        response = self._safe(state)
        self.replaced += 1
        logger.warning("match %s: %s instead of an answer: %s", state.match_id, response.action.action_type, problem)
        return response

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Learn who sits where."""
        self._orders[match_id] = list(agent_ids)
        if len(self._orders) > MATCHES:
            del self._orders[next(iter(self._orders))]

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Forget the match."""
        self._orders.pop(match_id, None)

    def _seats(self, state: TurnState) -> tuple[Names | None, TurnState]:
        """Return the state as our game names its seats, where we know who sits where."""
        state = native(state)
        order = self._orders.get(state.match_id)
        game = self.agent.game if isinstance(self.agent, PolicyAgent) else None
        if game is None or order is None or len(order) != game.seats or len(set(order)) != len(order):
            return None, state
        names = Names(order, game.agents)
        return names, names.inward(state)

    def _safe(self, state: TurnState) -> AgentResponse:
        if isinstance(self.agent, PolicyAgent):
            game = self.agent.game
            try:
                tables, _seat = game.view.load(self._seats(state)[1])
                return AgentResponse(game.view.encode(tables[0], game.view.safe(tables[0])).action)
            except Exception as error:  # a state of another kind than our game's
                logger.warning("match %s: the state cannot be loaded: %s", state.match_id, described(error))
        names = [allowed.action_type for allowed in state.allowed_actions]
        return AgentResponse(Action(next((name for name in WAY_OUT if name in names), "pass")))


def _as_caller(response: AgentResponse, state: Any, response_type: Any) -> Any:
    if response_type is None:
        if isinstance(state, TurnState):
            return response
        if isinstance(state, Mapping):
            return response.to_dict()
        response_type = getattr(sys.modules.get(type(state).__module__), "AgentResponse", None)
    return converted(response, response_type)


def converted(value: msgspec.Struct, kind: Any) -> Any:
    """Return a value of ours as a dict, a pydantic model or a dataclass; itself where `kind` is none of them."""
    if not isinstance(kind, type):
        return value
    if hasattr(kind, "model_validate"):
        return kind.model_validate(msgspec.to_builtins(value))
    if issubclass(kind, Mapping):
        return msgspec.to_builtins(value)
    if is_dataclass(kind):
        return msgspec.convert(msgspec.to_builtins(value), kind)
    return value


class ArenaAgentServer:
    """An agent of ours behind HTTP: ``POST /act``, ``/match_start``, ``/match_end``, ``GET /health``.

    >>> async with AgentServer(ArenaAgent("me", agent), port=8100) as server:      # doctest: +SKIP
    ...     await server.register("http://127.0.0.1:9100")

    Args:
        agent: answers, in a thread of its own, one call at a time.
        address, port: where to listen; port 0 takes a free one.
        deadline: seconds for a decision, then the safe action.
        endpoint: the URL under which arenas reach us; None: the one we listen at.
        log: where every decision is written; None: nowhere.

    Attributes:
        endpoint: that URL, once started.
        matches: matches that ended.
        turns: turns answered.
    """

    def __init__(
        self,
        agent: ArenaAgent,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        deadline: float = 0.8 * ANSWER_WITHIN,
        endpoint: str | None = None,
        log: MatchLog | None = None,
    ) -> None:
        if deadline <= 0:
            raise ValueError(f"deadline={deadline}: seconds for a decision, above 0")
        self.agent = agent
        self.endpoint = endpoint or ""
        self.matches = self.turns = 0
        self._deadline = deadline
        self._book = SafeMatchLog(log)
        self._address, self._port = address, port
        self._ended = asyncio.Event()
        self._worker: Worker | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Let the agent rehearse, if it can, and listen.

        Raises:
            OSError: if the port is taken.
        """
        warm_up = getattr(self.agent.agent, "warm_up", None)
        if warm_up is not None:
            try:
                await asyncio.to_thread(warm_up)
            except Exception as error:  # it may yet do better in a match
                logger.warning("the agent failed in rehearsal: %s", described(error))
        self._worker = Worker()
        app = web.Application(client_max_size=STATE_LIMIT)
        app.add_routes(
            [
                web.post("/act", self._act),
                web.post("/match_start", self._match_start),
                web.post("/match_end", self._match_end),
                web.get("/health", self._health),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        self.endpoint = self.endpoint or listening(self._runner)

    async def stop(self) -> None:
        """Stop listening."""
        if self._worker is not None:
            self._worker.stop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def register(self, arena: str, access_token: str | None = None, retries: int = 10, wait: float = 1.0) -> None:
        """Tell an arena where we are; again and again while it cannot be reached.

        Raises:
            ConnectionError: if it refuses us, or cannot be reached in the end.
            ValueError: if `arena` is no address.
        """
        url = URL(arena)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError(f"{arena} is no address: give http://… of the arena")
        body = {"agent_id": self.agent.agent_id, "endpoint": self.endpoint}
        headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        timeout = aiohttp.ClientTimeout(total=ANSWER_WITHIN)
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as http:
            for attempt in range(retries + 1):
                try:
                    async with http.post(url / "api/register", json=body) as reply:
                        if reply.ok:
                            return
                        if reply.status < 500:
                            said = (await reply.content.read(300)).decode(errors="replace")
                            raise ConnectionRefusedError(f"{url} refuses us: HTTP {reply.status} {said}")
                        problem = f"HTTP {reply.status}"
                except (aiohttp.ClientError, TimeoutError) as error:
                    problem = type(error).__name__
                logger.warning("cannot register at %s: %s (%d of %d)", url, problem, attempt + 1, retries + 1)
                await asyncio.sleep(wait)
        raise ConnectionError(f"cannot register at {url}: {problem}; gave up after {retries + 1} tries")

    async def played(self, matches: int | None = None) -> None:
        """Wait until so many matches have ended; None waits for ever."""
        while matches is None or self.matches < matches:
            self._ended.clear()
            await self._ended.wait()

    async def _act(self, request: web.Request) -> web.Response:
        try:
            state = read_state(msgspec.json.decode(await request.read()))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            return unreadable(error)
        self.turns += 1
        seen = _logged(state) if self._book and state.is_my_turn else None
        response, note = await self._decide(state)
        if seen is not None:
            self._book.write("turn", turn_state=seen, response=response, **note)
        return web.json_response(body=response.to_json())

    async def _decide(self, state: TurnState) -> tuple[AgentResponse, dict[str, Any]]:
        """Return the answer, and what the log notes of it."""
        assert self._worker is not None
        if self._worker.stuck:
            problem = "still busy with an earlier turn"
        else:
            try:
                async with asyncio.timeout(self._deadline):
                    if self._book:
                        noted: tuple[AgentResponse, dict[str, Any]] = await self._worker.call(self.agent.noted, state)
                        return noted
                    return await self._worker.call(self.agent.respond, state), {}
            except TimeoutError:
                problem = f"no answer within {self._deadline:g} s"
            except RuntimeError as error:
                problem = str(error)
        return self.agent.safe(state, problem), {"replaced": problem}

    async def _match_start(self, request: web.Request) -> web.Response:
        try:
            start = MatchStart.from_json(await request.read())
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self.agent.on_match_start(start.match_id, start.game_id, start.agent_ids)
        self._book.write("joined", match_id=start.match_id, game_id=start.game_id, agent_ids=start.agent_ids)
        return web.json_response({"ok": True})

    async def _match_end(self, request: web.Request) -> web.Response:
        try:
            end = MatchEnd.from_json(await request.read())
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        self.matches += 1
        self._book.write("ended", match_id=end.match_id, outcome=end.outcome)
        self._ended.set()
        self.agent.on_match_end(end.match_id, end.outcome)
        return web.json_response({"ok": True})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "agent_id": self.agent.agent_id})


def _logged(state: TurnState) -> dict[str, Any]:
    """Return what a log holds of a state, taken before an agent can change it: as our games write it, if it is one."""
    try:
        return without_images(native(state)).to_dict()
    except (LookupError, TypeError, ValueError, AttributeError):
        return without_images(state).to_dict()


def unreadable(error: Exception) -> web.Response:
    """Return HTTP 400 with what was wrong with a body."""
    return web.json_response({"ok": False, "error": INVALID_PAYLOAD, "error_detail": described(error)}, status=400)


def listening(runner: web.AppRunner) -> str:
    """Return the URL at which a server listens; one that listens everywhere, as this machine itself reaches it."""
    address, port = runner.addresses[0][:2]
    address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
