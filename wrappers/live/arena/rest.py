"""The HTTP calls of the arena host: those of Strategic Agent Games, and some of our own.

Agents over HTTP register and are called by the host (push). Agents that poll create and join sessions. A refusal is
HTTP 4xx with ``{"error", "error_detail"}``.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Any, Protocol, TypeAlias, TypeVar

from aiohttp import web

from ....envs.core import turn_state as ts
from ....envs.core.game import Game
from ....envs.core.turn_state import Wire
from ...logs.log_text import describe_error
from ..common.server import read_body
from ..common.tokens import TOO_MANY, Guesses, bearer_token
from .hosted_sessions import HostedSession, HostedSessions, SessionRefused
from .messages import CreateSession, JoinSession, Register, SessionAct, StartMatch, Unregister
from .platform_games import hosted_games
from .players import RemotePlayer
from .results import ArenaResult, Standings
from .running_matches import RunningMatches

MOST_AGENTS = 1_000
"""Most agents that may register."""
MOST_ASKED = 1_000
"""Most calls of ``POST /api/match`` whose results are remembered."""

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.Response]]
Body = TypeVar("Body", bound=Wire)


class Arena(Protocol):
    """The part of `ArenaHost` that the calls use."""

    game: Game
    matches: RunningMatches
    results: deque[ArenaResult]
    standings: Standings
    guesses: Guesses

    @property
    def players(self) -> Any:
        """The players by id."""
        ...

    def add_remote(self, agent_id: str, endpoint: str) -> str:
        """Add an agent over HTTP."""
        ...

    def remove_remote(self, agent_id: str) -> bool:
        """Remove an agent over HTTP."""
        ...

    def checked_name(self, name: str) -> str:
        """Return the name if an agent may have it."""
        ...

    def play_when_asked(self, work: Any) -> None:
        """Run matches as a task."""
        ...

    async def play(self, agent_ids: Sequence[str], seed: int | None = None) -> ArenaResult:
        """Play one match."""
        ...

    async def play_session(self, session: HostedSession, sessions: HostedSessions) -> None:
        """Play the match of a session."""
        ...


class ArenaRest:
    """The calls.

    Args:
        arena: the host.
        access_token: the token that agents must send to register, create or join a session, or start a match; None:
            no token.
    """

    def __init__(self, arena: Arena, access_token: str | None) -> None:
        self._arena = arena
        self._access_token = access_token
        self._sessions = HostedSessions()
        self._asked: dict[str, dict[str, Any]] = {}
        self._order: deque[str] = deque()
        self._told: dict[str, dict[str, Any]] = {}
        game = arena.game
        self._game_ids = list(dict.fromkeys([*hosted_games(game), game.id, game.name]))

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
            status = self._arena.guesses.status(request.remote or "", bearer_token(request), self._access_token)
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
        player = self._arena.players.get(body.agent_id)
        if body.endpoint is not None and not (isinstance(player, RemotePlayer) and player.endpoint == body.endpoint):
            if len(self._arena.players) >= MOST_AGENTS:
                raise SessionRefused(f"{MOST_AGENTS} agents are here", 409)
            try:
                self._arena.add_remote(body.agent_id, body.endpoint)
            except ValueError as error:
                raise SessionRefused(str(error), 409) from None
        if body.endpoint is not None or (player is None and len(self._told) < MOST_AGENTS):
            self._told[body.agent_id] = {"agent_type": body.agent_type, "supported_games": games or []}
        return web.json_response({"ok": True, **body.to_dict(), "display_name": body.display_name or body.agent_id})

    async def _unregister(self, request: web.Request) -> web.Response:
        name = (await _read(request, Unregister)).agent_id
        try:
            removed = self._arena.remove_remote(name)
        except ValueError as error:
            raise SessionRefused(str(error), 409) from None
        registration = self._told.pop(name, None)
        return web.json_response({"ok": removed or registration is not None})

    async def _agents(self, request: web.Request) -> web.Response:
        ours = {"agent_type": "local", "supported_games": self._game_ids}
        names = dict.fromkeys([*self._arena.players, *self._told])
        rows = [{"agent_id": name, "display_name": name, **self._told.get(name, ours)} for name in names]
        return web.json_response({"agents": rows})

    async def _start(self, request: web.Request) -> web.Response:
        body = await _read(request, StartMatch)
        self._check_game(body.game_id)
        missing = [name for name in body.agent_ids if name not in self._arena.players]
        if missing or len(set(body.agent_ids)) != self._arena.game.seats:
            need = f"{self._arena.game.seats} different agents that have registered"
            raise SessionRefused(f"need {need}; unknown: {', '.join(missing) or 'none'}")
        if sum(one["status"] == "running" for one in self._asked.values()) >= MOST_ASKED:
            raise SessionRefused(f"{MOST_ASKED} calls are being played", 409)
        key = secrets.token_hex(6)
        call = {"status": "running", "game_id": body.game_id or self._game_ids[0], "agent_ids": body.agent_ids}
        self._asked[key] = {**call, "results": []}
        self._order.append(key)
        while len(self._order) > MOST_ASKED:
            del self._asked[self._order.popleft()]
        self._arena.play_when_asked(self._play(self._asked[key], body))
        return web.json_response({"ok": True, "session_id": key, "status": "running"})

    async def _play(self, call: dict[str, Any], body: StartMatch) -> None:
        try:
            for _ in range(body.num_matches):
                call["results"].append(asdict(await self._arena.play(body.agent_ids)))
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
            return self._arena.checked_name(name) if name else ""
        except ValueError as error:
            raise SessionRefused(str(error), 409) from None

    async def _create(self, request: web.Request) -> web.Response:
        body = await _read(request, CreateSession)
        game_id, name, seats = self._check_game(body.game_id), self._name(body.player_name), self._arena.game.seats
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
            self._arena.play_when_asked(self._arena.play_session(session, self._sessions))
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
        game = self._arena.game
        about = {"description": _first_lines(game), "min_agents": game.seats, "max_agents": game.seats}
        return web.json_response({"games": [{"game_id": name, **about} for name in self._game_ids]})

    async def _rules(self, request: web.Request) -> web.Response:
        if request.match_info["game_id"] not in self._game_ids:
            return refuse(404, "unknown_game", f"this arena plays {', '.join(self._game_ids)}")
        return web.Response(text=rules_text(self._arena.game), content_type="text/markdown")

    async def _skill(self, request: web.Request) -> web.Response:
        return web.Response(text=SKILL.format(game=self._game_ids[0]), content_type="text/markdown")

    async def _results(self, request: web.Request) -> web.Response:
        lines = [asdict(line) for line in self._arena.standings.lines()]
        results = {"game_id": self._arena.game.id, "matches": self._arena.standings.matches, "standings": lines}
        return web.json_response(results)

    async def _match(self, request: web.Request) -> web.Response:
        match_id = request.match_info["match_id"]
        for result in reversed(self._arena.results):
            if result.match_id == match_id:
                return web.json_response(asdict(result))
        problem = self._arena.matches.act(match_id, "", None)
        if problem.error == ts.MATCH_NOT_FOUND:
            return refuse(404, ts.MATCH_NOT_FOUND, problem.error_detail or "")
        return web.json_response({"match_id": match_id, "reason": None})

    async def _health(self, request: web.Request) -> web.Response:
        health = {"ok": True, "game_id": self._arena.game.id, "matches": self._arena.standings.matches}
        return web.json_response(health)


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
