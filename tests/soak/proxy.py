"""FaultProxy: stands between the agents and the host, passes on HTTP and WebSocket, and applies the faults.

What a protocol's `Watch` is told: every frame when it arrives from its sender, and again when it leaves for its
receiver; every fault of a connection; and how the connection ended.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeAlias

import aiohttp
from aiohttp import WSMsgType, web
from parlour.wrappers.live.common.client import CONNECTION_ERRORS
from parlour.wrappers.live.common.server import url_of

from .faults import Dice, FaultRates

REORDER_SECONDS = 1.0
"""For how long a frame waits for the one that is to overtake it."""
FRAME_LIMIT = 2**22
PASSED_ON = ("Host", "Authorization", "Content-Type")
"""Headers of a request that are passed on."""

Side: TypeAlias = Literal["agent", "host"]
OTHER: dict[Side, Side] = {"agent": "host", "host": "agent"}
clock = time.monotonic


class Line(Protocol):
    """One WebSocket through the proxy, as a protocol sees it."""

    def arrived(self, sender: Side, text: str | bytes) -> None:
        """A frame has come from its sender."""

    def left(self, sender: Side, text: str | bytes) -> None:
        """A frame has gone out, unbroken, to the other side."""

    def fault(self, kind: str) -> None:
        """A fault holds a frame of this connection, or has taken it away."""

    def closed(self, by: Side | Literal["cut"], code: int | None) -> None:
        """The connection is over: closed by a side (with the code of its close frame; None: without one) or cut."""


class Watch(Protocol):
    """What a protocol sees of all connections."""

    def open_line(self, request: web.Request) -> Line:
        """A WebSocket was opened."""

    def answered(self, request: web.Request, body: bytes, status: int, answer: bytes) -> None:
        """The host has answered an HTTP request."""

    def disturbed(self, request: web.Request, kind: str) -> None:
        """A fault is about to be applied to an HTTP request."""


class FaultProxy:
    """Listens on a free port of this machine. An async context manager.

    Args:
        upstream: the host's base URL; called for each connection, since a host that starts again may have another.
        rates: how often each fault happens.
        seed: of the faults.
        watch: sees everything.

    Attributes:
        url: where the agents connect to.
    """

    def __init__(self, upstream: Callable[[], str], rates: FaultRates, seed: int, watch: Watch) -> None:
        self.url = ""
        self._upstream = upstream
        self._rates = rates
        self._seed = seed
        self._watch = watch
        self._count = 0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> "FaultProxy":
        app = web.Application(client_max_size=FRAME_LIMIT)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = url_of(*self._runner.addresses[0][:2])
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self._count += 1
        dice = Dice(self._rates, f"{self._seed} {self._count}")
        if web.WebSocketResponse().can_prepare(request).ok:
            return await self._pass_websocket(request, dice)
        return await self._pass_request(request, dice)

    # HTTP.

    async def _pass_request(self, request: web.Request, dice: Dice) -> web.StreamResponse:
        body = await request.read()
        fault = dice.frame()
        if fault is not None:
            self._watch.disturbed(request, fault)
        if fault == "delay":
            await asyncio.sleep(dice.seconds())
        before = fault == "drop" and dice.pick(2) == 0  # else the answer is lost
        if not before:
            try:
                status, kind, answer = await self._ask(request, body)
                if fault == "duplicate":
                    status, kind, answer = await self._ask(request, body)
            except CONNECTION_ERRORS:
                return web.Response(status=502, text="the host is away\n")
        if fault in ("drop", "break"):
            if fault == "break":
                await _send_half(request, answer)
            _abort(request)
            return web.Response()
        return web.Response(status=status, content_type=kind, body=answer)

    async def _ask(self, request: web.Request, body: bytes) -> tuple[int, str, bytes]:
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        url = self._upstream() + request.path_qs
        async with (
            aiohttp.ClientSession() as http,
            http.request(request.method, url, data=body or None, headers=headers) as reply,
        ):
            answer = await reply.read()
        self._watch.answered(request, body, reply.status, answer)
        return reply.status, reply.content_type, answer

    # WebSocket.

    async def _pass_websocket(self, request: web.Request, dice: Dice) -> web.StreamResponse:
        url = self._upstream() + request.path_qs
        connector = aiohttp.TCPConnector()  # its own, so that closing it resets this connection alone
        async with aiohttp.ClientSession(connector=connector) as http:
            try:
                host = await http.ws_connect(url, headers={"Host": request.host}, max_msg_size=FRAME_LIMIT)
            except aiohttp.WSServerHandshakeError as error:
                return web.Response(status=error.status)
            except CONNECTION_ERRORS:
                return web.Response(status=502, text="the host is away\n")
            agent = web.WebSocketResponse(max_msg_size=FRAME_LIMIT, compress=False, timeout=2.0)
            try:
                await agent.prepare(request)
            except ConnectionError:
                return agent
            line = self._watch.open_line(request)
            by, code = await self._live(agent, host, line, dice)
            line.closed(by, code)
            if by == "cut" or code is None:
                _abort(request)
                await connector.close()
            else:
                await (host.close(code=code) if by == "agent" else agent.close(code=code))
        return agent

    async def _live(
        self, agent: web.WebSocketResponse, host: aiohttp.ClientWebSocketResponse, line: Line, dice: Dice
    ) -> tuple[Side | Literal["cut"], int | None]:
        """Pass frames on until a side ends the connection or it is cut; return which, and the code of the close."""
        from_agent = asyncio.create_task(_Direction("agent", agent.receive, _sender(host), line, dice).run())
        from_host = asyncio.create_task(_Direction("host", host.receive, _sender(agent), line, dice).run())
        seconds = dice.wait(self._rates.cuts)
        tasks = {from_agent, from_host}
        try:
            done, _ = await asyncio.wait(tasks, timeout=min(seconds, 10.0**6), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if not done:
            line.fault("cut")
            return "cut", None
        by: Side = "host" if from_host in done else "agent"
        return by, (from_host if from_host in done else from_agent).result()


Received: TypeAlias = tuple[str | bytes, bool]
"""A frame, and whether it waited behind another that was delayed."""


class _Direction:
    """The frames of one direction of a WebSocket. They are read at once, and pass through the faults in order."""

    def __init__(
        self,
        sender: Side,
        receive: Callable[[], Awaitable[aiohttp.WSMessage]],
        send: Callable[[str | bytes], Awaitable[None]],
        line: Line,
        dice: Dice,
    ) -> None:
        self._sender = sender
        self._receive = receive
        self._send = send
        self._line = line
        self._dice = dice
        self._frames: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._still = False  # whether a delay stops this direction

    async def run(self) -> int | None:
        """Pass frames on; return the code of the sender's close frame, None where the connection broke."""
        passing = asyncio.create_task(self._pass_on())
        try:
            while (message := await self._receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._line.arrived(self._sender, message.data)
                if self._still:
                    self._line.fault("delay")
                self._frames.put_nowait(message.data)
            self._frames.put_nowait(None)
            await passing
            return int(message.data) if message.type is WSMsgType.CLOSE and message.data else None
        finally:
            passing.cancel()

    async def _pass_on(self) -> None:
        try:
            while (frame := await self._frames.get()) is not None:
                await self._pass_frame(frame)
        except ConnectionError:  # the reader of the other direction sees the end
            return

    async def _pass_frame(self, frame: str | bytes) -> None:
        match self._dice.frame():
            case "drop":
                self._line.fault("drop")
            case "break":
                self._line.fault("break")
                text = isinstance(frame, str)
                broken = self._dice.broken(frame.encode() if isinstance(frame, str) else frame)
                await self._send(broken.decode(errors="ignore") if text else broken)
            case "delay":
                self._still = True
                self._line.fault("delay")
                await asyncio.sleep(self._dice.seconds())
                self._still = False
                await self._deliver(frame)
            case "duplicate":
                self._line.fault("duplicate")
                await self._deliver(frame)
                await self._send(frame)
            case "reorder":
                self._line.fault("reorder")
                try:
                    async with asyncio.timeout(REORDER_SECONDS):
                        overtaking = await self._frames.get()
                except TimeoutError:
                    overtaking = None
                else:
                    if overtaking is None:  # the end
                        self._frames.put_nowait(None)
                if overtaking is not None:
                    await self._deliver(overtaking)
                await self._deliver(frame)
            case None:
                await self._deliver(frame)

    async def _deliver(self, frame: str | bytes) -> None:
        await self._send(frame)
        self._line.left(self._sender, frame)


def _sender(
    socket: web.WebSocketResponse | aiohttp.ClientWebSocketResponse,
) -> Callable[[str | bytes], Awaitable[None]]:
    async def send(frame: str | bytes) -> None:
        await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))

    return send


def _abort(request: web.Request) -> None:
    """Reset the agent's connection."""
    if request.transport is not None:
        request.transport.abort()


async def _send_half(request: web.Request, answer: bytes) -> None:
    """Send the head of an answer and half of its body."""
    response = web.StreamResponse(headers={"Content-Length": str(len(answer))})
    try:
        await response.prepare(request)
        await response.write(answer[: len(answer) // 2])
    except ConnectionError:
        return
