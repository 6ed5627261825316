"""Agents that poll the sessions of an arena: the arena needs no way to reach them.

A session is one match. One player creates it, and the others join with invite codes. Each player has a token, requests
its state until it is its turn, and posts an action.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.options import Checked, Seconds
from ....envs.core.turn_state import AgentResponse, Message, MessageScope
from ...logs.match_log import MatchLog, describe_error
from ..common.client import UNREACHABLE, Backoff, Link, LiveError, request_json
from ..common.player import read_state
from .agent import PATIENCE, ArenaAgent, ArenaDecisions, arena_client, arena_url, present, register
from .messages import ANSWER_SECONDS, STATE_LIMIT, JoinedSession

logger = logging.getLogger(__name__)

MOST_MESSAGES = 1000
"""The latest messages of the chat that are kept."""
SECONDS = aiohttp.ClientTimeout(total=2.0)
"""The time of a request for them. The turn waits for it."""
SESSIONS = "api/sessions"
CHAT, EVENTS = "chat/sync", "sync"
"""The paths of the feeds beside a session."""


class SessionFeeds:
    """The chat and the events that an arena may send beside a session. A request that fails costs no turn.

    Args:
        http: the HTTP client.
        sessions: the URL of the arena's sessions.
        token: the player's token.
        agent_id: the agent's id in the match.
    """

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

    Args:
        agent: the agent; it runs in its own thread, one turn at a time.
        arena: the arena's address, ``http://…``.
        games: the ids of the games to play; None: those that the agent supports.
        seats: the number of players of the sessions that it creates or joins; None: what the arena's game has, and any.
        access_token: the arena's access token; None: it has none.
        times: the deadline of a decision, and times between requests.
        log: the log of all decisions; None: no log.

    Attributes:
        agent, turns, matches: see `ArenaDecisions`.
        lost: number of sessions that ended without an outcome, or could not be played to their end.
        claim_token: the arena's token for the agent's name, which may be set before the start; None: none yet.
        link: whether the arena answers.

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
                    seat = await self._seat_that_begins(looking=more and len(running) < sessions)
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
        """Return whether a session waits for players."""
        return (await self._call("GET", "state", token=seat.token)).get("status") == "waiting"

    def _fits(self, session: Mapping[str, Any]) -> bool:
        """Return whether a session has as many players as the agent's game; also True if it does not say."""
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
            response = await self._decide(body, await feeds.chat())
            action, said = response.action, [intent.to_dict() for intent in response.messages]
            played = {"action_type": action.action_type, "payload": action.payload, "messages": said}
            try:
                await self._call("POST", "act", token=token, **played)
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
