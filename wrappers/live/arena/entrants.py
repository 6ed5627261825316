"""Who plays in our arena: objects with `act` in this process, and agents behind HTTP. Each fails for itself only."""

import asyncio
import inspect
import typing
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.turn_state import TurnState
from ...agents.policy import PolicyAgent
from ..common.worker import Worker
from .agent import converted
from .messages import ANSWER_LIMIT, MatchEnd, MatchStart, plain


class Clock:
    """The time that an agent has for one turn, however many answers it takes.

    Args:
        seconds: in all.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let the time run; raises TimeoutError when it is up."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.left):
                yield
        finally:
            self.left -= loop.time() - began


class Entrant(Protocol):
    """A player of the arena."""

    agent_id: str

    async def act(self, state: TurnState, clock: Clock) -> Any:
        """Return an answer, of whatever kind.

        Raises:
            TimeoutError: when the clock is out.
            Exception: whatever went wrong.
        """
        ...

    async def start(self, match: MatchStart, clock: Clock) -> None:
        """Tell it that a match begins; raises as `act` does."""
        ...

    async def end(self, match: MatchEnd, clock: Clock) -> None:
        """Tell it that a match is over; raises as `act` does."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class PolicyEntrant:
    """A policy of ours. It never waits, so it answers at once, from the environment's own TurnState.

    Args:
        agent_id: its name.
        agent: the policy.
    """

    def __init__(self, agent_id: str, agent: PolicyAgent) -> None:
        self.agent_id = agent_id
        self.respond = agent.respond
        self.thoughts = agent.thoughts

    async def act(self, state: TurnState, clock: Clock) -> Any:
        """See `Entrant`."""
        return self.respond(state)

    async def start(self, match: MatchStart, clock: Clock) -> None:
        """See `Entrant`: a policy remembers nothing."""

    async def end(self, match: MatchEnd, clock: Clock) -> None:
        """See `Entrant`: a policy remembers nothing."""

    def close(self) -> None:
        """See `Entrant`."""


class LocalEntrant:
    """An object in this process with `agent_id` and `act(state)`; it may have `on_match_start` and `on_match_end`.

    It gets the state as the type its `act` is annotated with (pydantic model, dataclass, dict), else our TurnState. It
    runs in a thread of its own, one call at a time.

    Raises:
        ValueError: if it has no `act`, or no `agent_id` that is text.
    """

    def __init__(self, agent: Any) -> None:
        agent_id = getattr(agent, "agent_id", None)
        if not callable(getattr(agent, "act", None)) or not isinstance(agent_id, str):
            raise ValueError(f"{type(agent).__name__} is no agent: it needs agent_id and act(state)")
        self.agent_id = agent_id
        self._agent = agent
        self._kind = _wanted(agent.act)
        self._turn = asyncio.Lock()
        self._worker = Worker(agent_id)

    async def act(self, state: TurnState, clock: Clock) -> Any:
        """See `Entrant`. An agent that is still busy with a turn it lost, fails at once."""
        return await self._call(clock, self._answer, state)

    async def start(self, match: MatchStart, clock: Clock) -> None:
        """See `Entrant`."""
        await self._hook(clock, "on_match_start", match.match_id, match.game_id, list(match.agent_ids))

    async def end(self, match: MatchEnd, clock: Clock) -> None:
        """See `Entrant`."""
        await self._hook(clock, "on_match_end", match.match_id, msgspec.to_builtins(match.outcome))

    def close(self) -> None:
        """See `Entrant`."""
        self._worker.stop()

    def _answer(self, state: TurnState) -> Any:
        answer = plain(_awaited(self._agent.act(converted(state, self._kind))))
        # Here, where a long one costs nobody else's time.
        if len(msgspec.json.encode(answer)) > ANSWER_LIMIT:
            raise ValueError(f"its answer is longer than {ANSWER_LIMIT:,} bytes")
        return answer

    async def _hook(self, clock: Clock, name: str, *args: Any) -> None:
        hook: Callable[..., Any] | None = getattr(self._agent, name, None)
        if hook is not None:
            await self._call(clock, lambda: _awaited(hook(*args)))

    async def _call(self, clock: Clock, function: Callable[..., Any], *args: Any) -> Any:
        async with self._turn:  # its clock does not run while it answers in another match
            if self._worker.stuck:
                raise RuntimeError("it is still busy with an earlier turn")
            async with clock.running():
                return await self._worker.call(function, *args)


def _wanted(act: Callable[..., Any]) -> Any:
    """Return the class that the first parameter is annotated with; None where it tells none."""
    try:
        hints = typing.get_type_hints(act)
        first = next(iter(inspect.signature(act).parameters))
    except Exception:  # names that cannot be resolved, a signature that cannot be had
        return None
    kind = hints.get(first)
    return dict if typing.get_origin(kind) in (dict, Mapping) else kind


def _awaited(result: Any) -> Any:
    """Return the result, of a coroutine what it returns; called in a worker's thread."""
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    return asyncio.run(wait())


class HttpEntrant:
    """An agent behind HTTP: ``POST {endpoint}/act``, ``/match_start``, ``/match_end``.

    Args:
        agent_id: its name.
        endpoint: its URL.
        http: the connections; they ask for no compression.
    """

    def __init__(self, agent_id: str, endpoint: str, http: Callable[[], aiohttp.ClientSession]) -> None:
        self.agent_id = agent_id
        self.endpoint = endpoint
        self._url = URL(endpoint)
        self._http = http

    async def act(self, state: TurnState, clock: Clock) -> Any:
        """See `Entrant`. What is no JSON comes back as bytes, which no session takes for an answer."""
        async with clock.running():
            body = await self._post("act", state.to_json(), ANSWER_LIMIT)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return body[:80]

    async def start(self, match: MatchStart, clock: Clock) -> None:
        """See `Entrant`."""
        async with clock.running():
            await self._post("match_start", match.to_json(), 0)

    async def end(self, match: MatchEnd, clock: Clock) -> None:
        """See `Entrant`."""
        async with clock.running():
            await self._post("match_end", match.to_json(), 0)

    def close(self) -> None:
        """See `Entrant`."""

    async def _post(self, path: str, body: bytes, limit: int) -> bytes:
        """Post JSON and return the answer, of which no more than `limit` bytes (0: nothing) are read."""
        headers = {"Content-Type": "application/json"}
        async with self._http().post(self._url / path, data=body, headers=headers, allow_redirects=False) as reply:
            if reply.status != 200 and limit:
                raise ConnectionError(f"it answered HTTP {reply.status}")
            answer = bytearray()
            while limit and (part := await reply.content.readany()):
                answer += part
                if len(answer) > limit:
                    raise ValueError(f"its answer is longer than {limit:,} bytes")
            return bytes(answer)
