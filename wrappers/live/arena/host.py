"""The arena host: matches of any Parlour game between policies, bots, objects with `act` and agents over HTTP.

`MatchSession` applies the rules of a match. This module has the deadlines, the round robin, and the HTTP calls: those
of Strategic Agent Games, and some of our own. A refused call is HTTP 4xx with ``{"error", "error_detail"}``. An agent
that raises an exception, does not answer, sends too many messages or disconnects costs what the limits say; the other
agents go on.
"""

import asyncio
import logging
import secrets
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import aiohttp
import numpy as np
from aiohttp import web

from ....envs.core import turn_state as ts
from ....envs.core.counted import counted
from ....envs.core.game import Game
from ....envs.core.match import Match
from ....envs.core.turn_state import Wire
from ...agents.policy import PolicyAgent
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error
from ..common.client import http_client
from ..common.clock import Deadline
from ..common.match_session import MatchLimits, MatchSession
from ..common.server import Server, ServerSettings, local_url, read_body
from ..common.tokens import TOO_MANY, bearer_token
from .agent import ArenaAgent
from .hosted_sessions import HostedSession, HostedSessions, SessionRefused
from .messages import (
    ANSWER_LIMIT,
    ANSWER_SECONDS,
    CreateSession,
    JoinSession,
    MatchEnd,
    MatchStart,
    Register,
    SessionAct,
    StartMatch,
    Unregister,
    check_name,
)
from .platform_games import hosted_games
from .players import LocalPlayer, Player, PolicyPlayer, RemotePlayer, play_turns
from .results import ArenaResult, Standings, assess

logger = logging.getLogger(__name__)

BODY_LIMIT = ANSWER_LIMIT
"""Bytes of a request's body."""
POLLING_SECONDS = 60.0
"""Seconds that an agent that polls has for a turn."""
REMEMBERED = 10_000
"""The latest matches whose results are kept."""
MOST_AGENTS = 1_000
"""Most agents that may register."""
MOST_ASKED = 1_000
"""Most calls of ``POST /api/match`` whose results are remembered."""

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.Response]]
Body = TypeVar("Body", bound=Wire)


class ArenaHost(Server):
    """An arena for one game; its server may serve further ones. Use it as an async context manager, or call `start` and
    `stop`.

    >>> async with ArenaHost(game, log=log) as host:      # doctest: +SKIP
    ...     host.add(ArenaAgent("ours", PolicyAgent(game, policy)))
    ...     host.add(their_agent)
    ...     await host.wait_for(3)                   # one more agent, by POST /api/register
    ...     await host.tournament(rounds=10)
    ...     print(host.standings.lines())

    Args:
        game: the game that is played.
        limits: limits of a match, and the cost of mistakes.
        timeout: seconds for a turn, and for each of the two hooks.
        seed: seed of all deals; None: the operating system's entropy.
        server: where the HTTP calls are served; agents must send its access token to register, join a session or start
            a match.
        log: the log of all matches; each is written when it is over.
        on_result: called with every result.
        others: arenas for further games, which are not started; its HTTP calls are for all of them.

    Attributes:
        url: base of the REST calls, once started.
        matches: the running matches by id.
        results: results of the latest `REMEMBERED` matches, in order.
        standings: of all matches.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MatchLimits | None = None,
        timeout: float = ANSWER_SECONDS,
        seed: int | None = None,
        server: ServerSettings | None = None,
        log: MatchLog | None = None,
        on_result: Callable[[ArenaResult], None] | None = None,
        others: "Sequence[ArenaHost]" = (),
    ) -> None:
        if not 0 < timeout < 2**30:
            raise ValueError(f"timeout={timeout}: need some seconds")
        super().__init__(server, body_limit=BODY_LIMIT)
        self.game = game
        self.matches: dict[str, MatchSession] = {}
        self.results: deque[ArenaResult] = deque(maxlen=REMEMBERED)
        self.standings = Standings()
        self._scheduled: Counter[str] = Counter()
        self._limits = limits or MatchLimits()
        self._timeout = timeout
        self._seeds = np.random.SeedSequence(seed)
        self._log = SafeMatchLog(log)
        self._on_result = on_result or (lambda result: None)
        self._reserved = game.words
        self._players: dict[str, Player] = {}
        self._came = asyncio.Event()
        self._free_referees: list[Match] = []
        self._name = secrets.token_hex(4)  # ids differ from host to host
        self._count = 0
        self._http: aiohttp.ClientSession | None = None
        self._asked_for: set[asyncio.Task[Any]] = set()
        self._others = others

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return ArenaRest([self, *self._others], self.settings.access_token).routes()

    async def start(self) -> None:
        """See `Server`. `url` is an address that agents on this machine can reach."""
        await super().start()
        self.url = local_url(self.url)

    async def opening(self) -> None:
        """Open the HTTP client for agents over HTTP."""
        self._http = http_client(seconds=3600.0)  # every call has a deadline of its own
        for one in self._others:
            await one.opening()

    async def closing(self) -> None:
        """End the matches that were asked for, and close the players and the HTTP client."""
        for one in self._others:
            await one.closing()
        for task in self._asked_for:
            task.cancel()
        for player in self._players.values():
            if isinstance(player, LocalPlayer | PolicyPlayer):
                player.close()
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    # Agents.

    @property
    def agent_ids(self) -> list[str]:
        """The ids of the agents, in the order in which they were added."""
        return list(self._players)

    def add(self, agent: Any) -> str:
        """Add an object with `agent_id` and `act(state)`, such as `ArenaAgent` (see `LocalPlayer`).

        Returns:
            the agent's id.

        Raises:
            ValueError: if it is no agent, or its id is taken, not 1 to 64 printable characters, or a word of the game.
        """
        if isinstance(agent, ArenaAgent) and isinstance(agent.agent, PolicyAgent):
            return self._enter(PolicyPlayer(agent.agent_id, agent.agent, bool(self._log)))
        return self._enter(LocalPlayer(agent))

    def add_remote(self, agent_id: str, endpoint: str) -> str:
        """Add an agent over HTTP; raises the errors of `add`."""
        Register.from_dict({"agent_id": agent_id, "endpoint": endpoint})  # which checks both
        return self._enter(RemotePlayer(agent_id, endpoint, hosted_games(self.game)[0], self._client))

    def remove_remote(self, agent_id: str) -> bool:
        """Remove an agent over HTTP; return whether it was here. A match that it plays goes on.

        Raises:
            ValueError: if it plays in a tournament that runs, or is not an agent over HTTP.
        """
        player = self._players.get(agent_id)
        if player is None:
            return False
        if self._scheduled[agent_id] or not isinstance(player, RemotePlayer):
            why = "plays in a tournament" if self._scheduled[agent_id] else "was not added over HTTP"
            raise ValueError(f"{agent_id!r} {why} and stays")
        del self._players[agent_id]
        return True

    async def wait_for(self, count: int) -> None:
        """Wait until there are at least `count` agents."""
        while len(self._players) < count:
            self._came.clear()
            await self._came.wait()

    def _enter(self, player: Player) -> str:
        name = self.checked_name(player.agent_id)
        if name in self._players:
            raise ValueError(f"an agent is called {name!r} already")
        self._players[name] = player
        self._came.set()
        return name

    def checked_name(self, name: str) -> str:
        """Return the name if an agent may have it.

        Raises:
            ValueError: if nobody may be called so, or it is a word of the game.
        """
        if check_name(name) in self._reserved:
            raise ValueError(f"{name!r} is a word of {self.game.name}: an agent needs another name")
        return name

    @property
    def players(self) -> Mapping[str, Player]:
        """The players by id."""
        return self._players

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
        unknown = [name for name in agent_ids if name not in self._players]
        if unknown:
            raise ValueError(f"no agent is called {unknown[0]!r}; here are {', '.join(self._players) or 'none'}")
        return (await self._play([self._players[name] for name in agent_ids], seed))[0]

    async def _play(
        self,
        players: Sequence[Player],
        seed: int | None,
        limits: MatchLimits | None = None,
        seconds: float | None = None,
    ) -> tuple[ArenaResult, dict[str, Any]]:
        """Play one match; return the result and the outcome. `seconds`: time for a turn."""
        async with self._table([one.agent_id for one in players], seed, limits or self._limits) as session:
            announced = [one for one in players if isinstance(one, LocalPlayer | RemotePlayer)]
            start = MatchStart(session.match_id, self.game.id, session.agent_ids)
            await self._call_hooks(
                session.match_id, [one.start(start, Deadline.after(self._timeout)) for one in announced]
            )
            by_name = {one.agent_id: one for one in players}
            await play_turns(session, by_name, seconds or self._timeout)
            result, outcome = self._conclude(session), session.outcome or {}
            end = MatchEnd(session.match_id, session.outcome)
            await self._call_hooks(session.match_id, [one.end(end, Deadline.after(self._timeout)) for one in announced])
        return result, outcome

    def play_when_asked(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run matches that an HTTP call asked for, as a task that ends with the host."""
        task = asyncio.create_task(work)
        self._asked_for.add(task)
        task.add_done_callback(self._asked_for.discard)

    async def play_session(self, session: HostedSession, sessions: HostedSessions) -> None:
        """Play the match of a session in which all seats are taken."""
        limits = self._limits
        if session.most_actions is not None:
            limits = replace(limits, actions=session.most_actions)
        try:
            result, outcome = await self._play(list(session.seats.values()), self._seed(), limits, POLLING_SECONDS)
        except Exception as error:  # a mistake of ours must not leave the players waiting
            logger.exception("session %s failed", session.session_id)
            sessions.ended(session, None, describe_error(error))
        else:
            sessions.ended(session, outcome, result.error)

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
        names = list(self._players if agent_ids is None else agent_ids)
        if min(rounds, concurrent) < 1 or len(names) < self.game.seats:
            given = f"rounds={rounds}, concurrent={concurrent}, {counted(len(names), 'agents')}"
            raise ValueError(f"{given}: need 1, 1 and {self.game.seats} ({self.game.id})")
        schedule = _schedule(names, self.game.seats, rounds)
        results: list[ArenaResult] = []
        self._scheduled.update(names)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrent):
                    group.create_task(self._work(schedule, results))
        finally:
            self._scheduled.subtract(names)
        return results

    async def _work(self, schedule: Iterator[tuple[str, ...]], results: list[ArenaResult]) -> None:
        for table in schedule:
            results.append(await self.play(table, self._seed()))

    def _seed(self) -> int:
        (seed,) = self._seeds.spawn(1)
        return int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1))

    @asynccontextmanager
    async def _table(
        self, agent_ids: Sequence[str], seed: int | None, limits: MatchLimits
    ) -> AsyncIterator[MatchSession]:
        referee = self._free_referees.pop() if self._free_referees else Match(self.game)
        self._count += 1
        session = MatchSession(referee, agent_ids, seed=seed, match_id=f"{self._name}-{self._count}", limits=limits)
        self.matches[session.match_id] = session
        try:
            yield session
        finally:
            del self.matches[session.match_id]
            self._free_referees.append(referee)

    async def _call_hooks(self, match_id: str, calls: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Call the agents' hooks concurrently. A hook that fails costs nothing."""
        for problem in await asyncio.gather(*calls, return_exceptions=True) if calls else ():
            if isinstance(problem, Exception):
                logger.info("match %s: a hook failed: %s", match_id, describe_error(problem))

    def _conclude(self, session: MatchSession) -> ArenaResult:
        outcome = session.outcome or {}
        states = [session.seat_state(name) for name in session.agent_ids]
        deal, efficiency = assess(states, states[0].outcome or outcome)
        result = ArenaResult(
            session.match_id,
            self.game.id,
            session.agent_ids,
            session.payoffs,
            str(outcome.get("reason")),
            session.error,
            session.actions,
            session.rejections,
            session.failures,
            session.forced,
            deal,
            efficiency,
        )
        self.results.append(result)
        self.standings.add(result)
        self._write(session)
        self._on_result(result)
        return result

    def _write(self, session: MatchSession) -> None:
        """Write all lines of a match together, because matches are played concurrently."""
        for event in session.events:
            self._log.write(**event)


def _schedule(names: Sequence[str], seats: int, rounds: int) -> Iterator[tuple[str, ...]]:
    for _ in range(rounds):
        for group in combinations(names, seats):
            for turn in range(seats):
                yield (*group[turn:], *group[:turn])


class ArenaRest:
    """The calls.

    Args:
        arenas: the hosts, each with its game; the first one answers where a call names no game.
        access_token: the token that agents must send to register, create or join a session, or start a match; None:
            no token.
    """

    def __init__(self, arenas: Sequence[ArenaHost], access_token: str | None) -> None:
        self._arenas = arenas
        self._access_token = access_token
        self._sessions = HostedSessions()
        self._asked: dict[str, dict[str, Any]] = {}
        self._order: deque[str] = deque()
        self._told: dict[str, dict[str, Any]] = {}
        self._by_game: dict[str, ArenaHost] = {}
        for arena in arenas:
            for name in (*hosted_games(arena.game), arena.game.id, arena.game.name):
                self._by_game.setdefault(name, arena)
        self._game_ids = list(self._by_game)

    def _players(self) -> dict[str, Player]:
        """Return the players of all games."""
        return {name: player for arena in self._arenas for name, player in arena.players.items()}

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of all calls."""
        sessions = "/api/sessions"
        return [
            web.get("/SKILL.md", self._skill),
            web.post("/api/register", self._guarded(self._register)),
            web.post("/api/unregister", self._guarded(self._unregister)),
            web.get("/api/agents", self._agents),
            web.get("/api/games", self._games),
            web.get("/api/games/{game_id}/rules", self._rules),
            web.get("/api/results", self._results),
            web.get("/api/matches/{match_id}", self._match),
            web.post("/api/match", self._guarded(self._start)),
            web.get("/api/match/{session_id}", self._started),
            web.get(sessions, self._list),
            web.post(sessions + "/create", self._guarded(self._create)),
            web.post(sessions + "/join", self._guarded(self._join)),
            web.get(sessions + "/state", _answered(self._state)),
            web.post(sessions + "/act", _answered(self._act)),
            web.get("/health", self._health),
        ]

    def _guarded(self, handler: Handler) -> Handler:
        async def check(request: web.Request) -> web.Response:
            status = self._arenas[0].guesses.status(request.remote or "", bearer_token(request), self._access_token)
            if status == 401:
                return refuse(401, "unauthorized", "this needs Authorization: Bearer <access token>")
            if status is not None:
                return refuse(status, "too_many_guesses", TOO_MANY)
            return await _answered(handler)(request)

        return check

    # Agents behind HTTP.

    async def _register(self, request: web.Request) -> web.Response:
        body = await _read(request, Register)
        games = body.supported_games
        if games and not set(games).intersection(self._game_ids):
            raise SessionRefused(f"this arena plays {', '.join(self._game_ids)}", 409)
        player = self._players().get(body.agent_id)
        if body.endpoint is not None and not (isinstance(player, RemotePlayer) and player.endpoint == body.endpoint):
            if len(self._players()) >= MOST_AGENTS:
                raise SessionRefused(f"{MOST_AGENTS} agents are here", 409)
            try:
                played = [self._by_game[one] for one in games or self._game_ids if one in self._by_game]
                for arena in dict.fromkeys(played):
                    arena.add_remote(body.agent_id, body.endpoint)
            except ValueError as error:
                raise SessionRefused(str(error), 409) from None
        if body.endpoint is not None or (player is None and len(self._told) < MOST_AGENTS):
            self._told[body.agent_id] = {"agent_type": body.agent_type, "supported_games": games or []}
        return web.json_response({"ok": True, **body.to_dict(), "display_name": body.display_name or body.agent_id})

    async def _unregister(self, request: web.Request) -> web.Response:
        name = (await _read(request, Unregister)).agent_id
        try:
            removed = sum(arena.remove_remote(name) for arena in self._arenas) > 0
        except ValueError as error:
            raise SessionRefused(str(error), 409) from None
        registration = self._told.pop(name, None)
        return web.json_response({"ok": removed or registration is not None})

    async def _agents(self, request: web.Request) -> web.Response:
        ours = {"agent_type": "local", "supported_games": self._game_ids}
        names = dict.fromkeys([*self._players(), *self._told])
        rows = [{"agent_id": name, "display_name": name, **self._told.get(name, ours)} for name in names]
        return web.json_response({"agents": rows})

    async def _start(self, request: web.Request) -> web.Response:
        body = await _read(request, StartMatch)
        arena = self._by_game[self._check_game(body.game_id)]
        missing = [name for name in body.agent_ids if name not in arena.players]
        if missing or len(set(body.agent_ids)) != arena.game.seats:
            need = f"{arena.game.seats} different agents that have registered"
            raise SessionRefused(f"need {need}; unknown: {', '.join(missing) or 'none'}")
        if sum(one["status"] == "running" for one in self._asked.values()) >= MOST_ASKED:
            raise SessionRefused(f"{MOST_ASKED} calls are being played", 409)
        key = secrets.token_hex(6)
        call = {"status": "running", "game_id": body.game_id or self._game_ids[0], "agent_ids": body.agent_ids}
        self._asked[key] = {**call, "results": []}
        self._order.append(key)
        while len(self._order) > MOST_ASKED:
            del self._asked[self._order.popleft()]
        arena.play_when_asked(self._play(self._asked[key], arena, body))
        return web.json_response({"ok": True, "session_id": key, "status": "running"})

    async def _play(self, call: dict[str, Any], arena: ArenaHost, body: StartMatch) -> None:
        try:
            for _ in range(body.num_matches):
                call["results"].append(asdict(await arena.play(body.agent_ids)))
            call["status"] = "finished"
        except ValueError as error:  # an agent has left
            call["status"], call["error"] = "error", str(error)

    async def _started(self, request: web.Request) -> web.Response:
        call = self._asked.get(request.match_info["session_id"])
        return refuse(404, ts.MATCH_NOT_FOUND, "there is no such call") if call is None else web.json_response(call)

    # Sessions.

    def _check_game(self, game_id: str | None) -> str:
        if game_id is not None and game_id not in self._game_ids:
            raise SessionRefused(f"unknown game {game_id!r}; this arena plays {', '.join(self._game_ids)}")
        return game_id or self._game_ids[0]

    def _name(self, name: str) -> str:
        try:
            for arena in self._arenas if name else ():
                arena.checked_name(name)
            return name
        except ValueError as error:
            raise SessionRefused(str(error), 409) from None

    async def _create(self, request: web.Request) -> web.Response:
        body = await _read(request, CreateSession)
        game_id, name = self._check_game(body.game_id), self._name(body.player_name)
        seats = self._by_game[game_id].game.seats
        if body.num_players not in (None, seats):
            raise SessionRefused(f"num_players is {body.num_players}; this arena's game has {seats}")
        if body.game_params:
            raise SessionRefused("game_params: this arena's game has the options that its host chose")
        _, seat = self._sessions.create(game_id, name, seats, body.max_turns, _now())
        return web.json_response(seat)

    async def _join(self, request: web.Request) -> web.Response:
        body = await _read(request, JoinSession)
        session, seat = self._sessions.join(body.invite_code, self._name(body.player_name), _now())
        if session.status == "running":
            arena = self._by_game[session.game_id]
            arena.play_when_asked(arena.play_session(session, self._sessions))
        return web.json_response(seat)

    async def _state(self, request: web.Request) -> web.Response:
        return web.json_response(self._sessions.state(_token(request), _now()))

    async def _act(self, request: web.Request) -> web.Response:
        body = await _read(request, SessionAct)
        action = {"action_type": body.action_type, "payload": body.payload or {}}
        self._sessions.act(body.token, {"action": action, "messages": body.messages or []}, _now())
        return web.json_response({"ok": True})

    async def _list(self, request: web.Request) -> web.Response:
        listed = self._sessions.listed(request.query.get("status"), request.query.get("game_id"), _now())
        return web.json_response({"sessions": listed})

    # What can be read.

    async def _games(self, request: web.Request) -> web.Response:
        games = {name: arena.game for name, arena in self._by_game.items()}
        seats = {name: {"min_agents": game.seats, "max_agents": game.seats} for name, game in games.items()}
        rows = [{"game_id": name, "description": _first_lines(game), **seats[name]} for name, game in games.items()]
        return web.json_response({"games": rows})

    async def _rules(self, request: web.Request) -> web.Response:
        arena = self._by_game.get(request.match_info["game_id"])
        if arena is None:
            return refuse(404, "unknown_game", f"this arena plays {', '.join(self._game_ids)}")
        return web.Response(text=rules_text(arena.game), content_type="text/markdown")

    async def _skill(self, request: web.Request) -> web.Response:
        return web.Response(text=SKILL.format(game=self._game_ids[0]), content_type="text/markdown")

    async def _results(self, request: web.Request) -> web.Response:
        arena = self._by_game[self._check_game(request.query.get("game_id"))]
        lines = [asdict(line) for line in arena.standings.lines()]
        return web.json_response({"game_id": arena.game.id, "matches": arena.standings.matches, "standings": lines})

    async def _match(self, request: web.Request) -> web.Response:
        match_id = request.match_info["match_id"]
        for arena in self._arenas:
            for result in reversed(arena.results):
                if result.match_id == match_id:
                    return web.json_response(asdict(result))
        if not any(match_id in arena.matches for arena in self._arenas):
            return refuse(404, ts.MATCH_NOT_FOUND, f"there is no match {match_id[:80]!r}")
        return web.json_response({"match_id": match_id, "reason": None})

    async def _health(self, request: web.Request) -> web.Response:
        matches = sum(arena.standings.matches for arena in self._arenas)
        return web.json_response({"ok": True, "game_id": self._arenas[0].game.id, "matches": matches})


def refuse(status: int, error: str, detail: str) -> web.Response:
    """Return a refusal."""
    return web.json_response({"ok": False, "error": error, "error_detail": detail}, status=status)


def _answered(handler: Handler) -> Handler:
    """Return a handler that answers with a refusal where `handler` raises an error."""

    async def answer(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except SessionRefused as error:
            return refuse(error.status, str(error), str(error))
        except (ValueError, RecursionError) as error:
            return refuse(400, ts.INVALID_PAYLOAD, describe_error(error))

    return answer


async def _read(request: web.Request, kind: type[Body]) -> Body:
    return kind.from_json(await read_body(request))


def _token(request: web.Request) -> str:
    return request.query.get("token", "")


def _now() -> float:
    return asyncio.get_running_loop().time()


def _first_lines(game: Game) -> str:
    return f"{game.name} for {game.seats} agents, with the options {dict(game.options)}."


def rules_text(game: Game) -> str:
    """Return the rules for agents: the options, and every action with its meaning."""
    lines = [f"# {game.name}", "", _first_lines(game), "", "## Actions", ""]
    lines += [f"- **{name}**: {', '.join(space) or 'no payload'}" for name, space in game.view.action_spaces.items()]
    lines += ["", "## What they mean", ""]
    lines += [f"- {' or '.join(part.action_types)}: {part.meaning}" for part in game.view.action_ranges]
    return "\n".join([*lines, "", "`allowed_actions` of your state has the payloads with their bounds.", ""])


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
