"""The REST calls of the poker platform by which our agent takes a seat and gives it back."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from yarl import URL

from ...logs.match_log import escaped
from ..common.client import CONNECTION_ERRORS, LiveError, TryAgain, read_json
from . import messages
from .agent_session import no_real_money

logger = logging.getLogger(__name__)

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
        name: the name to register with; None: the server chooses.
        table: the table to join; None: the server chooses.
        seat: the preferred seat; None: any.
        api_key: the key of an agent registered before; None: register.
        access_token: what the server asks of those who register, if it does.
        real_money: whether to sit down where real money is played for; else such a seat is given back. Deposits are
            never made.
    """

    name: str | None = None
    table: str | None = None
    seat: int | None = None
    api_key: str | None = field(default=None, repr=False)
    access_token: str | None = field(default=None, repr=False)
    real_money: bool = False


ANY_SEAT = SeatRequest()


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
        return self._url

    async def leave(self, table: str | None = None) -> None:
        """Give back the seat that was taken by REST: at our table, or at another. Never raises."""
        table = table or self.table
        if self.api_key is not None and table is not None:
            with contextlib.suppress(TryAgain, *CONNECTION_ERRORS):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._post(f"v1/tables/{table}/leave", {})

    def forget_seat(self) -> None:
        """Let the next `url` join a table that the server chooses."""
        self._url = self.table = None
        self.seated = self._answer_lost = False

    def forget_key(self) -> bool:
        """Let the next `url` register anew, or try a given key again; return False where no key has ever worked."""
        if self.api_key is None or not self._key_works:
            return False
        if self.api_key != self.request.api_key:  # a key that was given stays: the refusal may pass
            self.api_key, self._key_works = None, False
        return True

    async def _join(self) -> URL:
        if self.api_key is None:
            agent = await self._post("v1/agents", {} if self.request.name is None else {"name": self.request.name})
            self.api_key, self._key_works = _text(agent, "api_key"), True
            self.agent_id = agent.get("agent_id")
        wish: dict[str, Any] = {"client_protocol_version": messages.PROTOCOL_VERSION}
        if self.request.seat is not None:
            wish["preferred_seat"] = self.request.seat
        where = "auto-join" if self.table is None else f"{self.table}/join"
        if self.table is not None:
            self._check_money(await self._get(f"v1/tables/{self.table}"))
        try:
            joined = await self._post(f"v1/tables/{where}", wish)
        except LiveError as error:
            await self._recover(error)
            raise
        except aiohttp.ClientConnectorError:
            raise
        except (TryAgain, *CONNECTION_ERRORS):
            self._answer_lost = True
            raise
        table, self._key_works = str(joined.get("table_id", self.table)), True
        try:
            shown = await self._get(f"v1/tables/{table}")
            self._check_owner(shown, joined.get("seat_id"))
            self._check_money({**shown, **joined})
        except OtherOwner:
            raise
        except (TryAgain, *CONNECTION_ERRORS):  # nobody says whether it is for real money, or it is
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
        sign = next(
            (name for name in ("realMoney", "real_money", "deposit", "deposit_status") if fields.get(name)), None
        )
        if sign is not None and not self.request.real_money:
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
            listed = (await self._get("v1/tables")).get("tables")
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

    async def _get(self, path: str) -> dict[str, Any]:
        """Return what a server shows to everybody; {} where it has no such page.

        Raises:
            TryAgain, aiohttp.ClientError, OSError, TimeoutError: if there is no answer, or it cannot be read.
        """
        timeout = aiohttp.ClientTimeout(total=REST_SECONDS)
        async with self.http.get(self.address / path, timeout=timeout) as reply:
            if reply.status >= 500 or reply.status == 429:
                raise TryAgain(f"the server answered with HTTP {reply.status}")
            try:
                answer = await read_json(reply) if reply.ok else None
            except (ValueError, RecursionError):
                raise TryAgain(f"the server's answer to {path} cannot be read") from None
        return answer if isinstance(answer, dict) else {}

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        bearer = self.api_key or self.request.access_token
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        timeout = aiohttp.ClientTimeout(total=REST_SECONDS)
        async with self.http.post(self.address / path, json=body, headers=headers, timeout=timeout) as reply:
            try:
                answer = await read_json(reply)
            except (ValueError, RecursionError):
                answer = None
            if reply.ok and isinstance(answer, dict):
                return answer
            if reply.status >= 500 or reply.status == 429:
                raise TryAgain(f"the server answered with HTTP {reply.status}")
            error = answer.get("error") if isinstance(answer, dict) else None
            details = error if isinstance(error, dict) else {}
            code, reason = details.get("code", f"HTTP_{reply.status}"), details.get("message", "no reason given")
            sentence = f"{path}: {escaped(str(reason), 200)}"
            raise LiveError(escaped(str(code), 40), sentence, details.get("details"))


def _text(answer: dict[str, Any], field: str) -> str:
    value = answer.get(field)
    if not isinstance(value, str):
        raise LiveError(messages.INTERNAL_ERROR, f"the server's answer lacks {field}")
    return value
