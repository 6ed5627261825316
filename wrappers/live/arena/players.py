"""The players of the arena host: policies, objects with `act` in this process, agents over HTTP, agents that poll.

A failure of one player does not affect the others.
"""

import asyncio
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.turn_state import TurnState
from ...agents.policy import PolicyAgent
from ...logs.match_log import describe_error
from ..common.agent_turn import Turn, convert_to, plain
from ..common.clock import Deadline
from ..common.match_session import MatchSession
from ..common.player import Player as AgentPlayer
from .messages import ANSWER_LIMIT, MatchEnd, MatchStart


class Player(Protocol):
    """A player of a hosted match."""

    agent_id: str

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """Return an answer of any type.

        Raises:
            TimeoutError: when the time is over.
            AgentGone: if it will not answer any more.
            Exception: any failure of the agent.
        """
        ...


class PolicyPlayer:
    """A policy in a thread of its own, one turn at a time. It gets the environment's own TurnState.

    Args:
        agent_id: its name.
        agent: the policy.
        notes: whether its thoughts are asked for.
    """

    def __init__(self, agent_id: str, agent: PolicyAgent, notes: bool = False) -> None:
        self.agent_id = agent_id
        self._turn = asyncio.Lock()
        self._player = AgentPlayer(agent, notes=notes)

    async def ask(self, state: TurnState, deadline: Deadline) -> tuple[Any, dict[str, Any]]:
        """Return the answer and the thoughts; raises the errors of `act`."""
        with deadline.paused():  # while it plays another match
            await self._turn.acquire()
        try:
            return await self._player.ask(Turn(state), deadline)
        finally:
            self._turn.release()

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`."""
        return (await self.ask(state, deadline))[0]

    def close(self) -> None:
        """Stop the policy's thread."""
        self._player.close()


class LocalPlayer:
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
        self._kind = _state_type(agent.act)
        self._turn = asyncio.Lock()
        self._driver = AgentPlayer(agent)

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`. Fails at once if the agent is still busy with an earlier turn that was late."""
        return await self._call(deadline, self._answer, state)

    async def start(self, match: MatchStart, deadline: Deadline) -> None:
        """Announce a match; raises the errors of `act`."""
        await self._hook(deadline, "on_match_start", match.match_id, match.game_id, list(match.agent_ids))

    async def end(self, match: MatchEnd, deadline: Deadline) -> None:
        """Announce the end of a match; raises the errors of `act`."""
        await self._hook(deadline, "on_match_end", match.match_id, msgspec.to_builtins(match.outcome))

    def close(self) -> None:
        """Stop the agent's thread."""
        self._driver.close()

    def _answer(self, state: TurnState) -> Any:
        answer = plain(_result(self._agent.act(convert_to(state, self._kind))))
        # In the agent's thread, where a long answer costs the event loop no time.
        if len(msgspec.json.encode(answer)) > ANSWER_LIMIT:
            raise ValueError(f"its answer is longer than {ANSWER_LIMIT:,} bytes")
        return answer

    async def _hook(self, deadline: Deadline, name: str, *args: Any) -> None:
        hook: Callable[..., Any] | None = getattr(self._agent, name, None)
        if hook is not None:
            await self._call(deadline, lambda: _result(hook(*args)))

    async def _call(self, deadline: Deadline, function: Callable[..., Any], *args: Any) -> Any:
        with deadline.paused():  # while it plays another match
            await self._turn.acquire()
        try:
            return await self._driver.call(function, *args, deadline=deadline)
        finally:
            self._turn.release()


def _state_type(act: Callable[..., Any]) -> Any:
    """Return the annotated class of the first parameter; None if there is none."""
    try:
        hints = typing.get_type_hints(act)
        first = next(iter(inspect.signature(act).parameters))
    except Exception:  # unresolvable names, or no signature
        return None
    kind = hints.get(first)
    return dict if typing.get_origin(kind) in (dict, Mapping) else kind


def _result(result: Any) -> Any:
    """Return the result; if it is awaitable, the awaited result. Called in the agent's thread."""
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    return asyncio.run(wait())


class RemotePlayer:
    """An agent over HTTP: ``POST {endpoint}/act``, ``/match_start``, ``/match_end``.

    Args:
        agent_id: its name.
        endpoint: its URL.
        game_id: the game's id in its states.
        http: returns the HTTP client, which asks for no compression.
    """

    def __init__(self, agent_id: str, endpoint: str, game_id: str, http: Callable[[], aiohttp.ClientSession]) -> None:
        self.agent_id = agent_id
        self.endpoint = endpoint
        self._game_id = game_id
        self._url = URL(endpoint)
        self._http = http

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`. An answer that is not JSON is returned as bytes, which every session refuses."""
        state.game_id = self._game_id
        async with deadline.limit():
            body = await self._post("act", state.to_json(), ANSWER_LIMIT)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return body[:80]

    async def start(self, match: MatchStart, deadline: Deadline) -> None:
        """Announce a match; raises the errors of `act`."""
        body = MatchStart(match.match_id, self._game_id, match.agent_ids).to_json()
        async with deadline.limit():
            await self._post("match_start", body, 0)

    async def end(self, match: MatchEnd, deadline: Deadline) -> None:
        """Announce the end of a match; raises the errors of `act`."""
        async with deadline.limit():
            await self._post("match_end", match.to_json(), 0)

    async def _post(self, path: str, body: bytes, limit: int) -> bytes:
        """Post JSON and return the answer; at most `limit` bytes are read, with 0 none."""
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


MOST_IDLE = 3
"""Number of turns in a row without an answer after which the match of an agent that polls ends."""


class AgentGone(Exception):
    """An agent will not answer any more. The text has the reason."""


class WaitingPlayer:
    """An agent that polls. Its turn is kept here until it posts an answer.

    Args:
        agent_id: its name.
        game_id: the game's id in its states.

    Attributes:
        state: the TurnState that needs an answer; None if there is none.
    """

    def __init__(self, agent_id: str, game_id: str) -> None:
        self.agent_id = agent_id
        self.state: TurnState | None = None
        self._game_id = game_id
        self._answer: asyncio.Future[Any] | None = None
        self._idle = 0

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`.

        Raises:
            AgentGone: after `MOST_IDLE` turns without an answer.
        """
        state.game_id = self._game_id
        self.state, self._answer = state, asyncio.get_running_loop().create_future()
        try:
            async with deadline.limit():
                answer = await self._answer
        except TimeoutError:
            self._idle += 1
            if self._idle == MOST_IDLE:
                raise AgentGone(f"no answer in {MOST_IDLE} turns") from None
            raise
        finally:
            self.state = None
        self._idle = 0
        return answer

    def submit(self, answer: Any) -> bool:
        """Answer the current turn; return False if there is none, or it has an answer."""
        if self.state is None or self._answer is None or self._answer.done():
            return False
        self._answer.set_result(answer)
        self.state = None
        return True


async def play_turns(session: MatchSession, players: Mapping[str, Player], seconds: float) -> None:
    """Ask the players for their turns until the match is over. A late or failing player gets the penalty of the limits.

    Args:
        session: the match.
        players: the players by agent id.
        seconds: the time for a turn.
    """
    deadline, actions = Deadline.after(seconds), 0
    while (name := session.turn) is not None:
        if session.actions != actions:
            deadline, actions = Deadline.after(seconds), session.actions
        player = players[name]
        try:
            if isinstance(player, PolicyPlayer):
                session.act_as_seat(name, *await player.ask(session.seat_state(name), deadline))
            else:
                session.act(name, await player.act(session.turn_state(name), deadline))
        except TimeoutError:
            session.timeout(name)
        except AgentGone as error:
            session.gave_up(name, str(error))
        except Exception as error:  # any error of that agent
            session.failed(name, describe_error(error))
