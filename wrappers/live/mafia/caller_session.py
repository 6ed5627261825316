"""The host's end of the forwarding protocol, without I/O: calls to messages, and messages to parts of answers.

See `agent_session` for the messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from .agent_session import CallId
from .messages import Cancel, GameState, Method, PrivateInfo, PublicInfo, Reply, encode, read


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
