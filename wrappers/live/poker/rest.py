"""The REST calls of a poker server: registering, joining and leaving, the list of tables, and the page for agents.

Answers have the platform's fields. ``GET /skill.md`` explains the server to language models, and to clients that read
the contract at its head.
"""

import asyncio
import functools
import html
from collections.abc import Awaitable, Callable
from importlib import resources

import msgspec
from aiohttp import web

from ..common.database import SaveError
from ..common.names import problem_of
from ..common.server import PREFIX, Body, read_struct
from ..common.tokens import Admit, bearer_token
from . import messages
from .accounts import Accounts, SeatTokens
from .hosted_table import HostedTable
from .table_data import Account, Refusal
from .table_pool import TablePool

MOST_CHARACTERS = 64
"""Most characters of an agent's name."""

STATUS = {
    messages.OUTDATED_CLIENT: 426,
    messages.UNAUTHORIZED: 401,
    messages.INVALID_API_KEY: 401,
    messages.TABLE_NOT_FOUND: 404,
    messages.TABLE_ENDED: 410,
    messages.TABLE_FULL: 409,
    messages.ALREADY_SEATED: 409,
    messages.NOT_SEATED: 409,
    messages.INVALID_TABLE_STATE: 409,
    messages.RATE_LIMIT_EXCEEDED: 429,
}
"""HTTP status of an error code; 400 for the others."""

FRONT_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Poker tables</title>
<h1>Poker tables</h1>
<p>Agents play here. Seat one with <code>{command}</code>, or read <a href="{skill}">how agents connect</a>.</p>
<table>
<tr><th scope="col">table<th scope="col">status<th scope="col">seats taken<th scope="col">hands</tr>
{tables}
</table>
</html>
"""


class Register(msgspec.Struct):
    """The body of ``POST /v1/agents``."""

    name: str | None = None


class Join(msgspec.Struct):
    """The body of the two joining calls."""

    client_protocol_version: str | int | float | None = None
    preferred_seat: int | None = None


class PokerRest:
    """The calls of one server.

    Args:
        pool: the tables.
        accounts: the registered agents.
        tokens: of the seats.
        timeout: time to act in milliseconds, which joining agents are sent.
        admit: who may register, by name and access token.
    """

    def __init__(
        self,
        pool: TablePool,
        accounts: Accounts,
        tokens: SeatTokens,
        timeout: int,
        admit: Admit,
    ) -> None:
        self._pool = pool
        self._accounts = accounts
        self._tokens = tokens
        self._timeout = timeout
        self._admit = admit

    def routes(self) -> list[web.RouteDef]:
        """Return what is served."""
        return [
            web.post("/v1/agents", self._register),
            web.post("/v1/tables/auto-join", self._auto_join),
            web.post("/v1/tables/{table_id}/join", self._join),
            web.post("/v1/tables/{table_id}/leave", self._leave),
            web.get("/v1/tables", self._list),
            web.get("/v1/tables/{table_id}", self._show),
            web.get("/skill.md", _skill),
        ]

    def front_page(self) -> web.RouteDef:
        """Return the page for a person who opens the server's address in a browser."""
        return web.get("/", self._front)

    async def _front(self, request: web.Request) -> web.Response:
        tables = "".join(
            f"<tr><td>{table.table_id}<td>{table.session.status}<td>{len(table.session.seats)} of "
            f"{table.session.game.seats}<td>{table.session.hand}</tr>"
            for table in self._pool.running()
        )
        command = f"parlour deploy poker tight --api {base_url(request)}"
        page = FRONT_PAGE.format(tables=tables, skill=html.escape(skill_url(request)), command=html.escape(command))
        return web.Response(
            text=page, content_type="text/html", headers={"Content-Security-Policy": "default-src 'none'"}
        )

    def table(self, request: web.Request) -> HostedTable:
        """Return the table that a request's path names; raises Refusal."""
        return self._pool.find(request.match_info["table_id"])

    async def _register(self, request: web.Request) -> web.Response:
        body = await _body(request, Register)
        problem = None if body.name is None else problem_of(body.name, MOST_CHARACTERS)
        if problem is not None:
            raise Refusal(messages.VALIDATION_ERROR, problem)
        problem = self._admit(body.name, bearer_token(request))
        if problem is not None:
            raise Refusal(messages.UNAUTHORIZED, problem)
        api_key, agent = self._accounts.register(body.name, self._pool.seated())
        answer = {"agent_id": agent.agent_id, "api_key": api_key, "name": agent.name}
        about = {"protocol_version": messages.PROTOCOL_VERSION, "skill_doc_url": skill_url(request)}
        return web.json_response({**answer, **about}, status=201)

    async def _auto_join(self, request: web.Request) -> web.Response:
        agent, body = await self._joining(request)
        return self._seated(request, agent, *self._pool.join_any(agent, body.preferred_seat))

    async def _join(self, request: web.Request) -> web.Response:
        agent, body = await self._joining(request)
        table = self.table(request)
        return self._seated(request, agent, table, table.join(agent, body.preferred_seat))

    async def _joining(self, request: web.Request) -> tuple[Account, Join]:
        agent, body = self._accounts.find(bearer_token(request)), await _body(request, Join)
        _check_version(body)
        return agent, body

    def _seated(self, request: web.Request, agent: Account, table: HostedTable, seat: int) -> web.Response:
        try:
            token = self._tokens.issue(table, seat, agent.agent_id, asyncio.get_running_loop().time())
        except SaveError:
            table.leave(seat)  # else nobody could play in it
            raise
        return web.json_response(
            {
                "table_id": table.table_id,
                "seat_id": seat,
                "session_token": token,
                "ws_url": f"{base_url(request).replace('http', 'ws', 1)}/v1/ws",
                "protocol_version": messages.PROTOCOL_VERSION,
                "min_supported_protocol_version": messages.PROTOCOL_VERSION,
                "skill_doc_url": skill_url(request),
                "action_timeout_ms": self._timeout,
                "agent_id": agent.agent_id,
            }
        )

    async def _leave(self, request: web.Request) -> web.Response:
        agent, table = self._accounts.find(bearer_token(request)), self.table(request)
        if table.ended_at is not None:
            return web.json_response({"success": True, "message": "the table has ended; there is nothing to leave"})
        for number, seat in table.session.seats.items():
            if seat.agent_id == agent.agent_id:
                self._tokens.revoke(table, agent.agent_id)
                table.leave(number)
                left = {"success": True, "message": "the seat is given back"}
                return web.json_response({**left, "table_id": table.table_id, "seat_id": number})
        raise Refusal(messages.NOT_SEATED, f"{agent.agent_id} does not sit at table {table.table_id}")

    async def _list(self, request: web.Request) -> web.Response:
        """List the tables: the running ones, or those with ``?status=``; ``limit`` and ``offset`` choose a page."""
        status = request.query.get("status")
        tables = self._pool.running() if status is None else self._pool.tables.values()
        rows = [table.summary() for table in tables if status in (None, table.session.status)]
        first, most = (_count(request.query.get(name), start) for name, start in (("offset", 0), ("limit", len(rows))))
        page = {"tables": rows[first : first + most], "hasMore": len(rows) > first + most}
        return web.json_response({**page, "protocol_version": messages.PROTOCOL_VERSION})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self.table(request).summary())


def base_url(request: web.Request) -> str:
    """Return the server's address as the client knows it; TLS may end at a proxy."""
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    return f"{'https' if secure else 'http'}://{request.host}{request.app[PREFIX]}"


def skill_url(request: web.Request) -> str:
    """Return where the server explains itself to agents."""
    return f"{base_url(request)}/skill.md"


async def _skill(request: web.Request) -> web.Response:
    text = _skill_text().replace("{BASE_URL}", base_url(request))
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


@functools.cache
def _skill_text() -> str:
    return resources.files(__package__).joinpath("skill.md").read_text(encoding="utf-8")


def _count(value: str | None, default: int) -> int:
    return int(value) if value is not None and value.isdecimal() and len(value) < 10 else default


async def _body(request: web.Request, kind: type[Body]) -> Body:
    try:
        return await read_struct(request, kind)
    except ValueError as error:
        raise Refusal(messages.VALIDATION_ERROR, str(error)) from None


def _check_version(body: Join) -> None:
    """Refuse a client that says an older version than is spoken here. A version that cannot be read is accepted."""
    parts = str(body.client_protocol_version or "").split(".")
    least = [int(part) for part in messages.PROTOCOL_VERSION.split(".")]
    if all(part.isdecimal() for part in parts) and [int(part[:9]) for part in parts] < least:
        version = body.client_protocol_version
        detail = f"client_protocol_version {version}: at least {messages.PROTOCOL_VERSION} is spoken here"
        raise Refusal(messages.OUTDATED_CLIENT, detail)


@web.middleware
async def answer_refusals(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Give every refused call the platform's form of an error."""
    try:
        return await handler(request)
    except Refusal as refusal:
        code, message, status = refusal.code, refusal.message, STATUS.get(refusal.code, 400)
        details = refusal.details
    except SaveError as error:
        code, message, status, details = messages.INTERNAL_ERROR, str(error), 503, {}
    except web.HTTPClientError as error:  # unknown path, wrong method, long body
        code, message, status, details = messages.VALIDATION_ERROR, error.reason, error.status, {}
    more = {"details": details} if details else {}
    return web.json_response({"error": {"code": code, "message": message, **more}}, status=status)
