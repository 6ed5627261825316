"""Decisions of an agent for arenas over HTTP: with a deadline and a log, in any number of matches."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import AgentResponse, TurnState
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.agent_driver import AgentDriver, Deadline
from ..common.end_counter import EndCounter
from ..common.http_client import http_client, request_json
from ..common.reconnecting import Backoff, LiveError
from .agent import ArenaAgent
from .agent_session import out_of_turn
from .messages import ANSWER_SECONDS


class ArenaDecisions:
    """Asks one agent for the answers of all its matches, one turn at a time.

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
        self._driver: AgentDriver

    async def open(self) -> None:
        """Warm up the agent, if it has `warm_up`."""
        self._driver = AgentDriver(
            self.agent.agent, log=self._log, statistics=self.agent.statistics, fail_when_busy=True
        )
        await self._driver.warm_up()
        await asyncio.to_thread(self.agent.session.warm_up)

    def close(self) -> None:
        """Stop the agent's thread."""
        self._driver.close()

    async def decide(self, state: TurnState) -> AgentResponse:
        """Answer a turn, or a request for messages out of turn. An exception of the agent is never raised here."""
        self.turns += 1
        if not state.is_my_turn:
            return out_of_turn(state)
        turn = self.agent.session.turn(state)
        played = await self._driver.take(turn, Deadline.after(self._deadline))
        self.agent.count(played, state.match_id)
        played.write(self._log, turn)
        return played.response

    def match_started(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats, and log the beginning."""
        self.agent.on_match_start(match_id, game_id, agent_ids)
        self._log.write("joined", match_id=match_id, game_id=game_id, agent_ids=list(agent_ids))

    def match_ended(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Log the end, and remove what is stored of the match."""
        self._log.write("ended", match_id=match_id, outcome=outcome)
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
