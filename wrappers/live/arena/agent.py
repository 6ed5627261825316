"""Our agents in arenas: in the arena's process, over HTTP, where the arena posts to ``/act``, and in sessions.

`ArenaAgent` has no I/O: the seats of its matches, and each turn in its own game's form.
An arena may offer what it then refuses, and may ask without end for messages alone. So a match remembers the answers
that were refused (`Memory`), and its turns offer what is left.

A session is one match that agents poll: the arena needs no way to reach them. One player creates it, and the others
join with invite codes. Each player has a token, requests its state until it is its turn, and posts an action.
"""

import asyncio
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, is_dataclass
from itertools import takewhile
from math import inf
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from ....envs.core.game import Game
from ....envs.core.options import Checked, Seconds, seconds
from ....envs.core.turn_state import (
    Action,
    AgentResponse,
    AllowedAction,
    Message,
    MessageScope,
    TurnState,
    moves_in,
    named_order,
)
from ...agents.base import Agent, SeatNames
from ...agents.language_model import LLMAgent
from ...agents.policy import PolicyAgent
from ...agents.schemas import IDLE, acceptable, both, narrowed, offered_mask, quiet_action, safe_action
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, without_images
from ..common.client import UNREACHABLE, Backoff, Link, LiveError, http_client, request_json
from ..common.clock import CountsMatches
from ..common.limits import Places, client_of
from ..common.player import AgentStatistics, Played, Player, Turn, Turns, fields_of, plain
from ..common.server import Server, ServerSettings, local_url
from .messages import ANSWER_SECONDS, STATE_LIMIT, JoinedSession, MatchEnd, MatchStart, answer_refusals, posted, read
from .platform_games import PlatformGame, platform_game, supported_games

MATCHES = 1_000
"""Number of matches that are remembered; half of them of one address."""
ASKING = ContextVar("asking", default="")
"""The address that a call comes from; "": this machine, or our own request. No match gives way to one of another."""


def read_state(state: Any) -> TurnState:
    """Read a TurnState of any type: ours, a dict, a pydantic model, a dataclass, an object with the same attributes.

    Raises:
        ValueError, TypeError: naming the field that does not fit.
    """
    if isinstance(state, TurnState):
        return state
    data = plain(fields_of(state, TurnState))
    if isinstance(data, dict):  # some send null for what they leave out
        data = {name: part for name, part in data.items() if part is not None}
    return TurnState.from_dict(data)


def convert_to(value: msgspec.Struct, kind: Any) -> Any:
    """Convert a value to `kind`: a dict, a pydantic model or a dataclass; for any other `kind` return it unchanged."""
    if not isinstance(kind, type):
        return value
    if hasattr(kind, "model_validate"):
        return kind.model_validate(msgspec.to_builtins(value))
    if issubclass(kind, Mapping):
        return msgspec.to_builtins(value)
    return msgspec.convert(msgspec.to_builtins(value), kind) if is_dataclass(kind) else value


POLITE = 2
"""Turns in a row that offer only to talk, and are answered so, though nothing changes between them."""
PATIENCE = 100
"""After so many of them nothing can come of the match; the limit of turns of strategic-agent-games ends most before."""
NO_ACTION = Action("none")
"""What no arena takes: it ends a turn in which nothing is offered, and of whose game nothing is known."""
CLOCK_AND_LOG = ("action_history", "current_round", "max_rounds")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass
class ArenaTurn(Turn):
    """A turn of the agent in a match of an arena.

    Its `state` is what the agent gets: our game's id and fields, the seats' names if they are known, and as
    ``allowed_actions`` what the host offers, within the bounds that its state sets (see `narrowed`). Its `problem`
    is why there is no such state; None: there is one.
    """

    arena_state: TurnState = field(kw_only=True)
    own_state: TurnState = field(kw_only=True)
    _names: SeatNames | None = None
    _answers: SeatNames | None = None
    _game: Game | None = None
    _platform: PlatformGame | None = None
    memory: "Memory" = field(kw_only=True, repr=False, compare=False)

    def warns(self) -> bool:
        """Return True if this is the first problem of its match. Later ones are counted, but not logged."""
        first, self.memory.reported = not self.memory.reported, True
        return first

    @property
    def offers(self) -> Sequence[AllowedAction]:
        """See `Turn`."""
        return self.arena_state.allowed_actions

    def safe(self) -> AgentResponse:
        """Return `safe_action` if the game can load the state; else what the offer alone tells."""
        if self._game is not None:
            with suppress(Exception):  # a state that the game cannot read, so that the offer has to do
                tables, seat = self._game.load(self.state)
                mask, offers = self._game.mask(tables[0], seat), self.state.allowed_actions
                mask = acceptable(self._game, tables[0], offered_mask(self._game, tables[0], mask, offers))
                return self.sent(AgentResponse(safe_action(self._game, tables[0], mask, offers)))
        return AgentResponse(quiet_action(self.offers) if self.offers else NO_ACTION)

    def sent(self, response: AgentResponse) -> AgentResponse:
        """Return an answer in the arena's form. Recipients are a list: strategic-agent-games takes no null.

        Where nothing is offered, a pass is `NO_ACTION`: the platform asks again after a refused pass, without end.
        """
        if self._answers is not None:
            response = self._answers.for_agents.response(self._answers.text_for_agents(response))
        if self._platform is not None and self._platform.played is not None:
            response = self._platform.played(response, self.arena_state)
        said = [msgspec.structs.replace(one, to_agent_ids=list(one.to_agent_ids or ())) for one in response.messages]
        action = NO_ACTION if not self.offers and response.action.action_type in IDLE else response.action
        return AgentResponse(action, said)

    def logged(self) -> TurnState:
        """Return the state in our game's form and with the agents' ids."""
        return without_images(self.own_state)

    def notes(self, thoughts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the agent's notes with the agents' ids."""
        chances, names = thoughts.get("probabilities"), self._names
        if names is None or not isinstance(chances, Mapping):
            return thoughts
        named = {names.words_for_agents(str(answer)): chance for answer, chance in chances.items()}
        return {**thoughts, "probabilities": named}


@dataclass
class Memory:
    """What one match has taught."""

    order: list[str] | None = None
    reported: bool = False
    idle: int = 0
    in_vain: int = 0
    answer: Action | None = None
    _seen: Any = None
    _asked: TurnState | None = None
    _refused: dict[tuple[str, str], tuple[str, float, float] | None] = field(default_factory=dict)

    def out_of_turn(self, state: TurnState) -> AgentResponse:
        """Return the answer when the arena asks for messages out of turn: none.

        Where it offers nothing and asks again (a player of werewolf who is dead), a refused action ends it.
        """
        offered = [offer.action_type for offer in state.allowed_actions]
        self.in_vain = 0 if offered else self.in_vain + 1
        if self.in_vain > POLITE:
            return AgentResponse(NO_ACTION)
        silent = not offered or "message_only" in offered
        return AgentResponse(Action("message_only") if silent else quiet_action(state.allowed_actions))

    def offered(self, state: TurnState) -> TurnState:
        """Return a turn's state with an offer that is worth an answer.

        What was refused in its phase is not offered again; a number whose bound the refusal names or implies, within
        it. Where talk alone changes nothing, the offer is empty: a refused action ends such turns on the platforms.
        """
        self._look_for_refusal(state)
        self._asked, self.answer = state, None
        offers = list[AllowedAction]()
        for offer in state.allowed_actions:
            refused = self._refused.get((state.phase, offer.action_type), ("", 0.0, 0.0))
            if refused is not None:
                name, least, most = refused
                schema = both(offer.payload_schema, {name: {"type": "number", "minimum": least, "maximum": most}})
                offers.append(msgspec.structs.replace(offer, payload_schema=schema))
        talk = bool(offers) and all(offer.action_type == IDLE[1] for offer in offers)
        seen = (state.phase, _news(state)) if talk else None
        self.idle = self.idle + 1 if talk and seen == self._seen else int(talk)
        self._seen = seen
        offers = [] if self.idle > POLITE else offers or state.allowed_actions
        return msgspec.structs.replace(state, allowed_actions=offers)

    def refused(self, why: str, since: TurnState | None = None) -> None:
        """Learn from the refusal of the latest answer; `why`: the arena's reason, or empty; `since`: a later state."""
        state, action, self.answer = self._asked, self.answer, None
        if state is None or action is None or action.action_type in IDLE:
            return
        kind, learned = action.action_type, None
        numbers = [(key, value) for key, value in action.payload.items() if isinstance(value, int | float)]
        if len(numbers) == 1 and (state.phase, kind) not in self._refused:
            key, value = numbers[0]
            rows = moves_in((since or state).game_state.get("action_history"), (kind,), state.phase)
            known: list[Any] = [float(text) for text in NUMBER.findall(why)] or [row.get(key) for row in rows]
            others = [one for one in known if isinstance(one, int | float) and one != value]
            if others:
                bound = min(others, key=lambda one: abs(one - value))
                learned = (key, -inf, bound) if bound < value else (key, bound, inf)
        self._refused[state.phase, kind] = learned

    def _look_for_refusal(self, state: TurnState) -> None:
        """Infer a refusal that nobody told: only the clock moved, or the log has others' moves and not the own one."""
        if self._asked is None or self.answer is None:
            return
        before, now = (one.game_state.get("action_history") for one in (self._asked, state))
        if not isinstance(before, list) or not isinstance(now, list) or now[: len(before)] != before:
            return
        new = [row for row in now[len(before) :] if isinstance(row, Mapping)]
        own = [row for row in new if row.get("agent_id") == state.agent_id]
        clocks = [one.game_state.get("current_round") for one in (self._asked, state)]
        still = state.phase == self._asked.phase and _news(state) == _news(self._asked) and clocks[0] != clocks[1]
        if not own if new else still:
            self.refused("", state)


def _news(state: TurnState) -> dict[str, Any]:
    """Return the contents of a state without the clock and the log."""
    return {key: value for key, value in state.game_state.items() if key not in CLOCK_AND_LOG}


class ArenaAgent:
    """An agent in the form that arenas expect.

    Args:
        agent_id: the agent's name in the arena.
        agent: the agent that decides: a `PolicyAgent`, or any object with `respond`.
        for_match: returns the agent of one match, which is asked beside those of others; None: `agent` plays all
            matches, one turn at a time. It is used over HTTP alone.

    Attributes:
        statistics: counters of the answered turns.
        game: the game of a policy or a language model; None: it is not known.
        supported_games: the platforms' ids of the games that the agent plays; None: they are not known.
    """

    def __init__(self, agent_id: str, agent: Agent, for_match: Callable[[], Agent] | None = None) -> None:
        self.agent_id, self.agent, self.for_match = agent_id, agent, for_match
        self.game = agent.game if isinstance(agent, PolicyAgent | LLMAgent) else None
        self.supported_games = None if self.game is None else supported_games(self.game)
        self.statistics = AgentStatistics()
        self._matches: dict[str, Memory] = {}
        self._places = Places[str](MATCHES, MATCHES // 2, apart=True)

    def act(self, state: Any) -> Any:
        """Answer a turn in the caller's own types. An exception of the agent is never raised here.

        The answer to a dict is a dict; to another type, the `AgentResponse` of the module that defines it, else ours.

        Raises:
            ValueError, TypeError: if `state` is no TurnState, naming the field.
        """
        response = self.respond(read_state(state))
        if isinstance(state, TurnState):
            return response
        if isinstance(state, Mapping):
            return response.to_dict()
        return convert_to(response, getattr(sys.modules.get(type(state).__module__), "AgentResponse", None))

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; with the safe action if the agent raises an exception or its answer cannot be read."""
        if not state.is_my_turn:
            return self.match(state.match_id).out_of_turn(state)
        turn = self.turn(state)
        began = time.monotonic()
        response, problem = turn.settle(lambda: self.agent.respond(turn.visible_state()))
        Played(response, problem, seconds=time.monotonic() - began).count(self.statistics, turn)
        turn.memory.answer = response.action
        return response

    def get_metadata(self) -> dict[str, Any]:
        """Return the agent's entry in a platform's match log: its id, the type of its policy, and its game."""
        plays = self.agent.policy if isinstance(self.agent, PolicyAgent) else self.agent
        metadata = {"agent_id": self.agent_id, "type": type(plays).__name__}
        return metadata if self.game is None else {**metadata, "game": self.game.id}

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats."""
        self.match(match_id).order = list(agent_ids)

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Remove what is stored of the match."""
        self._matches.pop(match_id, None)
        self._places.free(match_id)

    # Matches and turns.

    def match(self, match_id: str) -> Memory:
        """Return the memory of a match; one for which there is no place is forgotten at once."""
        if match_id not in self._matches:
            admitted, victim = self._places.take(match_id, ASKING.get())
            if not admitted:
                return Memory()
            self._matches.pop(victim or "", None)
            self._matches[match_id] = Memory()
        return self._matches[match_id]

    def turn(self, state: TurnState) -> ArenaTurn:
        """Return a turn. Never raises: if the state cannot be translated, the turn has a problem.

        A state is not translated if an id is a word of the game. The game then finds the seats by ``agent_ids``.
        """
        memory = self.match(state.match_id)
        try:
            state = memory.offered(state)
            turn = self._turn(state, memory)
        except Exception as error:  # whatever a foreign state holds
            problem = describe_error(error)
            turn = ArenaTurn(state, problem=problem, arena_state=state, own_state=state, memory=memory)
        turn.table, turn.name = state.match_id or object(), f"match {state.match_id}"
        return turn

    def _turn(self, state: TurnState, memory: Memory) -> ArenaTurn:
        game, own, seen = self.game, state, state
        platform = answers = names = None
        if game is not None:
            if (platform := platform_game(state.game_id, game)) is not None:
                own = seen = msgspec.structs.replace(platform.seen(state), game_id=game.id)
            order = memory.order or named_order(own)
            least = game.options.get("fewest") or game.seats
            if least <= len(order) <= game.seats and len(order) == len(set(order)):
                answers = SeatNames(order, game.agents[: len(order)])
                if not game.words.intersection(order):
                    names, seen = answers, answers.for_game.state(own)
                elif named_order(own) != order:
                    answers = None  # the game itself finds the seats in the state, and these may be others
            if platform is not None:
                tables, seat = game.load(seen)
                offers = narrowed(legal := game.allowed_actions(tables[0]), seen.allowed_actions)
                mask = offered_mask(game, tables[0], game.mask(tables[0], seat), offers)
                if mask.any() and not acceptable(game, tables[0], mask, best=False).any():
                    # All that is offered is worth less than no agreement: a refused action leaves the turn to others.
                    offers, state = legal, msgspec.structs.replace(state, allowed_actions=[])
                seen = msgspec.structs.replace(seen, allowed_actions=offers)
        translation: dict[str, Any] = {"_names": names, "_answers": answers, "_game": game, "_platform": platform}
        return ArenaTurn(seen, arena_state=state, own_state=own, memory=memory, **translation)


MOST_MATCHES = 64
"""The most matches with an agent of their own, half of them of one address; else `agent` plays."""


class ArenaDecisions(CountsMatches):
    """Asks one agent for the answers of all its matches, one turn at a time; or an agent for each match.

    A turn that is still open when its match ends or has the next one is given up, and counts as replaced.

    Raises:
        ValueError: if the deadline is not above 0.
    """

    def __init__(self, agent: ArenaAgent, deadline: float, log: MatchLog | None = None) -> None:
        seconds("deadline", deadline)
        self.agent, self.turns = agent, 0
        self._deadline, self._match_log = deadline, SafeMatchLog(log)
        self._player: Player
        self._by_match: dict[Hashable, Player] = {}
        self._own_agents = Places[str](MOST_MATCHES, MOST_MATCHES // 2, apart=True)
        self._turns = Turns(self._player_in)

    async def opening(self) -> None:
        """Warm up the agent, if it has `warm_up`."""
        self._player = self._player_of(self.agent.agent)
        await self._player.warm_up()
        await asyncio.to_thread(getattr, self.agent.game, "words", None)  # which takes up to a second at first

    async def closing(self) -> None:
        """Stop the threads of the agents."""
        for player in (self._player, *self._by_match.values()):
            player.close()

    def _player_of(self, agent: Agent) -> Player:
        return Player(agent, log=self._match_log, statistics=self.agent.statistics)

    def _player_in(self, turn: Turn) -> Player:
        """Return the player of a turn's match."""
        if self.agent.for_match is None:
            return self._player
        match_id = turn.state.match_id
        if match_id not in self._by_match:
            admitted, victim = self._own_agents.take(match_id, ASKING.get())
            if not admitted:
                return self._player
            if victim in self._by_match:
                self._by_match.pop(victim).close()
            self._by_match[match_id] = self._player_of(self.agent.for_match())
        return self._by_match[match_id]

    async def decide(self, state: TurnState) -> AgentResponse:
        """Answer a turn, or a request for messages out of turn. No exception, of the agent or of ours, is raised."""
        self.turns += 1
        try:
            if not state.is_my_turn:
                return self.agent.match(state.match_id).out_of_turn(state)
            turn = self.agent.turn(state)
            turn.seconds = self._deadline
            response = (await self._turns.answer(turn)).response
            turn.memory.answer = response.action
            return response
        except Exception:
            self.agent.statistics.decided(0.0, replaced=True)
            self._player.fault(f"match {state.match_id}: an error of ours, so that the safe action is the answer")
            return AgentResponse(quiet_action(state.allowed_actions) if state.allowed_actions else NO_ACTION)

    def match_started(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats, and log the beginning."""
        self.agent.on_match_start(match_id, game_id, agent_ids)
        self._match_log.write("joined", match_id=match_id, game_id=game_id, agent_ids=list(agent_ids))

    def match_ended(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Log the end, and remove what is stored of the match."""
        self.match_over()
        self._match_log.write("ended", match_id=match_id, outcome=outcome)
        self._turns.drop(match_id)
        self._own_agents.free(match_id)
        if (player := self._by_match.pop(match_id, None)) is not None:
            player.close()
        self.agent.on_match_end(match_id, outcome)


def arena_url(arena: str) -> URL:
    """Return the URL of an arena.

    Raises:
        ValueError: if it is not an HTTP URL.
    """
    url = URL(arena)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{arena} is no address: give http://… of the arena")
    return url


def arena_client(access_token: str | None) -> aiohttp.ClientSession:
    """Return the HTTP client for an arena; with the access token in every request."""
    headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
    return http_client(headers, seconds=ANSWER_SECONDS)


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None, which arenas do not take."""
    return {key: value for key, value in fields.items() if value is not None}


async def register(
    http: aiohttp.ClientSession, url: URL, backoff: Backoff, agent_id: str, fields: Mapping[str, Any]
) -> None:
    """Register an agent.

    Args:
        http: the HTTP client.
        url: the arena's URL.
        backoff: number of tries and waits.
        agent_id: the agent's name.
        fields: further fields of the registration; those that are None are not sent.

    Raises:
        ConnectionError: if the arena refuses, or cannot be reached after all tries.
    """
    body = {"agent_id": agent_id, "display_name": agent_id, **present(fields)}
    try:
        await request_json(http, "POST", url / "api/register", backoff, json=body)
    except LiveError as error:
        raise ConnectionError(f"cannot register at {url}: {error}") from None


class ArenaAgentServer(ArenaDecisions, Server):
    """An agent over HTTP: ``POST /act``, ``/match_start``, ``/match_end``, ``GET /health``.

    >>> async with ArenaAgentServer(ArenaAgent("me", agent)) as server:      # doctest: +SKIP
    ...     await server.register("http://127.0.0.1:9100")
    """

    middlewares = (answer_refusals,)

    def __init__(
        self,
        agent: ArenaAgent,
        *,
        server: ServerSettings | None = None,
        deadline: float = 0.8 * ANSWER_SECONDS,
        endpoint: str | None = None,
        log: MatchLog | None = None,
    ) -> None:
        Server.__init__(self, server, body_limit=STATE_LIMIT)
        ArenaDecisions.__init__(self, agent, deadline, log)
        self._endpoint = endpoint

    @property
    def endpoint(self) -> str:
        """The URL under which arenas reach the agent, after the start."""
        return self._endpoint or local_url(self.url)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.post("/act", self._act),
            posted("/match_start", MatchStart, self._match_start),
            posted("/match_end", MatchEnd, self._match_end),
            web.get("/health", self._health),
        ]

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
        games, url = self.agent.supported_games, arena_url(arena)
        fields = {"endpoint": self.endpoint, "agent_type": "remote", "supported_games": games}
        async with arena_client(access_token) as http:
            await register(http, url, Backoff(wait, retries + 1, growth=1), self.agent.agent_id, fields)

    # The calls of an arena.

    async def _act(self, request: web.Request) -> web.Response:
        ASKING.set(client_of(request))
        state = await read(request, lambda body: read_state(msgspec.json.decode(body)), ANSWER_SECONDS)
        return web.json_response(body=(await self.decide(state)).to_json())

    async def _match_start(self, request: web.Request, start: MatchStart) -> Any:
        ASKING.set(client_of(request))
        self._player.guarded("match_start", self.match_started, start.match_id, start.game_id, start.agent_ids)
        return {"ok": True}

    async def _match_end(self, request: web.Request, end: MatchEnd) -> Any:
        self._player.guarded("match_end", self.match_ended, end.match_id, end.outcome)
        return {"ok": True}

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "agent_id": self.agent.agent_id})


logger = logging.getLogger(__name__)

MOST_MESSAGES = 1000
"""The latest messages of the chat that are kept."""
SECONDS = aiohttp.ClientTimeout(total=2.0)
"""The time of a request for them. The turn waits for it."""
SESSIONS = "api/sessions"
CHAT, EVENTS = "chat/sync", "sync"
"""The paths of the feeds beside a session."""


class SessionFeeds:
    """The chat and the events that an arena may send beside a session. A request that fails costs no turn."""

    def __init__(self, http: aiohttp.ClientSession, sessions: URL, token: str, agent_id: str) -> None:
        self._http, self._sessions, self._token, self._agent_id = http, sessions, token, agent_id
        self._next = Counter[str]()  # by feed
        self._missing = set[str]()
        self._said: list[Message] = []

    async def _new_rows(self, feed: str, name: str) -> list[Any]:
        """Return the rows from the next one on; [] if the arena has no such feed, or does not answer."""
        if feed in self._missing:
            return []
        query, once = {"token": self._token, "index": str(self._next[feed])}, Backoff(0.0, 1)
        try:
            url = self._sessions / feed
            body = await request_json(self._http, "GET", url, once, STATE_LIMIT, params=query, timeout=SECONDS)
        except LiveError as error:
            if error.code != UNREACHABLE:
                self._missing.add(feed)
            logger.info("%s cannot be read: %s", feed, error)
            return []
        rows = body.get(name) if isinstance(body, Mapping) else None
        return rows if isinstance(rows, list) else []

    async def chat(self) -> list[Message]:
        """Return the messages that the player may read; without an answer, those read before.

        Other players use the chat to speak at any time, and not in their turns only.
        """
        # The answer's `total` is not used: one arena leaves out the messages that a player may not read.
        for row in await self._new_rows(CHAT, "messages"):
            if isinstance(row, Mapping) and isinstance(index := row.get("index"), int) and index >= self._next[CHAT]:
                self._next[CHAT] = index + 1
                sender = str(row.get("sender_display_name") or row.get("sender_id"))
                scope = MessageScope.PRIVATE if row.get("scope") == "private" else MessageScope.PUBLIC
                self._said.append(Message(f"chat_{index}", sender, scope, str(row.get("content", ""))))
        del self._said[:-MOST_MESSAGES]
        return list(self._said)

    async def refused(self) -> list[tuple[str, str]]:
        """Return the agent's actions that the platform refused since the last call as text, each with its reason.

        The answer to an action may not tell. The platform sends the events of all agents. Only the own actions are
        read, because the others' states are private.
        """
        events = await self._new_rows(EVENTS, "events")
        self._next[EVENTS] += len(events)
        own = [one for one in events if isinstance(one, Mapping) and one.get("agent_id") == self._agent_id]
        actions = [one.get("data") for one in own if one.get("event_type") == "action"]
        refused = [one for one in actions if isinstance(one, Mapping) and one.get("ok") is False]
        return [
            (f"{one.get('action_type')} {one.get('payload')}", str(one.get("error_detail") or one.get("error")))
            for one in refused
        ]


STALE_SECONDS = 2.0
"""For so long, a state that equals the answered one counts as the same turn: the arena may be slow."""
QUIET_SECONDS = 3600.0
"""After so long without a turn of the agent nothing can come of a match: an arena may ask another player for ever."""
TRIES = 20
"""Tries of a call before the arena counts as unreachable."""


@dataclass(frozen=True, kw_only=True)
class PollingTimes(Checked):
    """Times in seconds.

    Attributes:
        decision: the deadline of a decision; after it the safe action is played.
        running: between two requests of the state, when it is not the agent's turn.
        waiting: between two requests for sessions, and of the state of a session that waits for players.
        retry: before the second try of a call that failed; later waits are longer.

    Raises:
        ValueError: if one is not above 0.
    """

    decision: Seconds = 0.8 * ANSWER_SECONDS
    running: Seconds = 0.5
    waiting: Seconds = 2.0
    retry: Seconds = 1.0


class ArenaPollingAgent(ArenaDecisions):
    """An agent in any number of an arena's sessions at the same time.

    >>> async with ArenaPollingAgent(ArenaAgent("me", agent), "http://127.0.0.1:9100") as player:  # doctest: +SKIP
    ...     await player.register()
    ...     await player.play(sessions=4, matches=100)

    Raises:
        ValueError: if `arena` is not an HTTP URL, or there is no game to play.
    """

    def __init__(
        self,
        agent: ArenaAgent,
        arena: str,
        *,
        games: Sequence[str] | None = None,
        seats: int | None = None,
        access_token: str | None = None,
        times: PollingTimes | None = None,
        log: MatchLog | None = None,
    ) -> None:
        self._times = times or PollingTimes()
        super().__init__(agent, self._times.decision, log)
        self.lost, self.link = 0, Link()
        self.claim_token: str | None = None
        self._url, self._seats, self._access_token = arena_url(arena), seats, access_token
        self._games = list(games if games is not None else agent.supported_games or ())
        if not self._games:
            raise ValueError(f"{agent.agent_id} has no list of its games: name them")
        self._invites: list[str] = []
        self._own: JoinedSession | None = None  # one that waits for players
        self._opened = 0
        self._http: aiohttp.ClientSession

    async def __aenter__(self) -> "ArenaPollingAgent":
        self._http = arena_client(self._access_token)
        await self.opening()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.closing()
        await self._http.close()

    async def register(self) -> None:
        """Register the agent with the games that it plays.

        Raises:
            ConnectionError: if the arena refuses, or cannot be reached after all tries.
        """
        fields = {"agent_type": "polling", "supported_games": self._games}
        await register(self._http, self._url, self._backoff(), self.agent.agent_id, fields)

    async def play(self, sessions: int = 1, matches: int | None = None, invites: Sequence[str] = ()) -> None:
        """Play sessions: those of `invites` first, then sessions that wait for players, then sessions of its own.

        An own session that waits for players is played too if somebody joins it before the last match has ended; it
        may be one more than `matches`. After that it stays there until it expires.

        Args:
            sessions: number of sessions at the same time, at least 1.
            matches: number of sessions in all; None: no limit.
            invites: invite codes of sessions to join.

        Raises:
            ConnectionError: if the arena refuses, or cannot be reached after all tries.
            ValueError: if `sessions` is below 1.
        """
        if sessions < 1:
            raise ValueError(f"sessions={sessions}: at least 1")
        self._invites = list(invites)
        begun, running = 0, set[asyncio.Task[None]]()
        try:
            await self._claim()
            self._games = await self._games_there()
            async with asyncio.TaskGroup() as group:
                while (more := matches is None or begun < matches) or self._own is not None:
                    seat = None
                    try:
                        seat = await self._seat_that_begins(looking=more and len(running) < sessions)
                    except LiveError:
                        raise
                    except Exception:
                        self._player.fault("an error of ours at a session that begins; the others go on")
                    if seat is not None:
                        begun += 1
                        task = group.create_task(self._play(seat))
                        running.add(task)
                        task.add_done_callback(running.discard)
                    elif running:
                        await asyncio.wait(running, timeout=self._times.waiting, return_when=asyncio.FIRST_COMPLETED)
                    elif more:
                        await asyncio.sleep(self._times.waiting)
                    else:
                        break
        except* LiveError as errors:
            raise ConnectionError(f"cannot play at {self._url}: {errors.exceptions[0]}") from None

    async def _claim(self) -> None:
        """Claim the agent's name at an arena with claims. A join would do it, but keep the token if it fails.

        Raises:
            LiveError: if the name belongs to another agent, or the arena cannot be reached.
        """
        try:
            answer = await self._request("POST", "api/claim", name=self.agent.agent_id, claim_token=self.claim_token)
        except LiveError as error:
            if error.code not in ("HTTP 404", "HTTP 405"):
                raise
            answer = None  # an arena without claims
        if isinstance(answer, Mapping) and isinstance(answer.get("claim_token"), str):
            self.claim_token = answer["claim_token"]

    async def _games_there(self) -> list[str]:
        """Return the agent's games that the arena has; all of them if the arena has no list.

        Raises:
            LiveError: if the arena has none of them.
        """
        try:
            listed = await self._request("GET", "api/games")
        except LiveError as error:
            if error.code == UNREACHABLE:
                raise
            return self._games
        there = [game.get("game_id") for game in _rows(listed, "games")]
        games = [game for game in self._games if game in there]
        if not games:
            raise LiveError("NO_GAME", f"it plays {', '.join(map(str, there))}, and the agent {', '.join(self._games)}")
        return games

    # A seat.

    async def _seat_that_begins(self, looking: bool) -> JoinedSession | None:
        """Return a seat in a session: an own session that others have joined, or one that the agent joins now.

        At most one own session waits for players, and the agent keeps its seat there. If two agents have created one
        session each, the creator of the younger session joins the older session.

        Args:
            looking: whether to join or create further sessions.
        """
        if self._own is not None and not await self._waits(self._own):
            begun, self._own = self._own, None
            return begun
        if not looking:
            return None
        seat = await self._join(self._invites.pop(0)) if self._invites else await self._find()
        if seat is None and self._own is None and not self._invites:
            game = self._games[self._opened % len(self._games)]
            self._own = own = await self._enter("create", game_id=game, num_players=self._seats)
            self._opened += 1
            logger.info("session %s waits for players: %s", own.session_id, ", ".join(own.invite_codes))
        return seat

    async def _find(self) -> JoinedSession | None:
        """Join a session that waits for players and is older than the own one; None if there is none.

        An own session that has been joined meanwhile comes first.
        """
        own = self._own and self._own.session_id
        for game in self._games:
            listed = await self._request("GET", SESSIONS, status="waiting", game_id=game)
            for session in takewhile(lambda one: one.get("session_id") != own, _rows(listed, "sessions")):
                names = [player.get("display_name") for player in _rows(session, "players")]
                codes = session.get("invite_codes")
                if self.agent.agent_id in names or session.get("game_id") != game or not self._fits(session):
                    continue
                for code in codes if isinstance(codes, list) else ():  # others may use some of them in the meantime
                    if self._own is not None and not await self._waits(self._own):
                        return None
                    if (seat := await self._join(code)) is not None:
                        return seat
        return None

    async def _waits(self, seat: JoinedSession) -> bool:
        """Return True if a session waits for players."""
        return (await self._call("GET", "state", token=seat.token)).get("status") == "waiting"

    def _fits(self, session: Mapping[str, Any]) -> bool:
        """Return True if a session has as many players as the agent's game; also True if it does not say."""
        joined, free = session.get("num_players"), session.get("slots_remaining")
        if not isinstance(joined, int) or not isinstance(free, int):
            return True
        return self._seats in (None, joined + free)

    async def _join(self, code: str) -> JoinedSession | None:
        """Return the seat of an invite code; None if the code was used or the session has expired."""
        try:
            return await self._enter("join", invite_code=code)
        except LiveError as error:
            if error.code != "HTTP 400":
                raise
            logger.info("an invite code is of no use: %s", error)
            return None

    async def _enter(self, way: str, **fields: Any) -> JoinedSession:
        name, claim = self.agent.agent_id, self.claim_token
        answer = await self._call("POST", way, **fields, player_name=name, claim_token=claim)
        try:
            seat = JoinedSession.from_dict(answer)
        except msgspec.ValidationError as error:
            raise LiveError("BAD_ANSWER", f"{way}: {error}") from None
        self.claim_token = seat.claim_token or self.claim_token
        return seat

    # A session.

    async def _play(self, session: JoinedSession) -> None:
        """Play a session to its end. If that is not possible, count it as lost.

        Raises:
            LiveError: if the arena cannot be reached after all tries.
        """
        try:
            await self._poll(session)
        except LiveError as error:
            if error.code == UNREACHABLE:
                raise
            self.lost += 1
            logger.warning("session %s is lost: %s", session.session_id, error)
        except Exception:
            self.lost += 1
            self._player.fault(f"session {session.session_id} is lost by an error of ours")

    async def _poll(self, session: JoinedSession) -> None:
        """Request states and answer turns until the session is over. The agent reads the chat with each turn."""
        token, match_id = session.token, session.session_id
        feeds = SessionFeeds(self._http, self._url / SESSIONS, token, self.agent.agent_id)
        answered, answered_at, turn_at = dict[str, Any](), 0.0, time.monotonic()
        while True:
            body = await self._call("GET", "state", token=token)
            over = body.get("status") not in ("waiting", "running")
            if not over and (self.agent.match(match_id).idle >= PATIENCE or time.monotonic() - turn_at > QUIET_SECONDS):
                raise LiveError("NOTHING_HAPPENS", f"no decision in {PATIENCE} turns or {QUIET_SECONDS:.0f} seconds")
            stale = body == answered and time.monotonic() - answered_at < STALE_SECONDS
            if not over and (stale or body.get("waiting", True)):
                await asyncio.sleep(self._times.running)
                continue
            match_id = str(body.get("match_id", match_id))
            for refused, why in await feeds.refused():
                self.agent.statistics.rejected += 1
                self.agent.match(match_id).refused(why)
                logger.warning("match %s: the arena refused %s: %s", match_id, refused, why)
            if over:
                break
            response = (await self._decide(body, await feeds.chat())).to_dict()
            try:
                await self._call("POST", "act", token=token, **response["action"], messages=response["messages"])
            except LiveError as error:
                if error.code != "HTTP 400":
                    raise
                self.agent.statistics.rejected += 1  # most often too late; the next state shows the turn
                logger.info("an action was refused: %s", error)
            answered, answered_at = body, time.monotonic()
            turn_at = answered_at if body.get("is_my_turn") else turn_at
        outcome = body.get("outcome")
        if not isinstance(outcome, Mapping):
            raise LiveError("NO_OUTCOME", f"match {match_id}: {body.get('error') or body.get('status')}")
        self.match_ended(match_id, outcome)

    async def _decide(self, body: dict[str, Any], chat: list[Message]) -> AgentResponse:
        """Answer a turn, or a request for messages, which has a state but is not the agent's turn."""
        order = body.get("agent_ids")
        try:
            state = read_state({"agent_id": self.agent.agent_id, **body})
        except (ValueError, TypeError) as error:
            raise LiveError("BAD_ANSWER", f"the state cannot be read: {describe_error(error)}") from None
        state.messages = [*state.messages, *chat]
        if isinstance(order, list) and self.agent.match(state.match_id).order is None:
            self.match_started(state.match_id, state.game_id, order)
        return await self.decide(state)

    # Calls.

    async def _call(self, method: str, path: str, **fields: Any) -> dict[str, Any]:
        body = await self._request(method, f"{SESSIONS}/{path}", **fields)
        return body if isinstance(body, dict) else {}

    async def _request(self, method: str, path: str, **fields: Any) -> Any:
        """Return an answer. Fields that are None are not sent."""
        sent = {"json" if method == "POST" else "params": present(fields)}
        body = await request_json(self._http, method, self._url / path, self._backoff(), STATE_LIMIT, **sent)
        self.link.up()
        return body

    def _backoff(self) -> Backoff:
        return Backoff(self._times.retry, TRIES, link=self.link)


def _rows(answer: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects of a list in an answer, or of an answer that is a list; what is no object is left out."""
    rows = answer.get(name) if isinstance(answer, dict) else answer
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
