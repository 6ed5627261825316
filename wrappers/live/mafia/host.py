"""Our host: matches of mafia between agents in this process and elsewhere, and their observers.

Observers connect to ``/observe`` as a WebSocket and get one event a message, from the beginning of a match: all events
for ``view=admin``, with the admins' token; else those that are not private. They only listen.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import numpy as np
from aiohttp import web

from ....envs.core.game import Game
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.connection import Connection, ConnectionLimits
from ..common.server import Server, ServerSettings, local_url
from ..common.tokens import TOO_MANY, bearer_token
from .agent_policy import AgentPolicy
from .base_agent import BaseMafiaAgent
from .host_session import MafiaResult
from .hosted_match import HostedMatch
from .limits import MafiaLimits
from .llm_agent import MafiaLLMAgent
from .match_report import EventFeed, LogPart, LogQueue, View
from .messages import Event
from .service_client import RemoteAgent
from .threaded_agent import ThreadedAgent

OURS = (BaseMafiaAgent, RemoteAgent, MafiaLLMAgent, ThreadedAgent)
"""Agents that never block the event loop."""
REMEMBERED = 32
"""Matches whose events can be observed, the running ones included; and results that are kept."""
OBSERVERS = 256
"""Observers that may be connected at once."""
LIMITS = ConnectionLimits(frame=4096, closing=1.0)
"""What an observer may send, and seconds that it has to answer a close."""


class MafiaHost(Server):
    """Plays matches, any number of them side by side, and shows them.

    Use it as an async context manager, or call `start` and `stop`.

    >>> async with MafiaHost(game) as host:      # doctest: +SKIP
    ...     result = await host.play(agents)

    Args:
        game: mafia, with its options.
        limits: the limits of the agents' answers.
        seed: the seed from which each match gets its own; None: fresh entropy.
        server: where observers connect; its access token is that of admins (``Authorization: Bearer …``, or
            ``token=…``), a random one if there is none.
        log: the log of all matches; each can be replayed.
        on_event: called with every event.

    Attributes:
        url: the URL for observers, after the start.
        admin_token: the token of admins.
        results: the results of the latest `REMEMBERED` ended matches, in order.
        over: the number of ended matches.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MafiaLimits | None = None,
        seed: int | None = None,
        server: ServerSettings | None = None,
        log: MatchLog | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if game.name != "mafia":
            raise ValueError(f"{game.id} is not mafia")
        super().__init__(server, check_host=True, connection_limits=LIMITS, most_connections=OBSERVERS)
        self.game = game
        self.admin_token = self.settings.access_token or secrets.token_urlsafe(16)
        self.results: deque[MafiaResult] = deque(maxlen=REMEMBERED)
        self.over = 0
        self._limits = limits
        self._seeds = np.random.SeedSequence(seed)
        self._logs = None if log is None else LogQueue(SafeMatchLog(log))
        self._on_event = on_event
        self._feeds: dict[str, EventFeed] = {}
        self._new = asyncio.Event()
        self._count = 0
        self._name = secrets.token_hex(4)  # ids differ from host to host

    # Start and stop.

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.get("/observe", self._observe),
            web.get("/matches", self._matches),
            web.get("/health", self._health),
        ]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = local_url(self.url)

    async def closing(self) -> None:
        """Close all feeds."""
        for feed in self._feeds.values():
            feed.close()

    # Matches.

    async def play(self, agents: Sequence[AgentPolicy], seed: int | None = None) -> MafiaResult:
        """Play one match and return the result.

        Foreign agents run in threads of their own, with copies of the arguments.

        Args:
            agents: the players, seat by seat.
            seed: the seed of the match; None: the next one of the host.

        Raises:
            ValueError: see `HostedMatch`.
        """
        if seed is None:
            (own,) = self._seeds.spawn(1)
            seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        players = [agent if isinstance(agent, OURS) else ThreadedAgent(agent) for agent in agents]
        self._count += 1
        part = None if self._logs is None else self._logs.begin()
        feed = EventFeed(f"{self._name}-{self._count}", partial(self._tell, part))
        note = None if part is None else part.write
        try:
            match = HostedMatch(self.game, players, feed=feed, seed=seed, limits=self._limits, note=note)
            self._announce(feed)
            result = await match.play()
        finally:
            feed.close()
            if part is not None:
                part.end()
            for player, agent in zip(players, agents, strict=True):
                if player is not agent and isinstance(player, ThreadedAgent):
                    player.stop()
        self.results.append(result)
        self.over += 1
        return result

    def _tell(self, part: LogPart | None, event: Event) -> None:
        if part is not None:
            part.write("event", event=event)
        if self._on_event is not None:
            self._on_event(event)

    def _announce(self, feed: EventFeed) -> None:
        self._feeds[feed.game_id] = feed
        over = [game_id for game_id, old in self._feeds.items() if old.closed]
        for game_id in over[: max(0, len(self._feeds) - REMEMBERED)]:
            del self._feeds[game_id]
        self._new.set()
        self._new = asyncio.Event()

    # Observers.

    async def _observe(self, request: web.Request) -> web.StreamResponse:
        view = request.query.get("view", "public")
        if view not in ("public", "admin"):
            return _refuse(400, f"view={view[:20]!r}: choose public or admin")
        if view == "admin":
            given = bearer_token(request) or request.query.get("token", "")
            status = self.guesses.status(request.remote or "", given, self.admin_token)
            if status == 401:
                return _refuse(401, "the admins' view needs Authorization: Bearer <admin token>")
            if status is not None:
                return _refuse(status, TOO_MANY)
        after = request.query.get("after", "0")
        if not after.isdecimal() or len(after) > 15:
            return _refuse(400, f"after={after[:20]!r}: give the sequence number of the last event you have")
        wanted = request.query.get("match")
        if wanted is not None and wanted not in self._feeds:
            return _refuse(404, f"there is no match {wanted[:80]!r}")
        show = partial(self._show_all, view="admin" if view == "admin" else "public", after=int(after))
        if wanted is not None:
            show = partial(self._show_one, feed=self._feeds[wanted], **show.keywords)
        return await self.upgrade(request, partial(_serve_observer, show))

    async def _show_one(self, connection: Connection, *, feed: EventFeed, view: View, after: int) -> None:
        """Send one match, and close."""
        await _follow(connection, feed, view, after)
        connection.close()

    async def _show_all(self, connection: Connection, *, view: View, after: int) -> None:
        """Send all matches from the running ones on, one after another."""
        seen = {feed.game_id for feed in self._feeds.values() if feed.closed}
        while True:
            new = self._new
            unseen = [feed for feed in self._feeds.values() if feed.game_id not in seen]
            for feed in unseen:
                seen.add(feed.game_id)
                await _follow(connection, feed, view, after)
                after = 0
            seen &= self._feeds.keys()
            if not unseen:
                await new.wait()

    async def _matches(self, request: web.Request) -> web.Response:
        matches = [
            {"matchId": feed.game_id, "over": feed.closed, "events": len(feed.public)} for feed in self._feeds.values()
        ]
        return web.json_response({"matches": matches})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "game": self.game.id, "matches": self.over})


async def _serve_observer(show: Callable[[Connection], Coroutine[Any, Any, None]], connection: Connection) -> None:
    """Send events to an observer until it disconnects. Its messages are ignored."""
    sending = asyncio.create_task(show(connection))
    try:
        async for _ in connection.messages():
            pass
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending


async def _follow(connection: Connection, feed: EventFeed, view: View, after: int) -> None:
    """Send the events of a match, no faster than the observer reads them."""
    async for event in feed.follow(view, after):
        connection.send(event.decode())
        await connection.room()


def _refuse(status: int, problem: str) -> web.Response:
    return web.json_response({"error": problem}, status=status)
