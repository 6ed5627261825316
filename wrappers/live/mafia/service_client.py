"""Remote agents: an `AgentPolicy` that forwards calls to a service, as the TypeScript class in ``client/`` does.

`MafiaCallerSession` is the host's end of the forwarding protocol without I/O; see `session` for the messages.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec
from msgspec import UNSET, Raw
from yarl import URL

from ...logs.match_log import escaped as shown
from ..common.client import Backoff, LiveError, http_client, next_message, open_websocket, retry
from .messages import (
    AgentConfig,
    Cancel,
    GameState,
    Method,
    NightAction,
    PrivateInfo,
    PublicInfo,
    Reply,
    VoteAction,
    encode,
    read,
)
from .session import MESSAGE_LIMIT, CallId

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chunk:
    """A part of a stream."""

    id: CallId
    text: str


@dataclass(frozen=True)
class Done:
    """The end of a call; for an action with its result, which is not checked."""

    id: CallId
    result: Any = None


@dataclass(frozen=True)
class Failed:
    """The end of a call without an answer; id None: an error of the service about one of our messages."""

    id: CallId | None
    problem: str


class MafiaCallerSession:
    """The host's end of one connection."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._last = 0

    def call(
        self,
        method: Method,
        context: GameState | Raw,
        info: PrivateInfo | PublicInfo,
        agent: str | None = None,
    ) -> tuple[int, bytes]:
        """Begin a call; return its id and the message to send."""
        self._last += 1
        self._running.add(self._last)
        call: dict[str, Any] = {"id": self._last, "method": method, "context": context, "info": info}
        if agent is not None:
            call["agent"] = agent
        return self._last, msgspec.json.encode(call)

    def give_up(self, call: int) -> bytes | None:
        """Cancel a call; return the message to send, None if it is not running."""
        if call not in self._running:
            return None
        self._running.remove(call)
        return encode(Cancel(id=call))

    def receive(self, data: str | bytes) -> Chunk | Done | Failed | None:
        """Return the part of an answer in a message; None if it answers no running call."""
        try:
            reply = read(data, Reply)
        except ValueError as error:
            return Failed(None, f"unreadable: {error}")
        if reply.id is None:
            return Failed(None, str(reply.error))
        if not isinstance(reply.id, int) or reply.id not in self._running:
            return None
        if reply.error is not UNSET:
            self._running.remove(reply.id)
            return Failed(reply.id, str(reply.error))
        if reply.done is True:
            self._running.remove(reply.id)
            return Done(reply.id, None if reply.result is UNSET else reply.result)
        return Chunk(reply.id, str(reply.chunk)) if reply.chunk is not UNSET else None

    def lost(self) -> Mapping[int, Failed]:
        """On disconnect: fail all running calls. Return the failures by call id."""
        failed = {call: Failed(call, "the connection was lost") for call in self._running}
        self._running.clear()
        return failed


CONNECT_SECONDS = 10.0
"""Seconds for a handshake."""
RETRY_SECONDS = 0.25
"""Seconds between the first and the second try to reconnect; each further wait is longer by as much."""
TRIES = 4
"""Tries to reconnect for one call. A service that was never reached is tried once per call."""
COMPLAINTS = 100
"""Number of unreadable messages and errors after which the connection is closed until the next call."""
WAITING = 10_000
"""Most parts of an answer in its queue. If a service sends more, the call fails."""


class ServiceConnection:
    """A WebSocket to a service for any number of agents. It connects at the first call, and again after a loss.

    Args:
        url: the URL of the service, such as ``ws://127.0.0.1:3010``.
        access_token: the access token of the service; None: it has none.

    Raises:
        ValueError: if `url` is not a WebSocket URL.
    """

    def __init__(self, url: str, access_token: str | None = None) -> None:
        address = URL(url)
        if address.scheme not in ("ws", "wss") or not address.host:
            raise ValueError(f"{url!r} is no address of agents: give ws://… or wss://…")
        self.url = url
        self._address = address.update_query(client=secrets.token_hex(16))  # the service keeps our agents by it
        self._headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        self._session = MafiaCallerSession()
        self._inboxes: dict[int, asyncio.Queue[Chunk | Done | Failed]] = {}
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._backoff = Backoff(RETRY_SECONDS, TRIES, first_tries=1)

    async def call(
        self, method: Method, agent_id: str, context: GameState, info: PrivateInfo | PublicInfo
    ) -> AsyncGenerator[Chunk | Done, None]:
        """Forward a call and yield the parts of its answer; `Done` is the last.

        Raises:
            ConnectionError: if the service cannot be reached, is lost, or answers with an error.
        """
        socket = await self._open()
        call, message = self._session.call(method, context, info, agent_id)
        inbox: asyncio.Queue[Chunk | Done | Failed] = asyncio.Queue(WAITING)
        self._inboxes[call] = inbox
        try:
            await socket.send_str(message.decode())
            while True:
                part = await inbox.get()
                if isinstance(part, Failed):
                    raise ConnectionError(part.problem)
                yield part
                if isinstance(part, Done):
                    return
        finally:
            del self._inboxes[call]
            give_up = self._session.give_up(call)
            if give_up is not None and not socket.closed:
                with contextlib.suppress(ConnectionError):
                    await socket.send_str(give_up.decode())

    async def close(self) -> None:
        """Close the connection and the client."""
        if self._socket is not None:
            await self._socket.close()
        await self._read_out()
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _open(self) -> aiohttp.ClientWebSocketResponse:
        """Return the open socket; concurrent calls share one reconnection."""
        async with self._opening:
            if self._socket is not None and not self._socket.closed:
                return self._socket
            await self._read_out()
            try:
                self._socket = await retry(self._connect, self._backoff)
            except LiveError as error:
                raise ConnectionError(f"cannot reach {self.url}: {error}") from None
            self._backoff.succeeded()
            self._reader = asyncio.create_task(self._read(self._socket))
            return self._socket

    async def _read_out(self) -> None:
        """Wait for the reader's end. Who gives up does not end the reader, for which others wait too."""
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        """Return a new connection.

        Raises:
            LiveError: if the service refuses, which is not tried again.
            aiohttp.ClientError, OSError, TimeoutError: if it does not answer.
        """
        if self._http is None:
            self._http = http_client(self._headers)
        try:
            return await open_websocket(self._http, self._address, most_bytes=MESSAGE_LIMIT, seconds=CONNECT_SECONDS)
        except aiohttp.WSServerHandshakeError as error:
            if 400 <= error.status < 500:
                raise LiveError("REFUSED", f"HTTP {error.status}") from None
            raise

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Put the parts of answers into the queues of their calls. On disconnect: fail all running calls."""
        complaints = 0
        while (data := await next_message(socket)) is not None:
            part = self._session.receive(data)
            if isinstance(part, Failed) and part.id is None:
                complaints += 1
                logger.warning("%s: %s", self.url, shown(part.problem))
                if complaints == COMPLAINTS:
                    logger.warning("%s: closing the connection after %d such messages", self.url, COMPLAINTS)
                    await socket.close()
            elif part is not None:
                self._put(part.id, part)
        for call, failed in self._session.lost().items():
            self._put(call, failed)

    def _put(self, call: Any, part: Chunk | Done | Failed) -> None:
        inbox = self._inboxes.get(call)
        if inbox is None:
            return
        if inbox.full():
            inbox.get_nowait()
            part = Failed(call, "too many chunks at once")
        inbox.put_nowait(part)


class RemoteAgent:
    """An `AgentPolicy` that forwards every call to a service.

    Args:
        id, name: the player's id and name.
        connection: the connection to the service, which agents may share.
    """

    blocks = False

    def __init__(self, id: str, name: str, connection: ServiceConnection) -> None:
        self.id = id
        self.name = name
        self.role: str | None = None
        self.config = AgentConfig(type="scripted")
        self.connection = connection

    def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("think", context, private_info)

    def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("say", context, public_info)

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        result = await self._result("nightAction", context, private_info)
        return None if result is None else read(result, NightAction)

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        return read(await self._result("vote", context, public_info), VoteAction)

    async def _stream(self, method: Method, context: GameState, info: PrivateInfo | PublicInfo) -> AsyncIterator[str]:
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            async for part in parts:
                if isinstance(part, Chunk):
                    yield part.text

    async def _result(self, method: Method, context: GameState, info: PrivateInfo | PublicInfo) -> Any:
        result = None
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            async for part in parts:
                if isinstance(part, Done):
                    result = part.result
        return result
