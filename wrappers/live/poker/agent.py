"""Our agent at live poker tables, from the address of a server to the end of its last table.

It registers and joins by REST, connects and reconnects, and answers every decision before its deadline. A decision that
is late, raises or cannot be played is replaced by the safe action (check, else fold). Tokens and keys are never logged.
`PokerRestClient` takes the seats, `Stay` plays in them.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.options import AT_LEAST_0, NO_LIMIT, Checked, SecondsOr0, seconds
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog, escaped, opened
from ..common.client import (
    CONNECTION_ERRORS,
    UNREACHABLE,
    Backoff,
    Dial,
    Link,
    LiveError,
    TryAgain,
    http_client,
    read_json,
    tls_context,
)
from ..common.player import AgentStatistics, Player, run
from . import messages
from .agent_session import PokerAgentSession, PokerEvent, SeatTaken, no_real_money

logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""Seconds that are waited at most before the next table is joined."""
STALLED_SECONDS = 600.0
"""Seconds without a word from a table with hands, after which an agent that keeps playing goes to another."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
    aiohttp.WSCloseCode.POLICY_VIOLATION: messages.UNAUTHORIZED,
}
"""HTTP statuses of a WebSocket handshake, and a code of its close, after which another try is of no use."""
WAIT = (messages.TABLE_FULL, messages.INVALID_TABLE_STATE, messages.ALREADY_SEATED)
"""What a join may answer that another time it does not."""
KEY_REFUSED = (messages.UNAUTHORIZED, messages.INVALID_API_KEY, messages.AGENT_NOT_FOUND)
"""What a server answers that does not know our key (any longer)."""
FOR_GOOD = (messages.OUTDATED_CLIENT, messages.VALIDATION_ERROR, messages.REAL_MONEY)
"""What no waiting changes."""
REST_SECONDS = 30.0
"""Seconds for a REST call."""
LEAVE_SECONDS = 3.0
"""Seconds for giving a seat back."""
MOST_LEFT = 20
"""Tables that are left at most to find the one where a seat of ours is, those that wait for players first."""


@dataclass(frozen=True, kw_only=True)
class SeatRequest:
    """Which seat our agent wants, and as whom.

    Attributes:
        name: Name to register with.
        table: Table to join; None: the platform chooses.
        seat: The preferred seat.
        api_key: Key of an agent registered before. On a command line others can read it; rather use the file or the
            environment's PARLOUR_API_KEY.
        access_token: What the platform asks of those who register, if it does.
        play_for_real_money: Sit down at tables for real money, too; else such a seat is given back. You make the
            deposit; the agent never does.
        state: File that keeps the key and the seat: after a crash the player goes on in its seat, if it can.
    """

    name: str | None = None
    table: str | None = None
    seat: int | None = None
    api_key: str | None = field(default=None, repr=False)
    access_token: str | None = field(default=None, repr=False)
    play_for_real_money: bool = False
    state: Path | None = None


ANY_SEAT = SeatRequest()


class _Kept(msgspec.Struct):
    """What the file of `SeatRequest.state` holds."""

    address: str
    api_key: str | None
    agent_id: str | None
    table: str | None
    url: str | None


class OtherOwner(TryAgain):
    """The seat that we were given is another agent's."""


@dataclass
class PokerRestClient:
    """Registers, joins and leaves. Tokens and keys are never logged.

    Attributes:
        http: what connects.
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``.
        request: which seat we want, and as whom.
        seated: whether we have the URL of a seat.
        agent_id: who we are to the server; None: not known.
        table: the table to join; None: the server chooses, and it is the table joined from then on.
        api_key: the agent's key; None: it has to register.
    """

    http: aiohttp.ClientSession
    address: URL
    request: SeatRequest
    seated: bool = False
    agent_id: str | None = None
    table: str | None = field(init=False)
    api_key: str | None = field(init=False)
    _url: URL | None = None
    _key_works: bool = False  # it was given a seat, or is one that we registered
    _answer_lost: bool = False  # of a join: we may have a seat and not know it
    _chosen_again: bool = False  # the table is the one where we gave such a seat back

    def __post_init__(self) -> None:
        self.table, self.api_key = self.request.table, self.request.api_key
        if self.request.state is None:
            return
        with contextlib.suppress(OSError, ValueError):  # there is none yet, or none that we can read
            kept = msgspec.json.decode(Path(self.request.state).read_bytes(), type=_Kept)
            if kept.address == str(self.address) and self.api_key in (None, kept.api_key):
                self.api_key, self.agent_id, self._key_works = kept.api_key, kept.agent_id, True
                if kept.url is not None and self.table in (None, kept.table):
                    self.table, self._url, self.seated = kept.table, URL(kept.url), True

    def _keep(self, url: URL | None) -> None:
        """Write the key and the seat to the file, if there is one."""
        if self.request.state is not None:
            kept = _Kept(str(self.address), self.api_key, self.agent_id, self.table, None if url is None else str(url))
            try:
                with open(os.open(self.request.state, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                    file.write(msgspec.json.encode(kept))
            except OSError as error:
                logger.warning("cannot keep the seat in %s: %s", self.request.state, error.strerror)

    async def url(self) -> URL:
        """Return the URL of our seat; registers and joins the first time.

        Raises:
            LiveError: if the server refuses.
            TryAgain, aiohttp.ClientError, OSError, TimeoutError: if it cannot be reached.
        """
        if self._url is None:
            url = self.address if self.address.scheme in ("ws", "wss") else await self._join()
            self._url = url if "format" in url.query else url.update_query(format="agent")
            self.seated = True
            self._keep(self._url)
        return self._url

    async def leave(self, table: str | None = None) -> None:
        """Give back the seat that was taken by REST: at our table, or at another. Never raises."""
        table = table or self.table
        if table == self.table:
            self._keep(None)
        if self.api_key is not None and table is not None:
            with contextlib.suppress(TryAgain, *CONNECTION_ERRORS):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._call(f"v1/tables/{table}/leave", {})

    def forget_seat(self) -> None:
        """Let the next `url` join a table that the server chooses."""
        self._url = self.table = None
        self.seated = self._answer_lost = False
        self._keep(None)

    def forget_key(self) -> bool:
        """Let the next `url` register anew, or try a given key again; return False where no key has ever worked."""
        if self.api_key is None or not self._key_works:
            return False
        if self.api_key != self.request.api_key:  # a key that was given stays: the refusal may pass
            self.api_key, self._key_works = None, False
        return True

    async def _join(self) -> URL:
        if self.api_key is None:
            agent = await self._call("v1/agents", {} if self.request.name is None else {"name": self.request.name})
            self.api_key, self._key_works = _text(agent, "api_key"), True
            self.agent_id = agent.get("agent_id")
        wish: dict[str, Any] = {"client_protocol_version": messages.PROTOCOL_VERSION}
        if self.request.seat is not None:
            wish["preferred_seat"] = self.request.seat
        where = "auto-join" if self.table is None else f"{self.table}/join"
        if self.table is not None:
            self._check_money(await self._call(f"v1/tables/{self.table}"))
        try:
            joined = await self._call(f"v1/tables/{where}", wish)
        except LiveError as error:
            await self._recover(error)
            raise
        except (TryAgain, *CONNECTION_ERRORS) as error:
            self._answer_lost = self._answer_lost or not isinstance(error, aiohttp.ClientConnectorError)
            raise
        table, self._key_works = str(joined.get("table_id", self.table)), True
        try:
            shown = await self._call(f"v1/tables/{table}")
            self._check_owner(shown, joined.get("seat_id"))
            self._check_money({**shown, **joined})
        except (TryAgain, *CONNECTION_ERRORS) as error:  # nobody says whether it is for real money, or it is
            if not isinstance(error, OtherOwner):
                self._answer_lost = True  # the seat may stay ours
                await self.leave(table)
            raise
        self.table = table
        logger.info("joined table %s, seat %s", escaped(self.table, 80), escaped(str(joined.get("seat_id")), 40))
        try:
            return URL(_text(joined, "ws_url")).update_query(token=_text(joined, "session_token"))
        except ValueError:
            raise LiveError(messages.INTERNAL_ERROR, "the server's ws_url is no address") from None

    def _check_money(self, shown: Mapping[str, Any]) -> None:
        """Raise LiveError if a table plays for real money, as its own page or the answer to a join says."""
        config = shown.get("config")
        fields = {**(config if isinstance(config, dict) else {}), **shown}
        for sign in ("realMoney", "real_money", "deposit", "deposit_status"):
            if fields.get(sign) and not self.request.play_for_real_money:
                raise no_real_money(f"the server says {sign}")

    def _check_owner(self, shown: Mapping[str, Any], seat: Any) -> None:
        """Raise TryAgain if our seat is another agent's: Moltpoker gives one seat to two who join at one moment."""
        seats = shown.get("seats")
        rows = [row for row in seats if isinstance(row, dict)] if isinstance(seats, list) else []
        owner = next((row.get("agentId") for row in rows if row.get("seatId") == seat), None)
        if isinstance(owner, str) and self.agent_id is not None and owner != self.agent_id:
            raise OtherOwner("another agent was given the same seat at the same moment")

    async def leave_all(self) -> None:
        """Give back a seat of ours whose table is not known. Never raises."""
        listed: Any = []
        with contextlib.suppress(TryAgain, *CONNECTION_ERRORS):
            listed = (await self._call("v1/tables")).get("tables")
        tables = [table for table in (listed if isinstance(listed, list) else []) if isinstance(table, dict)]
        for table in sorted(tables, key=lambda table: table.get("status") != "waiting")[:MOST_LEFT]:
            if table.get("status") != "ended" and isinstance(table.get("id"), str):
                await self.leave(table["id"])

    async def _recover(self, error: LiveError) -> None:
        """Give back a seat whose token we never got, so that the next try can join again."""
        table = self.table or error.details.get("table_id")
        if self._answer_lost and error.code == messages.ALREADY_SEATED and isinstance(table, str):
            self.table, self._chosen_again = table, True
            await self.leave()
            raise TryAgain("seated by a try whose answer was lost") from error
        if self._chosen_again and error.code in (messages.TABLE_ENDED, messages.TABLE_NOT_FOUND):
            self.table, self._chosen_again = None, False
            raise TryAgain("the table of the seat that was given back has ended") from error

    async def _call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a body that is posted; without a body, what a server shows, or {} without such a page.

        Raises:
            TryAgain, aiohttp.ClientError, OSError, TimeoutError: if there is no answer, or it cannot be read.
            LiveError: if the server refuses what is posted.
        """
        bearer = self.api_key or self.request.access_token
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        timeout, method = aiohttp.ClientTimeout(total=REST_SECONDS), "GET" if body is None else "POST"
        async with self.http.request(method, self.address / path, json=body, headers=headers, timeout=timeout) as reply:
            if reply.status >= 500 or reply.status == 429:
                raise TryAgain(f"the server answered with HTTP {reply.status}")
            try:
                answer = await read_json(reply)
            except (ValueError, RecursionError):
                if reply.ok:
                    raise TryAgain(f"the server's answer to {path} cannot be read") from None
                answer = None
        if reply.ok and isinstance(answer, dict):
            return answer
        if body is None:
            return {}
        error = answer.get("error") if isinstance(answer, dict) else None
        details = error if isinstance(error, dict) else {}
        code, reason = details.get("code", f"HTTP_{reply.status}"), str(details.get("message", "no reason given"))
        raise LiveError(escaped(str(code), 40), f"{path}: {escaped(reason, 200)}", details.get("details"))


def _text(answer: dict[str, Any], field: str) -> str:
    value = answer.get(field)
    if not isinstance(value, str):
        raise LiveError(messages.INTERNAL_ERROR, f"the server's answer lacks {field}")
    return value


@dataclass(frozen=True, kw_only=True)
class PlayLength(Checked):
    """How long our agent plays.

    Attributes:
        hands: leave after so many, at all tables; None: no limit.
        until: leave when this time has come and the hand is over; without a zone it is local time. None: no limit.
        keep_playing: join the next table when one has ended, when our chips are gone, when the server has forgotten us
            or nothing is heard of the table for ten minutes; until cancelled, or `hands` or `until` is reached. It
            needs the REST address.

    Raises:
        ValueError: if the number of hands is below 1.
    """

    hands: Annotated[int | None, NO_LIMIT] = None
    until: datetime | None = None
    keep_playing: bool = False


@dataclass(frozen=True, kw_only=True)
class ClientSettings(Checked):
    """How our agent deals with the server.

    Attributes:
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long, at most ten times.
        retries: further tries in a row to connect, before it is given up; at most `FIRST_TRIES` in all if nothing ever
            answered. With `PlayLength.keep_playing`, a server that has answered is never given up.
        ca_file: certificates (PEM) of authorities that are trusted beside the system's; None: no further ones.

    Raises:
        ValueError: if a number is out of its range.
    """

    deadline: Annotated[float | None, seconds] = None
    retry_after: SecondsOr0 = 3.0
    retries: Annotated[int, AT_LEAST_0] = 10
    ca_file: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Monitoring:
    """What follows the play of our agent.

    Attributes:
        statistics: the agent's counters; None: new ones.
        link: gets every beginning and end of a connection; None: nobody does.
        on_event: is called with every event, for tables on a screen and tests.
    """

    statistics: AgentStatistics | None = None
    link: Link | None = None
    on_event: Callable[[PokerEvent], None] | None = None


@dataclass
class PokerResult:
    """Result of play at one table, or at many.

    Attributes:
        hands: that ended in which the agent had cards.
        net: chips won since the first hand.
        actions: accepted by the server.
        rejected: rejected by the server.
        replaced: decisions that the safe action took the place of.
        reconnects: connections after the first to the same table.
        reason: why the play ended: the server's word, ``closed`` (the connection was closed without a word), ``hands``
            (as many as were asked for), ``until`` (the time has come), ``busted`` or ``stalled`` (nothing was heard of
            the table for a long time).
        tables: where the agent had a connection.
    """

    hands: int = 0
    net: int = 0
    actions: int = 0
    rejected: int = 0
    replaced: int = 0
    reconnects: int = 0
    reason: str = ""
    tables: int = 0


@dataclass
class Stay:
    """Our agent at one table, over as many connections as it takes, or at one table after another.

    Between two tables it waits: `retry_after` seconds where hands were played, else longer each time, up to
    `LONGEST_WAIT`. It gives up only where nothing was ever played: then an address or a key may be wrong.

    Attributes:
        http: what connects.
        rest: takes seats and gives them back.
        player: the agent.
        length, client, monitoring: see `play`.
        result: what has come of it.
    """

    http: aiohttp.ClientSession
    rest: PokerRestClient
    player: Player
    length: PlayLength
    client: ClientSettings
    monitoring: Monitoring
    result: PokerResult = field(default_factory=PokerResult)
    _failures: int = 0
    _session: PokerAgentSession | None = None
    _leaving: str = ""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self) -> PokerResult:
        """Play until there is a reason to go.

        Raises:
            LiveError: if the server refuses us for good, or was never reached.
        """
        if not self.length.keep_playing:
            try:
                await self._play_table()
            except LiveError:
                self.rest.forget_seat()  # the next start is to try another
                raise
            return self.result
        while not self._leaving:
            hands = self.result.hands
            try:
                await self._play_table()
            except LiveError as error:
                self.result.reason = str(error)
                if not await self._may_go_on(error):
                    raise
                logger.warning("%s", error)
            if self.result.reason in ("hands", "until"):
                return self.result
            self._failures = 0 if self.result.hands > hands else self._failures + 1
            after = self.client.retry_after
            wait = min(after * (self._failures + 1), max(LONGEST_WAIT, after))
            logger.info("%s; the next table in %.1f s", messages.in_words(self.result.reason), wait)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                self.rest.forget_seat()
        self.result.reason = self._leaving
        return self.result

    def leave(self, reason: str) -> None:
        """Stop after this hand, at once where we have no cards."""
        self._leaving = reason
        self._wake.set()
        if self._session is not None:
            self._session.leave(reason)

    async def _play_table(self) -> None:
        keeps, client, rest, result = self.length.keep_playing, self.client, self.rest, self.result
        self._session = session = PokerAgentSession(
            hands=None if self.length.hands is None else self.length.hands - result.hands,
            deadline=client.deadline,
            leave_busted=keeps,
            stalled=STALLED_SECONDS if keeps else None,
            real_money=rest.request.play_for_real_money,
        )
        growth = max(1, round(LONGEST_WAIT / client.retry_after)) if keeps else 10
        tries, reached = None if keeps else client.retries + 1, result.tables > 0
        backoff = Backoff(client.retry_after, tries, first_tries=FIRST_TRIES, growth=growth, reached=reached)
        link = self.monitoring.link or Link()
        port = Dial(self.http, rest.url, messages.encode, backoff, link, REFUSED, lambda: session.seq)
        reason = ""
        try:
            reason = (await run(port, session, self.player, self._note)).reason
            if reason in ("hands", "until", "busted", "stalled"):
                await rest.leave()
        except asyncio.CancelledError:  # Ctrl-C: the seat is given back first
            await rest.leave()
            raise
        except LiveError as error:
            if error.code == messages.REAL_MONEY:
                await rest.leave()
            raise
        finally:
            self._session = None
            result.hands += session.hands_played
            result.net += session.net
            result.actions += session.actions
            result.rejected += session.rejected
            result.reconnects += max(0, port.connections - 1)
            result.tables += port.connections > 0
            result.reason, result.replaced = reason, self.player.statistics.replaced

    def _note(self, event: PokerEvent) -> None:
        if isinstance(event, SeatTaken) and event.agent_id is not None:
            self.rest.agent_id = event.agent_id
        if self.monitoring.on_event is not None:
            self.monitoring.on_event(event)

    async def _may_go_on(self, error: LiveError) -> bool:
        """Return whether another join may work; forget a key or a seat that stands in its way."""
        rest = self.rest
        if error.code in FOR_GOOD:
            return False
        if error.code in KEY_REFUSED and not rest.seated:
            return rest.forget_key()
        if error.code in (messages.SESSION_EXPIRED, messages.INVALID_SESSION):
            await rest.leave()  # a seat that nobody can play any longer
        if error.code == messages.ALREADY_SEATED:  # a seat of ours whose token is lost, as after a crash
            table = error.details.get("table_id")
            await (rest.leave(table) if isinstance(table, str) else rest.leave_all())
        return self.result.tables > 0 or (error.code in WAIT) or (rest.seated and error.code != UNREACHABLE)


FIRST_TRIES = 4
"""Tries after which a server that has never been reached is given up: its address may be wrong, and people wait."""


async def play(
    address: str,
    agent: Agent,
    *,
    seat: SeatRequest = ANY_SEAT,
    length: PlayLength = PlayLength(),
    client: ClientSettings = ClientSettings(),
    log: str | os.PathLike[str] | MatchLog | None = None,
    monitoring: Monitoring = Monitoring(),
) -> PokerResult:
    """Play at a table until it ends, or at one table after another.

    Args:
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``, where the agent
            registers, joins and finds its URL by itself.
        agent: answers the turns; its `respond` runs in a thread of its own, one call at a time. Its `warm_up`, if it
            has one, is called before we connect.
        seat: which seat the agent wants, and as whom.
        length: how long it plays; by default until its table ends.
        client: how it deals with the server.
        log: a match log, or the path of one to append to (see `parlour.wrappers.logs.match_log`).
        monitoring: what follows its play.

    Raises:
        LiveError: if the server refuses us for good, or cannot be reached.
        ValueError: for an address of another kind.
    """
    url = URL(address)
    if url.scheme not in ("ws", "wss", "http", "https") or not url.host:
        raise ValueError(f"{url.with_query(None)} is no address: give ws://… of a seat, or http://… of the REST API")
    if length.keep_playing and url.scheme in ("ws", "wss"):
        raise ValueError("to keep playing takes the REST address, http://… or https://…: a seat's URL is one seat's")
    connector = aiohttp.TCPConnector(ssl=tls_context(client.ca_file))
    async with http_client(connector=connector) as http:
        with contextlib.ExitStack() as stack:
            match_log = SafeMatchLog(stack.enter_context(opened(log)))
            player = Player(agent, log=match_log, waits=True, statistics=monitoring.statistics)
            stack.enter_context(contextlib.closing(player))
            await player.warm_up()
            stay = Stay(http, PokerRestClient(http, url, seat), player, length, client, monitoring)
            if length.until is not None:
                left = max(0.0, length.until.timestamp() - datetime.now().timestamp())
                stack.callback(asyncio.get_running_loop().call_later(left, stay.leave, "until").cancel)
            return await stay.play()
