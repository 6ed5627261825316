"""FaultProxy: stands between the agents and the host, passes on HTTP and WebSocket, and applies faults of a seed.

The watch is told: every frame when it arrives from its sender, and again when it leaves unbroken for its receiver;
every fault of a connection or request; and how a connection ended.
"""

import asyncio
import time
from bisect import bisect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from random import Random
from typing import Any, Literal, TypeAlias, get_args

import aiohttp
from aiohttp import WSMsgType, web
from parlour.wrappers.live.common.client import CONNECTION_ERRORS
from parlour.wrappers.live.common.server import url_of

REORDER_SECONDS = 1.0
"""For how long a frame waits for the one that is to overtake it."""
FRAME_LIMIT = 2**22
PASSED_ON = ("Host", "Authorization", "Content-Type")
"""Headers of a request that are passed on."""

Side: TypeAlias = Literal["agent", "host"]
clock = time.monotonic


FrameFault: TypeAlias = Literal["drop", "break", "delay", "duplicate", "reorder"]
"""What may happen to a frame: it is lost; it is cut off in the middle; its direction stands still for a time; it is
sent twice; the next frame overtakes it."""


@dataclass(frozen=True, kw_only=True)
class FaultRates:
    """How often each fault happens.

    Attributes:
        drop, broken, delay, duplicate, reorder: share of the frames, and of the HTTP requests.
        cuts: resets of a connection per connection and hour.
        host_restarts: kills of the host per hour.
        agent_restarts: kills of one of the agents' processes per hour.
        longest_delay: seconds; a delay is drawn from 0 to it.
        longest_down: seconds that a killed process is away at most; drawn from 0 to it.
    """

    drop: float = 0.001
    broken: float = 0.001
    delay: float = 0.004
    duplicate: float = 0.004
    reorder: float = 0.004
    cuts: float = 4.0
    host_restarts: float = 6.0
    agent_restarts: float = 12.0
    longest_delay: float = 3.0
    longest_down: float = 4.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        shares = (self.drop, self.broken, self.delay, self.duplicate, self.reorder)
        if min(shares) < 0 or sum(shares) > 1:
            raise ValueError(f"the shares of frames with a fault are {shares}: each from 0 up, together at most 1")

    def scaled(self, factor: float) -> "FaultRates":
        """Return the rates with each share and each number per hour multiplied."""
        rates = {name: value for name, value in asdict(self).items() if not name.startswith("longest")}
        return replace(self, **{name: factor * value for name, value in rates.items()})


def frame_fault(rates: FaultRates, random: Random) -> FrameFault | None:
    """Return what happens to the next frame; None: nothing."""
    shares = (rates.drop, rates.broken, rates.delay, rates.duplicate, rates.reorder, 1.0)
    return (*get_args(FrameFault), None)[bisect(list(accumulate(shares)), random.random())]


def wait(per_hour: float, random: Random) -> float:
    """Return the seconds until the next of events that happen so often; infinity where they never do."""
    return random.expovariate(per_hour / 3600) if per_hour > 0 else float("inf")


def broken(data: bytes, random: Random) -> bytes:
    """Return the beginning of a message: at least one byte, and at least one less than all."""
    return data[: random.randint(1, max(1, len(data) - 1))]


class FaultProxy:
    """Listens on a free port of this machine. An async context manager.

    Args:
        upstream: the host's base URL; called for each connection, since a host that starts again may have another.
        rates: how often each fault happens.
        seed: of the faults.
        watch: sees everything; see `PokerWatch`.

    Attributes:
        url: where the agents connect to.
    """

    def __init__(self, upstream: Callable[[], str], rates: FaultRates, seed: int, watch: Any) -> None:
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
        random = Random(f"{self._seed} {self._count}")
        if web.WebSocketResponse().can_prepare(request).ok:
            return await self._pass_websocket(request, random)
        return await self._pass_request(request, random)

    # HTTP.

    async def _pass_request(self, request: web.Request, random: Random) -> web.StreamResponse:
        body = await request.read()
        fault = frame_fault(self._rates, random)
        if fault is not None:
            self._watch.disturbed(request, fault)
        if fault == "delay":
            await asyncio.sleep(random.uniform(0.0, self._rates.longest_delay))
        before = fault == "drop" and random.randrange(2) == 0  # else the answer is lost
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

    async def _pass_websocket(self, request: web.Request, random: Random) -> web.StreamResponse:
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
            by, code = await self._live(agent, host, line, random)
            line.closed(by, code)
            if by == "cut" or code is None:
                _abort(request)
                await connector.close()
            else:
                await (host.close(code=code) if by == "agent" else agent.close(code=code))
        return agent

    async def _live(
        self, agent: web.WebSocketResponse, host: aiohttp.ClientWebSocketResponse, line: Any, random: Random
    ) -> tuple[Side | Literal["cut"], int | None]:
        """Pass frames on until a side ends the connection or it is cut; return which, and the code of the close."""
        from_agent = asyncio.create_task(_Direction("agent", agent, host, line, self._rates, random).run())
        from_host = asyncio.create_task(_Direction("host", host, agent, line, self._rates, random).run())
        seconds = wait(self._rates.cuts, random)
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


class _Direction:
    """The frames of one direction of a WebSocket. They are read at once, and pass through the faults in order."""

    def __init__(self, sender: Side, source: Any, target: Any, line: Any, rates: FaultRates, random: Random) -> None:
        self._sender, self._receive, self._target = sender, source.receive, target
        self._line, self._rates, self._random = line, rates, random
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
        with suppress(ConnectionError):  # the reader of the other direction sees the end
            while (frame := await self._frames.get()) is not None:
                await self._pass_frame(frame)

    async def _pass_frame(self, frame: str | bytes) -> None:
        fault = frame_fault(self._rates, self._random)
        if fault is not None:
            self._line.fault(fault)
        if fault == "break":
            part = broken(frame.encode() if isinstance(frame, str) else frame, self._random)
            await self._send(part.decode(errors="ignore") if isinstance(frame, str) else part)
        elif fault == "delay":
            self._still = True
            await asyncio.sleep(self._random.uniform(0.0, self._rates.longest_delay))
            self._still = False
        elif fault == "reorder":
            with suppress(TimeoutError):
                async with asyncio.timeout(REORDER_SECONDS):
                    overtaking = await self._frames.get()
                if overtaking is None:  # the end
                    self._frames.put_nowait(None)
                else:
                    await self._deliver(overtaking)
        if fault not in ("drop", "break"):
            await self._deliver(frame)
        if fault == "duplicate":
            await self._send(frame)

    async def _send(self, frame: str | bytes) -> None:
        await (self._target.send_str if isinstance(frame, str) else self._target.send_bytes)(frame)

    async def _deliver(self, frame: str | bytes) -> None:
        await self._send(frame)
        self._line.left(self._sender, frame)


def _abort(request: web.Request) -> None:
    """Reset the agent's connection."""
    if request.transport is not None:
        request.transport.abort()


async def _send_half(request: web.Request, answer: bytes) -> None:
    """Send the head of an answer and half of its body."""
    response = web.StreamResponse(headers={"Content-Length": str(len(answer))})
    with suppress(ConnectionError):
        await response.prepare(request)
        await response.write(answer[: len(answer) // 2])
