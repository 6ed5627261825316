"""The agents' end of the forwarding protocol, without I/O: messages in, calls and messages out.

A caller sends ``{id, method, context, info}`` and gets ``{id, chunk}`` …, then ``{id, done: true, result?}`` or
``{id, error}``. Any number of calls may run at once on one connection. Three things are ours: ``agent`` in a call says
whose it is, ``{id, cancel: true}`` gives a call up, and an error with the id null answers what could not be read.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from ....envs.mafia.table import DAYS, SEATS
from .messages import Call, Cancel, GameState, Method, PrivateInfo, PublicInfo, Reply, encode, read

CALLS = 64
"""Calls that may run at once on one connection."""
MESSAGE_LIMIT = 2**22
"""Bytes of the longest message: a context with all that twenty players said in twenty days has room."""
NAME = 200
"""Characters of the longest id or name."""
INFO: dict[str, type[PrivateInfo] | type[PublicInfo]] = {
    "think": PrivateInfo,
    "nightAction": PrivateInfo,
    "say": PublicInfo,
    "vote": PublicInfo,
}
"""What `info` is, by method."""

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
    """A running call that nobody waits for any longer."""

    id: CallId


class _Id(Struct):
    id: CallId


class MafiaAgentSession:
    """The agents' end of one connection."""

    def __init__(self) -> None:
        self._running: set[CallId] = set()
        self._selves: dict[str, None] = {}  # agents whose own information was shown, the latest last

    def receive(self, data: str | bytes) -> Begin | GivenUp | bytes | None:
        """Take a message.

        Returns:
            a call to answer, a call given up, or the message that says what was wrong with it.
        """
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
        """Answer with the id, where there is one that no running call has."""
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
        """Return whose call it is: as `agent` says, else the self of `info`, else the only one on the connection."""
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
            known = ", ".join(self._selves) or "none has thought yet"
            raise ValueError(f"whose {call.method} is it? Name the agent in `agent` ({known})")
        return next(iter(self._selves))


def _check_size(context: GameState, info: PrivateInfo | PublicInfo) -> None:
    """Refuse what no match has: an agent remembers who plays, and what it was told in private."""
    count = len(context.players)
    if count > SEATS:
        raise ValueError(f"context has {count} players; mafia is played by at most {SEATS}")
    names = [context.game_id, *(name for player in context.players for name in (player.id, player.name))]
    if isinstance(info, PrivateInfo):
        told = info.private_knowledge
        names += [info.game_state.game_id, info.self.id, info.self.name]
        crowds = len(told.mafia_teammates or ()), len(told.night_actions or ())
        if max(crowds) > SEATS or len(told.investigation_results) > SEATS * DAYS:
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
