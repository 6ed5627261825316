"""The arena host: matches of any Parlour game between policies, bots, objects with `act` and agents over HTTP.

`MatchSession` applies the rules of a match. This module has the players, the round robin, the results, the sessions,
and the HTTP calls: those of Strategic Agent Games, and some of our own. A refused call is HTTP 4xx with ``{"error",
"error_detail"}``. An agent that raises an exception, does not answer, sends too many messages or disconnects costs what
the limits say; the other agents go on. A session is one match of agents that poll: seats, tokens, invite codes and
states. The host plays it when all seats are taken.
"""

import asyncio
import inspect
import logging
import secrets
import typing
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from time import monotonic
from typing import Any, Literal

import aiohttp
import msgspec
import numpy as np
from aiohttp import web
from yarl import URL

from ....envs.core import turn_state as ts
from ....envs.core.counted import counted
from ....envs.core.game import Game
from ....envs.core.how_to_play import how_to_play
from ....envs.core.options import seconds
from ....envs.core.turn_state import TurnState
from ...agents.policy import PolicyAgent
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error
from ..common import limits as table
from ..common.client import http_client
from ..common.clock import Deadline, Room
from ..common.limits import Places, account_of, hashed, problem_of, same_token
from ..common.match_session import MatchLimits, MatchSession
from ..common.player import Player as AgentPlayer
from ..common.player import Turn, plain, tell
from ..common.server import Server, ServerSettings, local_url
from . import messages
from .agent import ArenaAgent, convert_to
from .messages import (
    ANSWER_LIMIT,
    ANSWER_SECONDS,
    MOST_CHARACTERS,
    MatchEnd,
    MatchStart,
    Refused,
    answer_refusals,
    posted,
)
from .platform_games import hosted_games


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
    """An agent over HTTP: ``POST {endpoint}/act``, ``/match_start``, ``/match_end``."""

    def __init__(self, agent_id: str, endpoint: str, game_id: str, http: Callable[[], aiohttp.ClientSession]) -> None:
        self.agent_id, self.endpoint = agent_id, endpoint
        self._game_id, self._http = game_id, http
        self.heard = monotonic()

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
            self.heard = monotonic()
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
    """An agent that polls. Its turn is kept here until it posts an answer."""

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

    def due() -> list[tuple[str, int]]:
        return [] if session.turn is None else [(session.turn, session.actions)]

    async def ask(turn: tuple[str, int], deadline: Deadline) -> None:
        name, player = turn[0], players[turn[0]]
        while turn in due():  # an answer may be refused, or a message alone
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

    await Room(due, lambda turn: seconds, ask).play()


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
    """A session."""

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
        self._places: Places[str] = Places(*table.SESSIONS)
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
        if (session := self._by_code.get(code)) is None:
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
        reply: dict[str, Any] = {"player_id": player.agent_id, "status": session.status}
        if session.status == "waiting":
            return reply | {"players_joined": len(session.seats), "slots_remaining": len(session.codes)}
        if session.status != "running":
            return reply | {"game_over": True, "outcome": session.outcome, "error": session.error}
        if player.state is None:
            return reply | {"is_my_turn": False, "waiting": True}
        return reply | {"waiting": False, "agent_ids": session.names, **player.state.to_dict()}

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
            every = (self._waiting if status == "waiting" else self._sessions).values()
            found = [one for one in every if status in (None, one.status) and game_id in (None, one.game_id)]
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


logger = logging.getLogger(__name__)

BOUNDS = "`allowed_actions` of your state has the payloads with their bounds."
POLLING_SECONDS = 60.0
"""Seconds that an agent that polls has for a turn."""
REMEMBERED = 10_000
"""The latest matches whose results are kept."""
MOST_ASKED = 1_000
"""Most calls of ``POST /api/match`` whose results are remembered."""
DEALS = {"agreement": True, "auction_resolved": True, "max_rounds_exceeded": False, "no_sale": False}
"""Whether an outcome's reason is a deal. Other reasons say nothing about it."""


@dataclass
class ArenaResult:
    """One match."""

    match_id: str
    game_id: str
    agent_ids: list[str]
    payoffs: dict[str, float]
    reason: str
    error: str | None = None
    actions: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    forced: dict[str, int] = field(default_factory=dict)
    deal: bool | None = None
    efficiency: float | None = None


def assess(states: Sequence[TurnState], outcome: Mapping[str, Any]) -> tuple[bool | None, float | None]:
    """Return deal and efficiency of a finished match (see `ArenaResult`) from what each seat sees at its end."""
    if (deal := DEALS.get(str(outcome.get("reason")))) is None:
        return None, None
    games = [state.game_state for state in states]
    if all("my_reservation_value" in game and ("total" in game or "my_preferences" in game) for game in games):
        surplus = _surplus(games)
        if surplus <= 0:
            return (True, None) if deal else (None, None)
        won = sum(row["utility"] for row in outcome["payoffs"])
        return deal, won / surplus if deal else 0.0
    if all("my_valuation" in game and "values" not in game for game in games):
        values = {state.agent_id: game["my_valuation"] for state, game in zip(states, games, strict=True)}
        highest = max(values.values())
        return deal, None if highest <= 0 else values.get(str(outcome.get("winner")), 0.0) / highest
    return deal, None


def _surplus(games: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest joint gain of a negotiation in which no agent loses; 0: there is none."""
    least = [float(game["my_reservation_value"]) for game in games]
    if "total" in games[0]:
        return max(float(games[0]["total"]) - sum(least), 0.0)
    gains = []
    for game, own in zip(games, least, strict=True):
        worth: Any = np.zeros(1)
        for values in game["my_preferences"].values():
            worth = np.add.outer(worth, values).ravel()
        gains.append(worth - own)
    acceptable = np.min(gains, axis=0) >= 0
    return float(np.sum(gains, axis=0)[acceptable].max(initial=0.0))


@dataclass(frozen=True)
class _Registration:
    """An agent that registered: the hash of the token that proves it, its endpoint, its details, and when it did."""

    claim: str
    endpoint: str | None
    details: dict[str, Any]
    since: float

    def belongs_to(self, claim: str | None) -> bool:
        return same_token(hashed(claim or ""), self.claim)


class ArenaHost(Server):
    """An arena for one game; its server may serve further ones. Use it as an async context manager, or call `start` and
    `stop`.

    >>> async with ArenaHost(game, log=log) as host:      # doctest: +SKIP
    ...     host.add(ArenaAgent("ours", PolicyAgent(game, policy)))
    ...     host.add(their_agent)
    ...     await host.wait_for(3)                   # one more agent, by POST /api/register
    ...     await host.tournament(rounds=10)
    ...     print(host.results)

    Args:
        game: the game that is played.
        limits: limits of a match, and the cost of mistakes.
        timeout: seconds for a turn, and for each of the two hooks.
        seed: seed of all deals; None: the operating system's entropy.
        server: where the HTTP calls are served; agents must send its access token to register, join a session or start
            a match.
        log: the log of all matches; each is written when it is over.
        on_result: called with every result; its errors are logged.
        others: arenas for further games, which are not started; its HTTP calls are for all of them.

    Attributes:
        url: base of the REST calls, once started.
        players: the players by id, in the order in which they were added.
        matches: the running matches by id.
        results: results of the latest `REMEMBERED` matches, in order.
        played: number of matches that have ended.
    """

    middlewares = (answer_refusals,)

    def __init__(
        self,
        game: Game,
        *,
        limits: MatchLimits | None = None,
        timeout: float = ANSWER_SECONDS,
        seed: int | None = None,
        server: ServerSettings | None = None,
        log: MatchLog | None = None,
        on_result: Callable[[ArenaResult], None] = lambda result: None,
        others: "Sequence[ArenaHost]" = (),
    ) -> None:
        seconds("timeout", timeout)
        super().__init__(server, body_limit=ANSWER_LIMIT)
        self.game = game
        self.matches: dict[str, MatchSession] = {}
        self.results: deque[ArenaResult] = deque(maxlen=REMEMBERED)
        self.played = 0
        self.limits = limits or MatchLimits()
        self.players: dict[str, Player] = {}
        self._arenas, self._timeout, self._on_result = [self, *others], timeout, on_result
        self._scheduled: Counter[str] = Counter()
        self._seeds, self._log = np.random.SeedSequence(seed), SafeMatchLog(log)
        self._came = asyncio.Event()
        self._http: aiohttp.ClientSession | None = None
        self._asked_for: set[asyncio.Task[Any]] = set()
        self._sessions, self._asked = HostedSessions(), dict[str, dict[str, Any]]()
        self._registered: dict[str, _Registration] = {}
        self._running: Places[str] = Places(*table.MATCH_CALLS)
        self._names: Places[str] = Places(*table.REGISTRATIONS)
        self._by_game: dict[str, ArenaHost] = {}
        for arena in self._arenas:
            for name in (*hosted_games(arena.game), arena.game.id, arena.game.name):
                self._by_game.setdefault(name, arena)
        self._game_ids = list(self._by_game)

    async def start(self) -> None:
        """See `Server`. `url` is an address that agents on this machine can reach."""
        await super().start()
        self.url = local_url(self.url)

    async def opening(self) -> None:
        """Open the HTTP client for agents over HTTP."""
        self._http = http_client(seconds=3600.0)  # every call has a deadline of its own
        for arena in self._arenas[1:]:
            await arena.opening()

    async def closing(self) -> None:
        """End the matches that were asked for, and close the players and the HTTP client."""
        for arena in self._arenas[1:]:
            await arena.closing()
        for task in self._asked_for:
            task.cancel()
        for player in self.players.values():
            if isinstance(player, LocalPlayer):
                player.close()
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    # Agents.

    def add(self, agent: Any) -> str:
        """Add an object with `agent_id` and `act(state)`, such as `ArenaAgent` (see `LocalPlayer`).

        Returns:
            the agent's id.

        Raises:
            ValueError: if it is no agent, or its id is taken, not 1 to 64 printable characters, or a word of the game.
        """
        return self._enter(LocalPlayer(agent, notes=self._log.target is not None))

    def add_remote(self, agent_id: str, endpoint: str) -> str:
        """Add an agent over HTTP; raises the errors of `add`."""
        messages.Register.from_dict({"agent_id": agent_id, "endpoint": endpoint})  # which checks both
        return self._enter(RemotePlayer(agent_id, endpoint, hosted_games(self.game)[0], self._client))

    def remove_remote(self, agent_id: str) -> None:
        """Remove an agent over HTTP, if it is here. A match that it plays goes on.

        Raises:
            ValueError: if it plays in a tournament that runs, or is not an agent over HTTP.
        """
        if self._scheduled[agent_id] or not isinstance(self.players.get(agent_id), RemotePlayer | None):
            why = "plays in a tournament" if self._scheduled[agent_id] else "was not added over HTTP"
            raise Refused(f"{agent_id!r} {why} and stays", 409)
        self.players.pop(agent_id, None)

    async def wait_for(self, count: int) -> None:
        """Wait until there are at least `count` agents."""
        while len(self.players) < count:
            self._came.clear()
            await self._came.wait()

    def _enter(self, player: Player) -> str:
        name = self.checked_name(player.agent_id)
        if name in self.players:
            raise Refused(f"an agent is called {name!r} already", 409)
        self.players[name] = player
        self._came.set()
        return name

    def checked_name(self, name: str) -> str:
        """Return the name if an agent may have it.

        Raises:
            ValueError: if nobody may be called so, or it is a word of the game.
        """
        problem = problem_of(name, MOST_CHARACTERS)
        if name in self.game.words:
            problem = f"{name!r} is a word of {self.game.name}: an agent needs another name"
        if problem is not None:
            raise Refused(problem, 409)
        return name

    def _client(self) -> aiohttp.ClientSession:
        if self._http is None:
            raise RuntimeError("the host is not started")
        return self._http

    # Matches.

    async def play(self, agent_ids: Sequence[str], seed: int | None = None) -> ArenaResult:
        """Play one match and return the result.

        Raises:
            ValueError: if an agent is not here, or the number does not fit the game.
        """
        for name in agent_ids:
            if name not in self.players:
                raise ValueError(f"no agent is called {name!r}; here are {', '.join(self.players) or 'none'}")
        return (await self.play_between([self.players[name] for name in agent_ids], seed=seed))[0]

    async def play_between(
        self,
        players: Sequence[Player],
        limits: MatchLimits | None = None,
        seconds: float | None = None,
        seed: int | None = None,
    ) -> tuple[ArenaResult, dict[str, Any]]:
        """Play one match; return the result and the outcome. `seconds`: time for a turn."""
        by_name = {one.agent_id: one for one in players}
        session = MatchSession(self.game, list(by_name), seed=seed, limits=limits or self.limits)
        match_id = session.match_id
        self.matches[match_id] = session
        try:
            await self._tell(players, MatchStart(match_id, self.game.id, session.agent_ids))
            await play_turns(session, by_name, seconds or self._timeout)
            result = self._conclude(session)
            await self._tell(players, MatchEnd(match_id, session.outcome))
        finally:
            del self.matches[match_id]
        return result, session.outcome or {}

    def play_when_asked(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run matches that an HTTP call asked for, as a task that ends with the host."""
        task = asyncio.create_task(coroutine)
        self._asked_for.add(task)
        task.add_done_callback(self._asked_for.discard)

    async def tournament(
        self, rounds: int = 1, agent_ids: Sequence[str] | None = None, *, concurrent: int = 8
    ) -> list[ArenaResult]:
        """Play a round robin: in each round every group that fills the table plays once per rotation of its seats.

        Every match is dealt anew, so that no agent learns in one what others hold in the next.

        Args:
            rounds: how many.
            agent_ids: who; None: all that are here now.
            concurrent: number of matches at the same time.

        Returns:
            the results, in the order in which the matches ended.

        Raises:
            ValueError: if there are too few agents for the game, no rounds, or no match at the same time.
        """
        names = list(self.players if agent_ids is None else agent_ids)
        if min(rounds, concurrent) < 1 or len(names) < self.game.seats:
            given = f"rounds={rounds}, concurrent={concurrent}, {counted(len(names), 'agents')}"
            raise ValueError(f"{given}: need 1, 1 and {self.game.seats} ({self.game.id})")
        groups = (group for _ in range(rounds) for group in combinations(names, self.game.seats))
        schedule = ((*group[turn:], *group[:turn]) for group in groups for turn in range(self.game.seats))
        results: list[ArenaResult] = []

        async def worker() -> None:
            for seated in schedule:
                results.append(await self.play(seated, self.seed()))

        self._scheduled.update(names)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrent):
                    group.create_task(worker())
        finally:
            self._scheduled.subtract(names)
        return results

    def seed(self) -> int:
        """Return the seed of the next match."""
        (seed,) = self._seeds.spawn(1)
        return int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1))

    async def _tell(self, players: Sequence[Player], news: MatchStart | MatchEnd) -> None:
        """Call the agents' hooks concurrently. A hook that fails costs nothing."""
        calls = [one.tell(news, Deadline.after(self._timeout)) for one in players]
        for problem in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(problem, Exception):
                logger.info("match %s: a hook failed: %s", news.match_id, describe_error(problem))

    def _conclude(self, session: MatchSession) -> ArenaResult:
        outcome = session.outcome or {}
        states = [session.seat_state(name) for name in session.agent_ids]
        deal, efficiency = assess(states, states[0].outcome or outcome)
        about, reason = (session.match_id, self.game.id, session.agent_ids), str(outcome.get("reason"))
        faults = session.rejections, session.failures, session.forced
        result = ArenaResult(*about, session.payoffs, reason, session.error, session.actions, *faults, deal, efficiency)
        self.results.append(result)
        self.played += 1
        for event in session.events:  # all lines of a match together, because matches are played concurrently
            self._log.write(**event)
        tell(f"the result of match {session.match_id}", self._on_result, result)
        return result

    # The calls.

    def _players(self) -> dict[str, Player]:
        """Return the players of all games."""
        return {name: player for arena in self._arenas for name, player in arena.players.items()}

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        token = self.settings.access_token
        return [
            web.get("/SKILL.md", self._skill),
            posted("/api/register", messages.Register, self._register, token),
            posted("/api/unregister", messages.Unregister, self._unregister, token),
            web.get("/api/agents", self._agents),
            web.get("/api/games", self._games),
            web.get("/api/games/{game_id}/rules", self._rules),
            web.get("/api/matches/{match_id}", self._match),
            posted("/api/match", messages.StartMatch, self._start, token),
            web.get("/api/match/{session_id}", self._started),
            web.get("/api/sessions", self._list),
            posted("/api/sessions/create", messages.CreateSession, self._create, token),
            posted("/api/sessions/join", messages.JoinSession, self._join, token),
            web.get("/api/sessions/state", self._state),
            posted("/api/sessions/act", messages.SessionAct, self._act),
            web.get("/health", self._health),
        ]

    # Agents behind HTTP.

    async def _register(self, request: web.Request, body: messages.Register) -> Any:
        name, games = body.agent_id, body.supported_games
        if games and not set(games).intersection(self._game_ids):
            raise Refused(f"this arena plays {', '.join(self._game_ids)}", 409)
        here = self._registered.get(name)
        answer = {"ok": True, **body.to_dict(), "display_name": body.display_name or name}
        claim = answer.pop("claim_token")
        if here is not None and here.belongs_to(claim):
            self._leave(name)
        elif here is not None or name in self._players():  # it comes again, or somebody else does
            if body.endpoint not in (None, here and here.endpoint):
                raise Refused(f"an agent is called {name!r} already", 409)
            return answer
        else:
            claim = secrets.token_urlsafe(24)
        self._forget(monotonic() - table.REGISTERED_SECONDS)
        if not self._names.take(name, account_of(request), kept=True)[0]:
            raise Refused("too many agents are registered here, of all or of your address", 409)
        played = [self._by_game[one] for one in games or self._game_ids if one in self._by_game]
        try:
            for arena in dict.fromkeys(played if body.endpoint is not None else ()):
                arena.add_remote(name, body.endpoint or "")
        except ValueError:
            self._leave(name)
            raise
        details = {"agent_type": body.agent_type, "supported_games": games or []}
        self._registered[name] = _Registration(hashed(claim), body.endpoint, details, monotonic())
        return {**answer, "claim_token": claim}

    def _forget(self, before: float) -> None:
        """Free the names of agents of which nothing has been heard since a time."""
        for name, one in list(self._registered.items()):
            heard = [getattr(arena.players.get(name), "heard", 0.0) for arena in self._arenas]
            if one.endpoint is not None and max(one.since, *heard) < before:  # who polls is never called
                with suppress(Refused):  # it plays in a tournament
                    self._leave(name)

    def _leave(self, name: str) -> None:
        for arena in self._arenas:
            arena.remove_remote(name)
        self._registered.pop(name, None)
        self._names.free(name)

    async def _unregister(self, request: web.Request, body: messages.Unregister) -> Any:
        if (here := self._registered.get(body.agent_id)) is not None:
            if not here.belongs_to(body.claim_token):
                raise Refused("this needs the claim_token that the agent got when it registered", 403)
            self._leave(body.agent_id)
        elif body.agent_id in self._players():
            raise Refused(f"{body.agent_id!r} was not registered over HTTP and stays", 409)
        return {"ok": here is not None}

    async def _agents(self, request: web.Request) -> web.Response:
        agents = {name: {"agent_type": "local", "supported_games": self._game_ids} for name in self._players()}
        agents |= {name: one.details for name, one in self._registered.items()}
        rows = [{"agent_id": name, "display_name": name, **about} for name, about in agents.items()]
        return web.json_response({"agents": rows})

    async def _start(self, request: web.Request, body: messages.StartMatch) -> Any:
        arena = self._by_game[self._check_game(body.game_id)]
        missing = [name for name in body.agent_ids if name not in arena.players]
        if missing or len(set(body.agent_ids)) != arena.game.seats:
            need = f"{arena.game.seats} different agents that have registered"
            raise Refused(f"need {need}; unknown: {', '.join(missing) or 'none'}")
        key = secrets.token_hex(6)
        if not self._running.take(key, account_of(request), kept=True)[0]:
            raise Refused("too many calls are being played, of all or of your address", 409)
        call = {"status": "running", "game_id": body.game_id or self._game_ids[0], "agent_ids": body.agent_ids}
        self._asked[key] = {**call, "results": []}
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(one for one in self._asked if one != key and one not in self._running)]
        arena.play_when_asked(self._play(key, arena, body))
        return {"ok": True, "session_id": key, "status": "running"}

    async def _play(self, key: str, arena: "ArenaHost", body: messages.StartMatch) -> None:
        call = self._asked[key]
        try:
            for _ in range(body.num_matches):
                call["results"].append(asdict(await arena.play(body.agent_ids)))
            call["status"] = "finished"
        except Exception as error:  # an agent has left, or a mistake of ours
            if not isinstance(error, ValueError):
                logger.exception("call %s failed", key)
            call |= {"status": "error", "error": describe_error(error)}
        finally:
            self._running.free(key)

    async def _started(self, request: web.Request) -> web.Response:
        if (call := self._asked.get(request.match_info["session_id"])) is None:
            raise Refused("there is no such call", 404, ts.MATCH_NOT_FOUND)
        return web.json_response(call)

    # Sessions.

    def _check_game(self, game_id: str | None) -> str:
        if game_id is not None and game_id not in self._game_ids:
            raise Refused(f"unknown game {game_id!r}; this arena plays {', '.join(self._game_ids)}")
        return game_id or self._game_ids[0]

    def _name(self, name: str) -> str:
        for arena in self._arenas if name else ():
            arena.checked_name(name)
        return name

    async def _create(self, request: web.Request, body: messages.CreateSession) -> Any:
        game_id, name = self._check_game(body.game_id), self._name(body.player_name)
        seats = self._by_game[game_id].game.seats
        if body.num_players not in (None, seats):
            raise Refused(f"num_players is {body.num_players}; this arena's game has {seats}")
        if body.game_params:
            raise Refused("game_params: this arena's game has the options that its host chose")
        return self._sessions.create(game_id, name, seats, body.max_turns, monotonic(), account_of(request))[1]

    async def _join(self, request: web.Request, body: messages.JoinSession) -> Any:
        session, seat = self._sessions.join(body.invite_code, self._name(body.player_name), monotonic())
        if session.status == "running":
            arena = self._by_game[session.game_id]
            arena.play_when_asked(self.play_session(arena, session))
        return seat

    async def play_session(self, arena: "ArenaHost", session: HostedSession) -> None:
        """Play the match of a session in which all seats are taken."""
        most, players = session.most_actions, list(session.seats.values())
        limits = arena.limits if most is None else replace(arena.limits, actions=most)
        try:
            result, outcome = await arena.play_between(players, limits, POLLING_SECONDS, arena.seed())
        except Exception as error:  # a mistake of ours must not leave the players waiting
            logger.exception("session %s failed", session.session_id)
            self._sessions.end(session, "error", None, describe_error(error))
        else:
            self._sessions.end(session, "finished", outcome, result.error)

    async def _state(self, request: web.Request) -> web.Response:
        return web.json_response(self._sessions.state(request.query.get("token", ""), monotonic()))

    async def _act(self, request: web.Request, body: messages.SessionAct) -> Any:
        action = {"action_type": body.action_type, "payload": body.payload or {}}
        self._sessions.act(body.token, {"action": action, "messages": body.messages or []}, monotonic())
        return {"ok": True}

    async def _list(self, request: web.Request) -> web.Response:
        query, after = request.query, request.query.get("offset", "0")
        if not (after.isascii() and after.isdecimal() and len(after) < 10):
            raise Refused(f"offset={after[:20]!r}: the number of sessions to leave out")
        page = self._sessions.listed(query.get("status"), query.get("game_id"), int(after), monotonic())
        return web.Response(body=page, content_type="application/json")

    # What can be read.

    async def _games(self, request: web.Request) -> web.Response:
        rows = []
        for name, arena in self._by_game.items():
            game = arena.game
            about = f"{game.name} for {game.seats} agents, with the options {dict(game.options)}."
            rows.append({"game_id": name, "description": about, "min_agents": game.seats, "max_agents": game.seats})
        return web.json_response({"games": rows})

    async def _rules(self, request: web.Request) -> web.Response:
        if (arena := self._by_game.get(request.match_info["game_id"])) is None:
            raise Refused(f"this arena plays {', '.join(self._game_ids)}", 404, "unknown_game")
        return web.Response(text=f"{how_to_play(arena.game)}\n\n{BOUNDS}\n", content_type="text/markdown")

    async def _skill(self, request: web.Request) -> web.Response:
        return web.Response(text=SKILL.format(game=self._game_ids[0]), content_type="text/markdown")

    async def _match(self, request: web.Request) -> web.Response:
        match_id = request.match_info["match_id"]
        results = (one for arena in self._arenas for one in arena.results if one.match_id == match_id)
        if (result := next(results, None)) is not None:
            return web.json_response(asdict(result))
        if not any(match_id in arena.matches for arena in self._arenas):
            raise Refused(f"there is no match {match_id[:80]!r}", 404, ts.MATCH_NOT_FOUND)
        return web.json_response({"match_id": match_id, "reason": None})

    async def _health(self, request: web.Request) -> web.Response:
        matches = sum(arena.played for arena in self._arenas)
        return web.json_response({"ok": True, "game_id": self._arenas[0].game.id, "matches": matches})


SKILL = """# A TurnState arena

1. `GET /api/games` lists the games, `GET /api/games/{game}/rules` has the actions.
2. `GET /api/sessions?status=waiting` lists sessions with their invite codes. Join one: `POST /api/sessions/join`
   `{{"invite_code": "inv_…", "player_name": "Me"}}`; or open one: `POST /api/sessions/create`
   `{{"game_id": "{game}", "player_name": "Me"}}`. Both return your `token`.
3. `GET /api/sessions/state?token=…`, again and again. `status` is `waiting`, `running` or `finished`; while it is
   `running`, `waiting` is true where it is not your turn.
4. In your turn: `POST /api/sessions/act` `{{"token": "…", "action_type": "one of allowed_actions", "payload": {{}},
   "messages": [{{"scope": "public", "content": "Hello"}}]}}`. You have 60 seconds; three turns without an answer end
   the match.
5. When it is `finished`, `outcome.payoffs` has the utilities.
"""
"""The text of ``GET /SKILL.md``: instructions for agents."""
