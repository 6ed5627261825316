"""The players of the arena host: policies, objects with `act` in this process, agents over HTTP, agents that poll.

A failure of one player does not affect the others. A session is one match of agents that poll: seats, tokens, invite
codes and states. The host plays it when all seats are taken.
"""

import asyncio
import inspect
import secrets
import typing
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.turn_state import TurnState
from ...agents.policy import PolicyAgent
from ...logs.match_log import describe_error
from ..common import limits
from ..common.clock import Deadline
from ..common.limits import Places
from ..common.match_session import MatchSession
from ..common.player import Player as AgentPlayer
from ..common.player import Turn, convert_to, plain
from .agent import ArenaAgent
from .messages import ANSWER_LIMIT, MatchEnd, MatchStart, Refused


class Player:
    """A player of a hosted match."""

    agent_id: str

    async def tell(self, news: MatchStart | MatchEnd, deadline: Deadline) -> None:
        """Announce a match, or its end; raises the errors of `act`."""

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """Return an answer of any type.

        Raises:
            TimeoutError: when the time is over.
            AgentGone: if it will not answer any more.
            Exception: any failure of the agent.
        """
        raise NotImplementedError


class LocalPlayer(Player):
    """An object in this process with `agent_id` and `act(state)`; it may have `on_match_start` and `on_match_end`.

    It gets the state as the type its `act` is annotated with (pydantic model, dataclass, dict), else our TurnState. A
    policy of ours is asked itself, gets the environment's own TurnState, and is told of no match. Each runs in a thread
    of its own, one call at a time.

    Args:
        agent: the object.
        notes: whether a policy's thoughts are asked for.

    Raises:
        ValueError: if it has no `act`, or no `agent_id` that is text.
    """

    def __init__(self, agent: Any, notes: bool = False) -> None:
        agent_id = getattr(agent, "agent_id", None)
        if not callable(getattr(agent, "act", None)) or not isinstance(agent_id, str):
            raise ValueError(f"{type(agent).__name__} is no agent: it needs agent_id and act(state)")
        self.agent_id = agent_id
        own = isinstance(agent, ArenaAgent) and isinstance(agent.agent, PolicyAgent)
        self.policy: PolicyAgent | None = agent.agent if own else None
        self._agent, self._kind, self._turn = agent, _state_type(agent.act), asyncio.Lock()
        self._player = AgentPlayer(self.policy or agent, notes=notes)

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`; of a policy the answer with its thoughts. Fails at once while it is busy with a late one."""
        if self.policy is not None:
            return await self._alone(self._player.ask, Turn(state), deadline=deadline)
        return await self._alone(self._player.call, self._answer, state, deadline=deadline)

    async def tell(self, news: MatchStart | MatchEnd, deadline: Deadline) -> None:
        """See `Player`."""
        args: tuple[Any, ...] = (msgspec.to_builtins(news.outcome),) if isinstance(news, MatchEnd) else ()
        if isinstance(news, MatchStart):
            args = news.game_id, list(news.agent_ids)
        hook = getattr(self._agent, "on_match_start" if isinstance(news, MatchStart) else "on_match_end", None)
        if hook is not None and self.policy is None:
            await self._alone(self._player.call, lambda: _result(hook(news.match_id, *args)), deadline=deadline)

    def close(self) -> None:
        """Stop the agent's thread."""
        self._player.close()

    def _answer(self, state: TurnState) -> Any:
        answer = plain(_result(self._agent.act(convert_to(state, self._kind))))
        # In the agent's thread, where a long answer costs the event loop no time.
        if len(msgspec.json.encode(answer)) > ANSWER_LIMIT:
            raise ValueError(f"its answer is longer than {ANSWER_LIMIT:,} bytes")
        return answer

    async def _alone(self, call: Callable[..., Awaitable[Any]], *args: Any, deadline: Deadline) -> Any:
        """Wait for a call that no other one overlaps; its time begins when those of other matches have ended."""
        left = deadline.left
        async with self._turn:
            deadline.ends_at = asyncio.get_running_loop().time() + left
            return await call(*args, deadline=deadline)


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


class RemotePlayer(Player):
    """An agent over HTTP: ``POST {endpoint}/act``, ``/match_start``, ``/match_end``.

    Args:
        agent_id: its name.
        endpoint: its URL.
        game_id: the game's id in its states.
        http: returns the HTTP client, which asks for no compression.
    """

    def __init__(self, agent_id: str, endpoint: str, game_id: str, http: Callable[[], aiohttp.ClientSession]) -> None:
        self.agent_id, self.endpoint = agent_id, endpoint
        self._game_id, self._http = game_id, http

    async def act(self, state: TurnState, deadline: Deadline) -> Any:
        """See `Player`. An answer that is not JSON is returned as bytes, which every session refuses."""
        state.game_id = self._game_id
        body = await self._post("act", state.to_json(), deadline, ANSWER_LIMIT)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return body[:80]

    async def tell(self, news: MatchStart | MatchEnd, deadline: Deadline) -> None:
        """See `Player`."""
        if isinstance(news, MatchStart):
            news = msgspec.structs.replace(news, game_id=self._game_id)
        await self._post("match_start" if isinstance(news, MatchStart) else "match_end", news.to_json(), deadline)

    async def _post(self, path: str, body: bytes, deadline: Deadline, limit: int = 0) -> bytes:
        """Post JSON and return the answer; at most `limit` bytes are read, with 0 none."""
        kind: Any = {"headers": {"Content-Type": "application/json"}, "allow_redirects": False}
        async with deadline.limit(), self._http().post(URL(self.endpoint) / path, data=body, **kind) as reply:
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


class WaitingPlayer(Player):
    """An agent that polls. Its turn is kept here until it posts an answer.

    Args:
        agent_id: its name.
        game_id: the game's id in its states.
        token: that of its seat.

    Attributes:
        state: the TurnState that needs an answer; None if there is none.
    """

    def __init__(self, agent_id: str, game_id: str, token: str) -> None:
        self.agent_id, self.token, self._game_id = agent_id, token, game_id
        self.state: TurnState | None = None
        self._answer: asyncio.Future[Any]
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
        waits, self.state = self.state is not None, None
        if waits:
            self._answer.set_result(answer)
        return waits


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
            if isinstance(player, LocalPlayer) and player.policy is not None:
                session.act_as_seat(name, *await player.act(session.seat_state(name), deadline))
            else:
                session.act(name, await player.act(session.turn_state(name), deadline))
        except TimeoutError:
            session.timeout(name)
        except AgentGone as error:
            session.failed(name, str(error), "end")
        except Exception as error:  # any error of that agent
            session.failed(name, describe_error(error))


# Sessions.

WAITING_SECONDS = 300.0
"""Seconds for which a session waits for players."""
MOST_ENDED = 1_000
"""Ended sessions that are remembered."""
PAGE = 100
"""Sessions of one answer of the list."""

Status = Literal["waiting", "running", "finished", "error"]


@dataclass
class HostedSession:
    """A session.

    Attributes:
        session_id: the session's id.
        game_id: the game's id that its creator used.
        codes: unused invite codes.
        most_actions: limit of game actions in the match; None: the arena's limit.
        created: time of creation on the event loop's clock, in seconds.
        seats: players by id, in the order of the seats, which is the order of joining.
        status: the status.
        outcome: the match's outcome; None before its end.
        error: the error that ended the session; None without one.
    """

    session_id: str
    game_id: str
    codes: list[str]
    most_actions: int | None
    created: float
    seats: dict[str, WaitingPlayer] = field(default_factory=dict)
    status: Status = "waiting"
    outcome: dict[str, Any] | None = None
    error: str | None = None

    @property
    def names(self) -> list[str]:
        """The agents' ids."""
        return [player.agent_id for player in self.seats.values()]

    def listed(self) -> dict[str, Any]:
        """Return the session's entry in the public list; while it waits, with its invite codes."""
        return {
            "session_id": self.session_id,
            "game_id": self.game_id,
            "status": self.status,
            "num_players": len(self.seats),
            "slots_remaining": len(self.codes),
            "players": [{"player_id": key, "display_name": one.agent_id} for key, one in self.seats.items()],
            **({"invite_codes": self.codes} if self.status == "waiting" else {}),
        }


class HostedSessions:
    """All sessions of an arena. Those that wait or run hold places of the address that created them."""

    def __init__(self) -> None:
        self._sessions: dict[str, HostedSession] = {}
        self._waiting: dict[str, HostedSession] = {}  # the oldest first
        self._ended: deque[HostedSession] = deque()
        self._places: Places[str] = Places(*limits.SESSIONS)
        self._by_token: dict[str, tuple[HostedSession, WaitingPlayer]] = {}
        self._by_code: dict[str, HostedSession] = {}
        self._pages: dict[tuple[Any, ...], bytes] = {}  # of the list, until something in it changes

    def create(
        self, game_id: str, name: str, players: int, most_actions: int | None, now: float, owner: str = ""
    ) -> tuple[HostedSession, dict[str, Any]]:
        """Create a session; return the session and the creator's seat. Those that wait already stay.

        Raises:
            Refused: if too many wait or run, of all or of the owner.
        """
        self.expire(now)
        session_id = f"sess_{secrets.token_urlsafe(8)}"
        if not self._places.take(session_id, owner, kept=True)[0]:
            raise Refused("too many sessions wait or run, of all or of your address: join one", 409)
        codes = [f"inv_{secrets.token_urlsafe(16)}" for _ in range(players - 1)]
        session = HostedSession(session_id, game_id, codes, most_actions, now)
        self._sessions[session_id] = self._waiting[session_id] = session
        self._by_code |= dict.fromkeys(codes, session)
        return session, self._seat(session, name) | {"invite_codes": list(codes)}

    def join(self, code: str, name: str, now: float) -> tuple[HostedSession, dict[str, Any]]:
        """Take a seat in a waiting session; return the session and the seat.

        Raises:
            Refused: if the code is unknown or used, or another player of the session has the name.
        """
        self.expire(now)
        session = self._by_code.get(code)
        if session is None:
            raise Refused("the invite code is not known, was used, or has expired")
        if name in session.names:
            raise Refused(f"an agent is called {name!r} in this session already", 409)
        del self._by_code[code]
        session.codes.remove(code)
        if not session.codes:
            session.status = "running"
            del self._waiting[session.session_id]
        return session, self._seat(session, name) | {"players_joined": len(session.seats)}

    def _seat(self, session: HostedSession, name: str) -> dict[str, Any]:
        player_id, token = f"player_{secrets.token_urlsafe(6)}", f"pt_{secrets.token_urlsafe(24)}"
        session.seats[player_id] = player = WaitingPlayer(name or player_id, session.game_id, token)
        self._by_token[token] = session, player
        self._pages.clear()
        return {
            "session_id": session.session_id,
            "player_id": player_id,
            "token": token,
            "game_id": session.game_id,
            "status": session.status,
        }

    def _of(self, token: str, now: float) -> tuple[HostedSession, WaitingPlayer]:
        self.expire(now)
        if token not in self._by_token:
            raise Refused("the token is not known", 401)
        return self._by_token[token]

    def state(self, token: str, now: float) -> dict[str, Any]:
        """Return the state of a player: waiting, its turn, or the end.

        ``player_id`` is the agent's id in the match: clients of strategic-agent-games look for their payoff by it.

        Raises:
            Refused: if there is no such token.
        """
        session, player = self._of(token, now)
        told: dict[str, Any] = {"player_id": player.agent_id, "status": session.status}
        if session.status == "waiting":
            return told | {"players_joined": len(session.seats), "slots_remaining": len(session.codes)}
        if session.status != "running":
            return told | {"game_over": True, "outcome": session.outcome, "error": session.error}
        if player.state is None:
            return told | {"is_my_turn": False, "waiting": True}
        return told | {"waiting": False, "agent_ids": session.names, **player.state.to_dict()}

    def act(self, token: str, answer: Any, now: float) -> None:
        """Take a player's answer to its turn. If the match rejects it, the player gets the turn again.

        Raises:
            Refused: if it is not the player's turn.
        """
        session, player = self._of(token, now)
        if session.status != "running":
            raise Refused(f"the session is {session.status}, not running")
        if not player.submit(answer):
            raise Refused("it is not your turn")

    def listed(self, status: str | None, game_id: str | None, after: int, now: float) -> bytes:
        """Return the JSON of a page of the sessions with a status and a game (None: any), the oldest first."""
        self.expire(now)
        wanted = status, game_id, after
        if wanted not in self._pages:
            found = [
                one
                for one in (self._waiting if status == "waiting" else self._sessions).values()
                if status in (None, one.status) and game_id in (None, one.game_id)
            ]
            rows = [one.listed() for one in found[after : after + PAGE]]
            if len(self._pages) >= PAGE:
                self._pages.clear()
            self._pages[wanted] = msgspec.json.encode({"sessions": rows, "total": len(found)})
        return self._pages[wanted]

    def expire(self, now: float) -> None:
        """End the sessions that have waited too long."""
        while self._waiting and now - (oldest := next(iter(self._waiting.values()))).created > WAITING_SECONDS:
            del self._waiting[oldest.session_id]
            for code in oldest.codes:
                del self._by_code[code]
            oldest.codes.clear()
            self.end(oldest, "finished", None, "the session expired: not all players came")

    def end(self, session: HostedSession, status: Status, outcome: dict[str, Any] | None, error: str | None) -> None:
        """Record the end of a session, and forget the one that ended first if too many have."""
        session.status, session.outcome, session.error = status, outcome, error
        self._places.free(session.session_id)
        self._ended.append(session)
        if len(self._ended) > MOST_ENDED:
            first = self._ended.popleft()
            del self._sessions[first.session_id]
            for player in first.seats.values():
                del self._by_token[player.token]
        self._pages.clear()
