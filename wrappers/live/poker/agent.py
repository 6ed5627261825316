"""Our agent at a live poker table: the I/O shell around `PokerAgentSession`.

It owns the sockets and the clock: registering and joining by REST, connecting and reconnecting, keep-alive, and a
deadline for every decision. A decision that is late, raises or cannot be played is replaced by the safe action (check,
else fold) with one warning in the log. Tokens and keys are never logged.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ...agents.base import Agent, thoughts
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts
from ..common.worker import Worker
from . import messages
from .agent_session import Blind, Ended, Event, Fatal, HandOver, Note, PokerAgentSession, PokerDecision, Seated, Send

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = "0.1"
CONNECT_WITHIN = 30.0
"""Seconds for a handshake."""
HEARTBEAT = 30.0
"""Seconds between WebSocket's own pings, which find out that a peer is gone."""
CLOSING = aiohttp.ClientWSTimeout(ws_close=2.0)
FIRST_TRIES = 3
"""Tries after which a server that has never been reached is given up: its address may be wrong, and people wait."""
LEAVING = 3.0
"""Seconds for giving a seat back."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
}
"""HTTP statuses of a WebSocket handshake after which another try is of no use."""


class LiveError(Exception):
    """The table cannot be played at, or not any longer. `code` is the protocol's, or ``UNREACHABLE``."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.details = details if isinstance(details, dict) else {}


@dataclass
class Played:
    """What came of a stay at a table.

    Attributes:
        hands: that ended while we sat there.
        net: chips won since the first hand.
        actions: accepted by the server.
        rejected: refused by the server.
        replaced: decisions that the safe action took the place of.
        reconnects: connections after the first.
        reason: why it ended: the server's word, ``closed``, or ``hands`` (as many as were asked for).
    """

    hands: int = 0
    net: int = 0
    actions: int = 0
    rejected: int = 0
    replaced: int = 0
    reconnects: int = 0
    reason: str = ""


async def play(
    address: str,
    agent: Agent,
    *,
    name: str | None = None,
    table: str | None = None,
    seat: int | None = None,
    api_key: str | None = None,
    access_token: str | None = None,
    hands: int | None = None,
    deadline: float | None = None,
    ping_every: float = 30.0,
    retry_after: float = 3.0,
    retries: int = 10,
    log: str | PathLike[str] | None = None,
    session: PokerAgentSession | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Played:
    """Play at a table until it ends.

    Args:
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``, where the agent
            registers, joins and finds its URL by itself.
        agent: answers the turns; its `respond` runs in a thread of its own, one call at a time. Its `warm_up`, if it
            has one, is called before we connect.
        name: to register with.
        table: the table to join; None: the server chooses.
        seat: the preferred one.
        api_key: of an agent registered before.
        access_token: what the server asks of those who register, if it does.
        hands: leave after so many.
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        ping_every: seconds between keep-alive pings.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long, at most ten times.
        retries: tries to connect in a row, before it is given up; at most `FIRST_TRIES` if nothing ever answered.
        log: a match log to append to (see `parlour.wrappers.logs.match_log`).
        session: the protocol's state, with what is known about the table beforehand.
        on_event: is told every event, for tables on a screen and tests.

    Raises:
        LiveError: if the server refuses us for good, or cannot be reached.
        ValueError: for an address of another kind.
    """
    url = URL(address)
    if url.scheme not in ("ws", "wss", "http", "https") or not url.host:
        raise ValueError(f"{url.with_query(None)} is no address: give ws://… of a seat, or http://… of the REST API")
    async with aiohttp.ClientSession() as http:
        with contextlib.ExitStack() as stack:
            match_log = stack.enter_context(MatchLog(log)) if log is not None else None
            shell = _Shell(http, agent, session or PokerAgentSession(), match_log, on_event)
            shell.hands, shell.deadline, shell.ping_every = hands, deadline, ping_every
            stack.callback(shell.worker.stop)
            await shell.warm_up()
            request = _Join(http, url, name, table, seat, api_key, access_token)
            return await _stay(shell, request, retry_after, retries)


async def _stay(shell: "_Shell", request: "_Join", retry_after: float, retries: int) -> Played:
    """Connect, again and again, until there is a reason to go."""
    failures, reached = 0, False
    try:
        while not shell.played.reason:
            try:
                url = await request.url()
                began = time.monotonic()
                went_on = await shell.connection(url)
                reached = True
                if went_on or time.monotonic() - began > 10 * retry_after:
                    failures = 0
                problem = "the connection was lost"
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                problem = _describe(error)
                reached = reached or not isinstance(error, aiohttp.ClientConnectorError)
            if shell.played.reason:
                break
            failures += 1
            tries = retries if reached else min(retries, FIRST_TRIES)
            if failures > tries:
                raise LiveError("UNREACHABLE", f"{problem}; gave up after {tries} tries")
            wait = retry_after * min(failures, 10)
            logger.warning("%s; trying again in %.1f s (%d of %d)", problem, wait, failures, tries)
            await asyncio.sleep(wait)
            shell.session.reconnected()
    except asyncio.CancelledError:  # Ctrl-C: nobody else knows how to give the seat back
        await request.leave()
        raise
    finally:
        shell.drop_decision()
    if shell.played.reason == "hands":
        await request.leave()
    return shell.result()


def _describe(error: BaseException) -> str:
    """Say what happened, without the URL: it holds the token."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"the server answered the handshake with HTTP {error.status}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {error.host}:{error.port}"
    return f"{type(error).__name__} while connecting"


@dataclass
class _Join:
    """How to come to the WebSocket URL of a seat."""

    http: aiohttp.ClientSession
    address: URL
    name: str | None
    table: str | None
    seat: int | None
    api_key: str | None
    access_token: str | None
    _url: URL | None = None
    _lost: bool = False  # the answer to a join was; we may have a seat and not know it

    async def url(self) -> URL:
        """Return the URL of our seat; registers and joins the first time."""
        if self._url is None:
            url = self.address if self.address.scheme in ("ws", "wss") else await self._join()
            self._url = url if "format" in url.query else url.update_query(format="agent")
        return self._url

    async def leave(self) -> None:
        """Give the seat back, where it was taken by REST."""
        if self.api_key is not None and self.table is not None:
            with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError, LiveError):
                async with asyncio.timeout(LEAVING):
                    await self._post(f"v1/tables/{self.table}/leave", {})

    async def _join(self) -> URL:
        if self.api_key is None:
            agent = await self._post("v1/agents", {} if self.name is None else {"name": self.name})
            self.api_key = _text(agent, "api_key")
        wish: dict[str, Any] = {"client_protocol_version": PROTOCOL_VERSION}
        if self.seat is not None:
            wish["preferred_seat"] = self.seat
        where = "auto-join" if self.table is None else f"{self.table}/join"
        try:
            joined = await self._post(f"v1/tables/{where}", wish)
        except LiveError as error:
            await self._recover(error)
            raise
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ClientError, OSError, TimeoutError):
            self._lost = True
            raise
        self.table = str(joined.get("table_id", self.table))
        seat = messages.printable(str(joined.get("seat_id")), 40)
        logger.info("joined table %s, seat %s", messages.printable(self.table, 80), seat)
        try:
            return URL(_text(joined, "ws_url")).update_query(token=_text(joined, "session_token"))
        except ValueError:
            raise LiveError(messages.INTERNAL_ERROR, "the server's ws_url is no address") from None

    async def _recover(self, error: LiveError) -> None:
        """Give back a seat whose token we never got, so that the next try can join again."""
        table = self.table or error.details.get("table_id")
        if self._lost and error.code == messages.ALREADY_SEATED and isinstance(table, str):
            self.table = table
            await self.leave()
            raise aiohttp.ClientConnectionError("seated by a try whose answer was lost") from error

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        bearer = self.api_key or self.access_token
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        timeout = aiohttp.ClientTimeout(total=30)
        async with self.http.post(self.address / path, json=body, headers=headers, timeout=timeout) as reply:
            try:
                answer = await reply.json(content_type=None)
            except (ValueError, RecursionError):
                answer = None
            if reply.ok and isinstance(answer, dict):
                return answer
            if reply.status >= 500 or reply.status == 429:
                raise aiohttp.ClientConnectionError(f"HTTP {reply.status}")
            error = answer.get("error") if isinstance(answer, dict) else None
            details = error if isinstance(error, dict) else {}
            code, text = details.get("code", f"HTTP_{reply.status}"), details.get("message", "no reason given")
            told = messages.printable(str(text), 200)
            raise LiveError(messages.printable(str(code), 40), f"{path}: {told}", details.get("details"))


def _text(answer: dict[str, Any], field: str) -> str:
    value = answer.get(field)
    if not isinstance(value, str):
        raise LiveError(messages.INTERNAL_ERROR, f"the server's answer lacks {field}")
    return value


class _Shell:
    """A session with its connection, its clock and its agent."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        agent: Agent,
        session: PokerAgentSession,
        log: MatchLog | None,
        on_event: Callable[[Event], None] | None,
    ) -> None:
        self.session = session
        self.worker = Worker()
        self._agent = agent
        self.played = Played()
        self.hands: int | None = None
        self.deadline: float | None = None
        self.ping_every = 30.0
        self._http = http
        self._book = SafeMatchLog(log)
        self._on_event = on_event
        self._timeout = 30.0  # seconds the server gives
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._connections = 0
        self._thinking: asyncio.Task[None] | None = None
        self._turn = ""
        self._ends_at = 0.0

    async def warm_up(self) -> None:
        """Have an agent that can rehearse do so, before any clock runs."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is not None:
            try:
                await asyncio.to_thread(warm_up)
            except Exception as error:  # it may yet do better at the table
                logger.warning("the agent failed in rehearsal: %s: %s", type(error).__name__, error)

    def result(self) -> Played:
        """Return what was played."""
        session, played = self.session, self.played
        played.hands, played.net = session.hands_played, session.net
        played.actions, played.rejected = session.actions, session.rejected
        played.reconnects = max(0, self._connections - 1)
        return played

    async def connection(self, url: URL) -> bool:
        """Live through one connection; return whether the game went on in it.

        Raises:
            LiveError: if the server wants us no more.
        """
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                socket = await self._http.ws_connect(url, heartbeat=HEARTBEAT, max_msg_size=2**20, timeout=CLOSING)
        except aiohttp.WSServerHandshakeError as error:
            if error.status in REFUSED:
                raise LiveError(REFUSED[error.status], _describe(error)) from None
            raise
        self._socket = socket
        self._connections += 1
        seq = self.session.seq
        pinging = asyncio.create_task(self._ping(socket))
        try:
            async for frame in socket:
                if frame.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    await self._receive(frame.data)
                    if self.played.reason:
                        break
        finally:
            pinging.cancel()
            self._socket = None
            await socket.close()
        self._judge(socket.close_code)
        return self.session.seq != seq

    def _judge(self, code: int | None) -> None:
        if not self.played.reason and code == aiohttp.WSCloseCode.POLICY_VIOLATION:
            raise LiveError(messages.UNAUTHORIZED, "the server closed the connection for good (1008)")
        if not self.played.reason and code == aiohttp.WSCloseCode.OK:
            self.played.reason = "closed"

    async def _ping(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            await asyncio.sleep(self.ping_every)
            ping = messages.Ping(payload=messages.Timestamp(timestamp=int(time.time() * 1000)))
            with contextlib.suppress(OSError, aiohttp.ClientError):
                await socket.send_str(messages.encode(ping))

    async def _receive(self, data: str | bytes) -> None:
        for event in self.session.receive(data):
            if self._on_event is not None:
                self._on_event(event)
            await self._handle(event)
        if self.session.turn != self._turn:
            if self._thinking is not None and not self._thinking.done():
                logger.warning("the turn has passed before the agent answered")
            self.drop_decision()

    async def _handle(self, event: Event) -> None:
        match event:
            case Seated():
                self._timeout = event.timeout / 1000 if event.timeout else self._timeout
                self._book.write("joined", seat=event.seat)
            case PokerDecision():
                self._begin(event)
            case Send():
                await self._send(event.message)
            case Blind():
                self.played.replaced += 1
                kind = event.message.action.kind
                logger.warning("%s instead of the agent's answer: the state cannot be read: %s", kind, event.problem)
                await self._send(event.message)
            case HandOver():
                self._book.write(
                    "hand", hand=event.hand, won=event.won, stack=event.stack, results=event.message.results
                )
                if self.hands is not None and self.session.hands_played >= self.hands:
                    self.played.reason = "hands"
            case Ended():
                self._book.write("ended", reason=event.reason, stack=event.stack)
                self.played.reason = event.reason
            case Fatal():
                raise LiveError(event.code, event.message or "the server gave no reason")
            case Note():
                logger.info("%s", event.text)

    # Decisions.

    def _begin(self, decision: PokerDecision) -> None:
        """Have the agent think. Deciding again in the same turn does not restart the server's clock, nor ours."""
        self.drop_decision()
        if not decision.again:
            given = 0.8 * self._timeout if self.deadline is None else self.deadline
            self._ends_at = asyncio.get_running_loop().time() + given
        self._turn = decision.turn
        self._thinking = asyncio.create_task(self._decide(decision))

    def drop_decision(self) -> None:
        """Forget the decision under way; its answer will not be sent."""
        if self._thinking is not None:
            self._thinking.cancel()
        self._thinking, self._turn = None, ""

    async def _decide(self, decision: PokerDecision) -> None:
        response: Any = None
        told: dict[str, Any] = {}
        try:
            async with asyncio.timeout_at(self._ends_at):
                response, told = await self.worker.call(self._consider, decision.turn_state)
            problem = self.session.refusal(response)
        except TimeoutError:
            problem = "no answer in time"
        except Exception as error:  # whatever it is, the hand goes on
            problem = f"{type(error).__name__}: {error}"
        if problem is None:
            sent = self.session.act(response, decision.turn)
        else:
            sent = self.session.safe_action(decision.turn)
        if sent:
            if problem is not None:
                kind = sent[0].action.kind
                self.played.replaced += 1
                logger.warning("hand %s: %s instead of the agent's answer: %s", _hand(decision), kind, problem)
            await self._send(sent[0])
            self._write_turn(decision, sent[0], problem, told)

    def _consider(self, state: TurnState) -> tuple[Any, dict[str, Any]]:
        """Return the agent's answer, and for the log what it tells of it."""
        response = self._agent.respond(state)
        return response, safe_thoughts(lambda: thoughts(self._agent)) if self._book else {}

    async def _send(self, message: messages.Action) -> None:
        """Send if there is a connection; else the session sends again after reconnecting."""
        if self._socket is not None and not self._socket.closed:
            with contextlib.suppress(OSError, aiohttp.ClientError):
                await self._socket.send_str(messages.encode(message))

    def _write_turn(
        self, decision: PokerDecision, sent: messages.Action, problem: str | None, told: dict[str, Any]
    ) -> None:
        payload = {} if sent.action.amount is None else {"amount": sent.action.amount}
        response = AgentResponse(Action(sent.action.kind, payload))
        note = told if problem is None else {"replaced": problem}
        seen = {"turn_state": decision.turn_state, "response": response}
        self._book.write("turn", hand=_hand(decision), seq=sent.expected_seq, **seen, **note)


def _hand(decision: PokerDecision) -> int:
    return int(decision.turn_state.game_state["hand"])
