"""Our agents in arenas: objects with `act` in the arena's process, and over HTTP with a deadline and a log."""

import asyncio
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.game import Game
from ....envs.core.turn_state import AgentResponse, TurnState
from ...agents.base import Agent
from ...agents.llm import LLMAgent
from ...agents.policy import PolicyAgent
from ...logs.match_log import MatchLog, SafeMatchLog
from ..common.agent_turn import AgentStatistics, Played, Turn, convert_to, read_state
from ..common.client import Backoff, LiveError, http_client, request_json
from ..common.clock import EndCounter
from ..common.player import Player, Turns
from .agent_session import ArenaAgentSession, out_of_turn
from .messages import ANSWER_SECONDS
from .platform_games import supported_games


class ArenaAgent:
    """An agent in the form that arenas expect.

    Args:
        agent_id: the agent's name in the arena.
        agent: the agent that decides: a `PolicyAgent`, or any object with `respond`.
        for_match: returns the agent of one match, which is asked beside those of others; None: `agent` plays all
            matches, one turn at a time. It is used over HTTP alone.
        response_type: what `act` returns: a pydantic model, dataclass or struct. None: a dict for a dict, else the
            `AgentResponse` of the module that defines the state's class, else ours.

    Attributes:
        statistics: counters of the answered turns.
    """

    def __init__(
        self, agent_id: str, agent: Agent, response_type: Any = None, for_match: Callable[[], Agent] | None = None
    ) -> None:
        self.agent_id = agent_id
        self.for_match = for_match
        self.agent = agent
        self.statistics = AgentStatistics()
        self.session = ArenaAgentSession(self.game)
        self._response_type = response_type

    @property
    def game(self) -> Game | None:
        """The game of a policy or a language model; None: it is not known."""
        return self.agent.game if isinstance(self.agent, PolicyAgent | LLMAgent) else None

    def act(self, state: Any) -> Any:
        """Answer a turn in the caller's own types. An exception of the agent is never raised here.

        Raises:
            ValueError, TypeError: if `state` is no TurnState, naming the field.
        """
        return _as_caller(self.respond(read_state(state)), state, self._response_type)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; with the safe action if the agent raises an exception or its answer cannot be read."""
        if not state.is_my_turn:
            return out_of_turn(state)
        turn = self.session.turn(state)
        began = time.monotonic()
        response, problem = turn.settle(lambda: self.agent.respond(turn.shown()))
        Played(response, problem, seconds=time.monotonic() - began).count(self.statistics, turn)
        turn.memory.answered(response.action)
        return response

    @property
    def supported_games(self) -> list[str] | None:
        """The platforms' ids of the games that the agent plays; None if they are not known."""
        return None if self.game is None else supported_games(self.game)

    def get_metadata(self) -> dict[str, Any]:
        """Return what platforms write into a match's log: the agent's id, the type of its policy, and its game."""
        metadata = {"agent_id": self.agent_id, "type": type(self.agent).__name__}
        if isinstance(self.agent, PolicyAgent):
            metadata["type"] = type(self.agent.policy).__name__
        return metadata if self.game is None else {**metadata, "game": self.game.id}

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats."""
        self.session.match(match_id).order = list(agent_ids)

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Remove what is stored of the match."""
        self.session.match_ended(match_id)


def _as_caller(response: AgentResponse, state: Any, response_type: Any) -> Any:
    if response_type is None:
        if isinstance(state, TurnState):
            return response
        if isinstance(state, Mapping):
            return response.to_dict()
        response_type = getattr(sys.modules.get(type(state).__module__), "AgentResponse", None)
    return convert_to(response, response_type)


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
        ended: counter of ended matches.

    Raises:
        ValueError: if the deadline is not above 0.
    """

    def __init__(self, agent: ArenaAgent, deadline: float, log: MatchLog | None = None) -> None:
        if deadline <= 0:
            raise ValueError(f"deadline={deadline}: seconds for a decision, above 0")
        self.agent = agent
        self.turns = 0
        self.ended = EndCounter()
        self._deadline = deadline
        self._log = SafeMatchLog(log)
        self._player: Player
        self._by_match: dict[Hashable, Player] = {}
        self._turns = Turns(self._player_in)

    async def open(self) -> None:
        """Warm up the agent, if it has `warm_up`."""
        self._player = self._player_of(self.agent.agent)
        await self._player.warm_up()
        await asyncio.to_thread(self.agent.session.warm_up)

    def close(self) -> None:
        """Stop the threads of the agents."""
        for player in (self._player, *self._by_match.values()):
            player.close()

    def _player_of(self, agent: Agent) -> Player:
        return Player(agent, log=self._log, statistics=self.agent.statistics)

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
            return out_of_turn(state)
        turn = self.agent.session.turn(state)
        turn.seconds = self._deadline
        response = (await self._turns.answer(turn)).response
        turn.memory.answered(response.action)
        return response

    def match_started(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats, and log the beginning."""
        self.agent.on_match_start(match_id, game_id, agent_ids)
        self._log.write("joined", match_id=match_id, game_id=game_id, agent_ids=list(agent_ids))

    def match_ended(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Log the end, and remove what is stored of the match."""
        self._log.write("ended", match_id=match_id, outcome=outcome)
        self._turns.drop(match_id)
        if (player := self._by_match.pop(match_id, None)) is not None:
            player.close()
        self.agent.on_match_end(match_id, outcome)
        self.ended.add()


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


async def register(http: aiohttp.ClientSession, url: URL, backoff: Backoff, body: Mapping[str, Any]) -> None:
    """Register an agent.

    Args:
        http: the HTTP client.
        url: the arena's URL.
        backoff: number of tries and waits.
        body: the fields of the registration; those that are None are not sent.

    Raises:
        ConnectionError: if the arena refuses, or cannot be reached after all tries.
    """
    fields = {key: value for key, value in body.items() if value is not None}
    try:
        await request_json(http, "POST", url / "api/register", backoff, json=fields)
    except LiveError as error:
        raise ConnectionError(f"cannot register at {url}: {error}") from None
