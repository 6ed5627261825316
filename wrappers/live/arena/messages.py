"""The wire types of a TurnState arena beyond TurnState itself, and its refusals.

The calls are those of Strategic Agent Games, for agents behind HTTP: the arena posts a TurnState to ``{endpoint}/act``
and gets an `AgentResponse`; ``/match_start`` and ``/match_end`` say when a match begins and ends; ``POST
{arena}/api/register`` adds an agent to the arena. Agents that cannot be reached play in sessions, which they poll.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from ....envs.core.turn_state import INVALID_PAYLOAD, Wire
from ...logs.match_log import describe_error
from ..common.limits import lacks_token, problem_of
from ..common.server import read_body

ANSWER_SECONDS = 30.0
"""Seconds that an arena gives an agent for its turn."""
ANSWER_LIMIT = 2**19
"""Bytes of an answer: ten messages of 4,000 characters fit, however they are escaped."""
STATE_LIMIT = 2**23
"""Bytes of a TurnState, which contains all messages of the match."""

MOST_CHARACTERS = 64
"""Most characters of an agent's name."""
Endpoint = Annotated[str, msgspec.Meta(max_length=500, pattern=r"^https?://[^\s/?#]+[^\s?#]*\Z")]
Name = Annotated[str, msgspec.Meta(max_length=64)]
Body = TypeVar("Body")
Kind = TypeVar("Kind", bound=Wire)
Names = Annotated[list[Name], msgspec.Meta(max_length=64)]


class Register(Wire):
    """The body of ``POST /api/register``. Without an endpoint the agent plays in sessions only.

    The answer to the first one of a name has the ``claim_token`` that proves later ones.
    """

    agent_id: str
    endpoint: Endpoint | None = None
    agent_type: Name = "remote"
    display_name: Name | None = None
    supported_games: Names | None = None
    claim_token: Name | None = None

    def __post_init__(self) -> None:
        """Check the name, as all hosts do."""
        if (problem := problem_of(self.agent_id, MOST_CHARACTERS)) is not None:
            raise ValueError(problem)


class Unregister(Wire):
    """The body of ``POST /api/unregister``, with the token that the agent got when it registered."""

    agent_id: Name
    claim_token: Name | None = None


class StartMatch(Wire):
    """The body of ``POST /api/match``: one match or several between registered agents."""

    agent_ids: Names
    game_id: Name | None = None
    num_matches: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1


class CreateSession(Wire):
    """The body of ``POST /api/sessions/create``; the arena has defaults for all fields."""

    game_id: Name | None = None
    player_name: Name = ""
    num_players: int | None = None
    game_params: dict[str, Any] | None = None
    max_turns: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = None


class JoinSession(Wire):
    """The body of ``POST /api/sessions/join``."""

    invite_code: Name
    player_name: Name = ""


class JoinedSession(Wire):
    """The answer to both, as far as an agent needs it: a seat. `claim_token` belongs to the player's name."""

    session_id: str
    token: str
    invite_codes: list[str] = msgspec.field(default_factory=list)
    claim_token: str | None = None


class SessionAct(Wire):
    """The body of ``POST /api/sessions/act``; the messages are delivered before the action."""

    token: Name
    action_type: str
    payload: dict[str, Any] | None = None
    messages: list[Any] | None = None


class MatchStart(Wire):
    """The body of ``POST {endpoint}/match_start``; the agents are in the order of their seats."""

    match_id: str
    game_id: str
    agent_ids: list[str]


class MatchEnd(Wire):
    """The body of ``POST {endpoint}/match_end``."""

    match_id: str
    outcome: dict[str, Any] | None = None


# Refusals.


class Refused(ValueError):
    """A refused call: a sentence for the caller, the HTTP status, and a code (none: the sentence)."""

    def __init__(self, text: str, status: int = 400, code: str = "") -> None:
        super().__init__(text)
        self.status, self.code = status, code or text


@web.middleware
async def answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give a refused call the form of arenas."""
    try:
        return await handler(request)
    except Refused as error:
        refusal = {"ok": False, "error": error.code, "error_detail": str(error)}
        return web.json_response(refusal, status=error.status)


async def read(request: web.Request, decode: Callable[[bytes], Body], seconds: float | None = None) -> Body:
    """Return a request's body, which comes within so many seconds (None: `BODY_SECONDS`).

    Raises:
        Refused: if it cannot be read.
    """
    try:
        return decode(await read_body(request, seconds))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Refused(describe_error(error), code=INVALID_PAYLOAD) from None


def posted(
    path: str, kind: type[Kind], handler: Callable[[web.Request, Kind], Awaitable[Any]], token: str | None = None
) -> web.RouteDef:
    """Return the route of a call with a body; what the handler returns is the answer.

    Args:
        path: where it is posted.
        kind: the type of the body.
        handler: called with the request and its body.
        token: the access token that it needs; None: none.
    """

    async def answer(request: web.Request) -> web.Response:
        if lacks_token(request, token):
            raise Refused("this needs Authorization: Bearer <access token>", 401, "unauthorized")
        return web.json_response(await handler(request, await read(request, kind.from_json)))

    return web.post(path, answer)
