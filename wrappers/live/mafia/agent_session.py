"""The agents' end of the forwarding protocol, without I/O: messages in, calls and messages out.

A caller sends ``{id, method, context, info}`` and gets ``{id, chunk}`` …, then ``{id, done: true, result?}`` or
``{id, error}``. Any number of calls may run at once on one connection. Three things are our additions: ``agent`` is
the id of the called agent, ``{id, cancel: true}`` cancels a call, and an error with id null answers an unreadable one.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from ....envs.mafia.table import DAYS, SEATS
from .messages import Call, Cancel, GameState, Method, PrivateInfo, PublicInfo, Reply, encode, read

CALLS = 64
"""Most calls at once on one connection."""
MESSAGE_LIMIT = 2**22
"""Most bytes of a message: enough for all statements of twenty players in twenty days."""
NAME = 200
"""Most characters of an id or name."""
INFO: dict[str, type[PrivateInfo] | type[PublicInfo]] = {
    "think": PrivateInfo,
    "nightAction": PrivateInfo,
    "say": PublicInfo,
    "vote": PublicInfo,
}
"""The type of `info`, by method."""

CallId = int | str


@dataclass(frozen=True)
class Begin:
    """A call to answer."""

    id: CallId
    agent_id: str
    method: Method
    context: GameState
    info: PrivateInfo | PublicInfo


@dataclass(frozen=True)
class GivenUp:
    """A running call that the client has cancelled."""

    id: CallId


class _Id(Struct):
    id: CallId


class MafiaAgentSession:
    """The agents' end of one connection."""

    def __init__(self) -> None:
        self._running: set[CallId] = set()
        self._selves: dict[str, None] = {}  # agents that got private information, the latest last

    def receive(self, data: str | bytes) -> Begin | GivenUp | bytes | None:
        """Return the call of a message, the cancelled call, or the error message to send; None: nothing to do."""
        try:
            if b'"cancel"' in (data if isinstance(data, bytes) else data.encode()):
                cancel = _cancel(data)
                if cancel is not None:
                    return self._given_up(cancel)
            call = read(data, Call)
        except ValueError as error:
            return self._unreadable(data, f"no call: {error}; send {{id, method, context, info}}")
        if call.id in self._running:
            return encode(Reply(id=None, error=f"a call with id {call.id!r} is still running: give each its own"))
        if len(self._running) >= CALLS:
            return encode(Reply(id=call.id, error=f"{CALLS} calls are running on this connection: wait for one to end"))
        try:
            begin = self._begin(call)
        except ValueError as error:
            return encode(Reply(id=call.id, error=str(error)))
        self._running.add(call.id)
        return begin

    def chunk(self, call: CallId, text: str) -> bytes | None:
        """Return the message that carries a part of a stream; None if the call is not running."""
        return encode(Reply(id=call, chunk=text)) if call in self._running else None

    def done(self, call: CallId, result: Any = UNSET) -> bytes | None:
        """Return the message that ends a call (of an action: with its result); None if the call is not running."""
        return self._end(Reply(id=call, done=True, result=result))

    def failed(self, call: CallId, problem: str) -> bytes | None:
        """Return the message that ends a call without an answer; None if the call is not running."""
        return self._end(Reply(id=call, error=problem))

    def _end(self, reply: Reply) -> bytes | None:
        if reply.id is None or reply.id not in self._running:
            return None
        self._running.remove(reply.id)
        return encode(reply)

    def _given_up(self, cancel: Cancel) -> GivenUp | None:
        if cancel.id not in self._running:
            return None
        self._running.remove(cancel.id)
        return GivenUp(cancel.id)

    def _unreadable(self, data: str | bytes, problem: str) -> bytes:
        """Return an error; with the id if there is one and it is not of a running call."""
        try:
            call: CallId | None = read(data, _Id).id
        except ValueError:
            call = None
        return encode(Reply(id=None if call in self._running else call, error=_shown(problem)))

    def _begin(self, call: Call) -> Begin:
        try:
            context = read(call.context, GameState)
        except ValueError as error:
            raise ValueError(_shown(f"context is no GameState: {error}")) from None
        kind = INFO[call.method]
        try:
            info: PrivateInfo | PublicInfo = read(call.info, kind)
        except ValueError as error:
            raise ValueError(_shown(f"info of {call.method} is no {kind.__name__}: {error}")) from None
        _check_size(context, info)
        return Begin(call.id, self._addressed(call, info), call.method, context, info)

    def _addressed(self, call: Call, info: PrivateInfo | PublicInfo) -> str:
        """Return the agent of a call: `agent`, else the self of `info`, else the only agent on the connection.

        Raises:
            ValueError: if it is none of these, or two of them disagree.
        """
        if isinstance(info, PrivateInfo):
            agent = info.self.id
            if call.agent not in (None, agent):
                raise ValueError(f"agent is {call.agent!r}, but info is {agent!r}'s")
            self._selves.pop(agent, None)
            self._selves[agent] = None
            if len(self._selves) > CALLS:
                del self._selves[next(iter(self._selves))]
            return agent
        if call.agent is not None:
            return call.agent
        if len(self._selves) != 1:
            agents = ", ".join(self._selves) or "none has thought yet"
            raise ValueError(f"which agent is to {call.method}? Name it in `agent` ({agents})")
        return next(iter(self._selves))


def _check_size(context: GameState, info: PrivateInfo | PublicInfo) -> None:
    """Check the numbers of players and results, because agents keep them.

    Raises:
        ValueError: if no match has as many, or an id or name is too long.
    """
    count = len(context.players)
    if count > SEATS:
        raise ValueError(f"context has {count} players; mafia is played by at most {SEATS}")
    names = [context.game_id, *(name for player in context.players for name in (player.id, player.name))]
    if isinstance(info, PrivateInfo):
        knowledge = info.private_knowledge
        names += [info.game_state.game_id, info.self.id, info.self.name]
        crowds = len(knowledge.mafia_teammates or ()), len(knowledge.night_actions or ())
        if max(crowds) > SEATS or len(knowledge.investigation_results) > SEATS * DAYS:
            raise ValueError("privateKnowledge holds more than a match has")
    longest = max(names, key=len)
    if len(longest) > NAME:
        raise ValueError(f"an id or name has {len(longest)} characters; at most {NAME} are taken")


def _cancel(data: str | bytes) -> Cancel | None:
    try:
        return msgspec.json.decode(data, type=Cancel)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _shown(text: str) -> str:
    return text.encode(errors="replace").decode()[:500]
