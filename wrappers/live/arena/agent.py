"""Our agents in arenas: objects with `act` in the arena's process, and over HTTP, where the arena posts to ``/act``.

`ArenaAgent` has no I/O: the seats of its matches, and each turn in its own game's form.
An arena may offer what it then refuses, and may ask without end for messages alone. So a match remembers the answers
that were refused (`Memory`), and its turns offer what is left.
"""

import asyncio
import re
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from yarl import URL

from ....envs.core.game import Game
from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, TurnState, moves_in, named_order
from ...agents.base import Agent
from ...agents.llm import LLMAgent
from ...agents.policy import PolicyAgent
from ...agents.schemas import IDLE, acceptable, both, narrowed, offered_mask, quiet_action, safe_action
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, without_images
from ..common.client import Backoff, LiveError, http_client, request_json
from ..common.clock import EndCounter
from ..common.match_session import SeatNames
from ..common.player import AgentStatistics, Played, Player, Turn, Turns, convert_to, read_state
from ..common.server import Server, ServerSettings, local_url
from .messages import ANSWER_SECONDS, STATE_LIMIT, MatchEnd, MatchStart, answer_refusals, posted, read
from .platform_games import PlatformGame, platform_game, supported_games

MATCHES = 1_000
"""Number of matches that are remembered."""

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

    Attributes:
        arena_state: the TurnState that the arena sent.
        own_state: the same in our game's form, with the agents' ids.
    """

    arena_state: TurnState = field(kw_only=True)
    own_state: TurnState = field(kw_only=True)
    _names: SeatNames | None = None
    _answers: SeatNames | None = None
    _game: Game | None = None
    _platform: PlatformGame | None = None
    memory: "Memory" = field(kw_only=True, repr=False, compare=False)

    def warns(self) -> bool:
        """Return whether this is the first problem of its match. Later ones are counted, but not logged."""
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
                tables, seat = self._game.view.load(self.state)
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
    """What one match has taught.

    Attributes:
        order: the agents in the order of their seats; None: it is not known.
        reported: whether a problem was logged.
        idle: the turns in a row that offered only to talk, in the same state.
        in_vain: the requests in a row out of turn that offered nothing.
        answer: what was sent in the latest turn; None: nothing yet.
    """

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
        seen = (state.phase, _told(state)) if talk else None
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
        still = state.phase == self._asked.phase and _told(state) == _told(self._asked) and clocks[0] != clocks[1]
        if not own if new else still:
            self.refused("", state)


def _told(state: TurnState) -> dict[str, Any]:
    """Return what a state tells besides the clock and the log."""
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
        response, problem = turn.settle(lambda: self.agent.respond(turn.shown()))
        Played(response, problem, seconds=time.monotonic() - began).count(self.statistics, turn)
        turn.memory.answer = response.action
        return response

    def get_metadata(self) -> dict[str, Any]:
        """Return what platforms write into a match's log: the agent's id, the type of its policy, and its game."""
        plays = self.agent.policy if isinstance(self.agent, PolicyAgent) else self.agent
        metadata = {"agent_id": self.agent_id, "type": type(plays).__name__}
        return metadata if self.game is None else {**metadata, "game": self.game.id}

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats."""
        self.match(match_id).order = list(agent_ids)

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Remove what is stored of the match."""
        self._matches.pop(match_id, None)

    # Matches and turns.

    def match(self, match_id: str) -> Memory:
        """Return what is remembered of a match."""
        memory = self._matches.setdefault(match_id, Memory())
        if len(self._matches) > MATCHES:
            del self._matches[next(iter(self._matches))]
        return memory

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
                tables, seat = game.view.load(seen)
                offers = narrowed(legal := game.allowed_actions(tables[0]), seen.allowed_actions)
                mask = offered_mask(game, tables[0], game.mask(tables[0], seat), offers)
                if mask.any() and not acceptable(game, tables[0], mask, best=False).any():
                    # All that is offered is worth less than no agreement: a refused action leaves the turn to others.
                    offers, state = legal, msgspec.structs.replace(state, allowed_actions=[])
                seen = msgspec.structs.replace(seen, allowed_actions=offers)
        return ArenaTurn(
            seen,
            arena_state=state,
            own_state=own,
            memory=memory,
            _names=names,
            _answers=answers,
            _game=game,
            _platform=platform,
        )


MOST_MATCHES = 64
"""The most matches with an agent of their own; the agent of the oldest one is dropped."""


class ArenaDecisions:
    """Asks one agent for the answers of all its matches, one turn at a time; or an agent for each match.

    A turn that is still open when its match ends or has the next one is given up, and counts as replaced.

    Args:
        agent: the agent; it runs in its own thread.
        deadline: seconds for a decision; after them the safe action is the answer.
        log: the log of all decisions; None: no log.

    Attributes:
        agent: the agent.
        turns: number of answered turns.

    Raises:
        ValueError: if the deadline is not above 0.
    """

    def __init__(self, agent: ArenaAgent, deadline: float, log: MatchLog | None = None) -> None:
        if deadline <= 0:
            raise ValueError(f"deadline={deadline}: seconds for a decision, above 0")
        self.agent, self.turns = agent, 0
        self._ended, self._deadline, self._match_log = EndCounter(), deadline, SafeMatchLog(log)
        self._player: Player
        self._by_match: dict[Hashable, Player] = {}
        self._turns = Turns(self._player_in)

    @property
    def matches(self) -> int:
        """Number of ended matches."""
        return self._ended.count

    async def played(self, matches: int | None = None) -> None:
        """Wait until this number of matches has ended; None: without end."""
        await self._ended.reached(matches)

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
            self._by_match[match_id] = self._player_of(self.agent.for_match())
            if len(self._by_match) > MOST_MATCHES:
                self._by_match.pop(next(iter(self._by_match))).close()
        return self._by_match[match_id]

    async def decide(self, state: TurnState) -> AgentResponse:
        """Answer a turn, or a request for messages out of turn. An exception of the agent is never raised here."""
        self.turns += 1
        if not state.is_my_turn:
            return self.agent.match(state.match_id).out_of_turn(state)
        turn = self.agent.turn(state)
        turn.seconds = self._deadline
        response = (await self._turns.answer(turn)).response
        turn.memory.answer = response.action
        return response

    def match_started(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats, and log the beginning."""
        self.agent.on_match_start(match_id, game_id, agent_ids)
        self._match_log.write("joined", match_id=match_id, game_id=game_id, agent_ids=list(agent_ids))

    def match_ended(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Log the end, and remove what is stored of the match."""
        self._match_log.write("ended", match_id=match_id, outcome=outcome)
        self._turns.drop(match_id)
        if (player := self._by_match.pop(match_id, None)) is not None:
            player.close()
        self.agent.on_match_end(match_id, outcome)
        self._ended.add()


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

    Args:
        agent: the agent; it runs in its own thread, one call at a time.
        server: where it listens.
        deadline: seconds for a decision; after them the safe action is the answer.
        endpoint: the URL under which arenas reach the agent; None: the address where it listens.
        log: the log of all decisions; None: no log.
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
        state = await read(request, lambda body: read_state(msgspec.json.decode(body)), ANSWER_SECONDS)
        return web.json_response(body=(await self.decide(state)).to_json())

    async def _match_start(self, request: web.Request, start: MatchStart) -> Any:
        self.match_started(start.match_id, start.game_id, start.agent_ids)
        return {"ok": True}

    async def _match_end(self, request: web.Request, end: MatchEnd) -> Any:
        self.match_ended(end.match_id, end.outcome)
        return {"ok": True}

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "agent_id": self.agent.agent_id})
