"""How an agent of ours decides for an arena behind HTTP: before a deadline, with a log, in any number of matches."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import AgentResponse, TurnState
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.agent_driver import AgentAnswer, AgentDriver, Deadline
from ..common.end_counter import EndCounter
from ..common.reconnecting import Backoff, LiveError, TryAgain, retry
from .agent import ArenaAgent
from .agent_session import ArenaTurn, out_of_turn
from .messages import ANSWER_SECONDS


class ArenaDecisions:
    """Asks one agent on behalf of all its matches, a turn at a time.

    Args:
        agent: answers, in a thread of its own.
        deadline: seconds for a decision, then the safe action.
        log: where every decision is written; None: nowhere.

    Attributes:
        agent: the agent.
        turns: turns answered.
        ended: matches that ended.

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
        """Let the agent warm up, if it can."""
        self._driver = AgentDriver(
            self.agent.agent, log=self._log, statistics=self.agent.statistics, fail_when_busy=True
        )
        await self._driver.warm_up()
        await asyncio.to_thread(self.agent.session.warm_up)

    def close(self) -> None:
        """Let the agent go."""
        self._driver.close()

    async def decide(self, state: TurnState) -> AgentResponse:
        """Answer a turn, or a call for words. Never raises for what the agent does."""
        self.turns += 1
        if not state.is_my_turn:
            return out_of_turn(state)
        turn = self.agent.session.turn(state)
        logged = turn.logged() if self._log else state
        answer = await self._ask(turn)
        response = turn.safe_response() if answer.problem is not None else turn.response(answer.response)
        self.agent.count(answer, state.match_id, response)
        self._driver.write_turn(replace(answer, thoughts=turn.thoughts(answer.thoughts)), logged, response)
        return response

    async def _ask(self, turn: ArenaTurn) -> AgentAnswer:
        if turn.problem is not None:
            return AgentAnswer(problem=turn.problem)
        return await self._driver.ask(turn.seen, Deadline.after(self._deadline), turn.refusal)

    def match_started(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Learn who sits where."""
        self.agent.on_match_start(match_id, game_id, agent_ids)
        self._log.write("joined", match_id=match_id, game_id=game_id, agent_ids=list(agent_ids))

    def match_ended(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Write the end down, and forget the match."""
        self._log.write("ended", match_id=match_id, outcome=outcome)
        self.agent.on_match_end(match_id, outcome)
        self.ended.add()


def arena_url(arena: str) -> URL:
    """Return the address of an arena.

    Raises:
        ValueError: if it is none.
    """
    url = URL(arena)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{arena} is no address: give http://… of the arena")
    return url


def arena_client(access_token: str | None) -> aiohttp.ClientSession:
    """Return what calls an arena; with a token, it bears it."""
    headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS), headers=headers)


async def call(http: aiohttp.ClientSession, method: str, url: URL, backoff: Backoff, **kind: Any) -> Any:
    """Return the JSON that an arena answers; again and again while it cannot be reached, or fails (5xx).

    Raises:
        LiveError: ``HTTP 4xx`` with what it says, or `UNREACHABLE` when the backoff gives up.
    """

    async def attempt() -> Any:
        async with http.request(method, url, **kind) as reply:
            if reply.status >= 500:
                raise TryAgain(f"the arena answered with HTTP {reply.status}")
            if not reply.ok:
                reason = (await reply.content.read(300)).decode(errors="replace")
                raise LiveError(f"HTTP {reply.status}", reason)
            try:
                return await reply.json(content_type=None)
            except ValueError:
                raise TryAgain("the arena answered with what is no JSON") from None

    return await retry(attempt, backoff)


async def register(http: aiohttp.ClientSession, url: URL, backoff: Backoff, body: Mapping[str, Any]) -> None:
    """Tell an arena about an agent.

    Args:
        http: what calls it.
        url: the arena's.
        backoff: how often it is tried.
        body: the agent's id, and what else the arena should know; null is left out.

    Raises:
        ConnectionError: if it refuses, or cannot be reached in the end.
    """
    told = {key: value for key, value in body.items() if value is not None}
    try:
        await call(http, "POST", url / "api/register", backoff, json=told)
    except LiveError as error:
        raise ConnectionError(f"cannot register at {url}: {error}") from None
