"""Our host: matches of mafia between agents in this process and elsewhere, and their observers.

Observers connect to ``/observe`` as a WebSocket and get one event a message, from the beginning of a match: all events
for ``view=admin``, with the admins' token; else those that are not private. They only listen.
"""

import asyncio
import contextlib
import hmac
import logging
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from aiohttp import WSMsgType, web

from ....envs.core.game import Game
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.origins import Origins
from ..common.server import local_url, url_of
from .agent_policy import AgentPolicy
from .base_agent import BaseMafiaAgent
from .event_feed import EventFeed
from .host_session import MafiaResult
from .hosted_match import HostedMatch
from .isolated_agent import IsolatedAgent
from .limits import MafiaLimits
from .llm_agent import MafiaLLMAgent
from .messages import Event
from .service_client import RemoteAgent

logger = logging.getLogger(__name__)

OURS = (BaseMafiaAgent, RemoteAgent, MafiaLLMAgent, IsolatedAgent)
"""Agents that never block the event loop."""
PORT = 3011
REMEMBERED = 32
"""Matches whose events can be observed, the running ones included; and results that are kept."""
OBSERVERS = 256
HEARTBEAT = 30.0


class MafiaHost:
    """Plays matches, with a log one after another, and shows them.

    Use it as an async context manager, or call `start` and `stop`.

    >>> async with Host(game, admin_token="…") as host:      # doctest: +SKIP
    ...     result = await host.play(agents)

    Args:
        game: mafia, with its options.
        limits: what agents may take.
        seed: of the matches, each of which has its own from it; None for fresh entropy.
        address, port: where observers connect; port 0 takes a free one.
        admin_token: what admins must bear (``Authorization: Bearer …``, or ``token=…``); None: one is made up.
        log: gets every match, as lines that replay.
        on_event: is told every event.

    Attributes:
        url: where observers connect, once started.
        admin_token: of the admins.
        results: of the latest matches that are over, in order, at most `REMEMBERED`.
        over: how many matches are over.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MafiaLimits | None = None,
        seed: int | None = None,
        address: str = "127.0.0.1",
        port: int = 0,
        admin_token: str | None = None,
        log: MatchLog | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if game.name != "mafia":
            raise ValueError(f"{game.id} is not mafia")
        if admin_token == "":
            raise ValueError("admin_token is empty: everybody would be an admin")
        self.game = game
        self.url = ""
        self.admin_token = admin_token or secrets.token_urlsafe(16)
        self.results: deque[MafiaResult] = deque(maxlen=REMEMBERED)
        self.over = 0
        self._limits = limits
        self._seeds = np.random.SeedSequence(seed)
        self._address, self._port = address, port
        self._book = SafeMatchLog(log)
        self._on_event = on_event
        self._feeds: dict[str, EventFeed] = {}
        self._new = asyncio.Event()
        self._writing = asyncio.Lock()  # a log holds one match after another
        self._count = 0
        self._name = secrets.token_hex(4)  # ids differ from host to host
        self._observers = 0
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: if the port is taken.
        """
        app = web.Application(middlewares=[Origins.of(self._address).check])
        app.add_routes(
            [
                web.get("/observe", self._observe),
                web.get("/matches", self._matches),
                web.get("/health", self._health),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        self.url = local_url(url_of(*self._runner.addresses[0][:2]))

    async def stop(self) -> None:
        """Stop listening."""
        for feed in self._feeds.values():
            feed.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def play(self, agents: Sequence[AgentPolicy], seed: int | None = None) -> MafiaResult:
        """Play one match and return what came of it.

        Agents of others run in threads of their own, on copies of what they are shown.

        Args:
            agents: the players, seat by seat.
            seed: of the match; None: the next of the host's.

        Raises:
            ValueError: see `HostedMatch`.
        """
        if seed is None:
            (own,) = self._seeds.spawn(1)
            seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        players = [agent if isinstance(agent, OURS) else IsolatedAgent(agent) for agent in agents]
        self._count += 1
        feed = EventFeed(f"{self._name}-{self._count}", self._tell)
        note = self._book.write if self._book else None
        try:
            async with self._writing if self._book else contextlib.nullcontext():
                match = HostedMatch(self.game, players, feed=feed, seed=seed, limits=self._limits, note=note)
                self._announce(feed)
                result = await match.play()
        finally:
            feed.close()
            for player, agent in zip(players, agents, strict=True):
                if player is not agent and isinstance(player, IsolatedAgent):
                    player.stop()
        self.results.append(result)
        self.over += 1
        return result

    def _tell(self, event: Event) -> None:
        if self._book:
            self._book.write("event", event=event)
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

    def _is_admin(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ") or request.query.get("token", "")
        return hmac.compare_digest(given.encode(errors="surrogateescape"), self.admin_token.encode())

    async def _observe(self, request: web.Request) -> web.StreamResponse:
        view = request.query.get("view", "public")
        if view not in ("public", "admin"):
            return _refuse(400, f"view={view[:20]!r}: choose public or admin")
        if view == "admin" and not self._is_admin(request):
            return _refuse(401, "the admins' view needs Authorization: Bearer <admin token>")
        after = request.query.get("after", "0")
        if not after.isdecimal() or len(after) > 15:
            return _refuse(400, f"after={after[:20]!r}: give the sequence number of the last event you have")
        wanted = request.query.get("match")
        if wanted is not None and wanted not in self._feeds:
            return _refuse(404, f"there is no match {wanted[:80]!r}")
        if self._observers >= OBSERVERS:
            return _refuse(503, f"{OBSERVERS} observers are here")
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=4096, timeout=1.0)
        if not socket.can_prepare(request).ok:
            return _refuse(426, "this is a WebSocket: connect to it as one")
        await socket.prepare(request)
        self._observers += 1
        sending = asyncio.create_task(self._send(socket, "admin" if view == "admin" else "public", wanted, int(after)))
        try:
            async for message in socket:  # what observers say is not heard
                if message.type == WSMsgType.ERROR:
                    break
        finally:
            self._observers -= 1
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await sending
        return socket

    async def _send(self, socket: web.WebSocketResponse, view: Any, wanted: str | None, after: int) -> None:
        """Send one match, or all from the running one on."""
        if wanted is not None:
            await _follow(socket, self._feeds[wanted], view, after)
            await socket.close()
            return
        seen: set[str] = set()
        while True:
            new = self._new
            running = [feed for feed in self._feeds.values() if not feed.closed and feed.game_id not in seen]
            for feed in running:
                seen.add(feed.game_id)
                await _follow(socket, feed, view, after)
                after = 0
            if not running:
                await new.wait()

    async def _matches(self, request: web.Request) -> web.Response:
        matches = [
            {"matchId": feed.game_id, "over": feed.closed, "events": len(feed.public)} for feed in self._feeds.values()
        ]
        return web.json_response({"matches": matches})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "game": self.game.id, "matches": self.over})


async def _follow(socket: web.WebSocketResponse, feed: EventFeed, view: Any, after: int) -> None:
    async for event in feed.follow(view, after):
        await socket.send_str(event.decode())


def _refuse(status: int, problem: str) -> web.Response:
    return web.json_response({"error": problem}, status=status)
