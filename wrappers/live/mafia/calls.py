"""Calls of agents: what is due, and what is kept of a call until it has ended."""

from typing import Any, NamedTuple

from ...logs.log_text import describe_error as described
from .limits import ChunkLimit, SentenceLimit
from .messages import GameState, Method, PrivateInfo, PublicInfo


class DueCall(NamedTuple):
    """A call to make now: of a method of a seat's agent, within so many seconds.

    `number` names the call; `MafiaHostSession.arguments` gives what the agent is called with. Streams (``think``,
    ``say``) have at most so many characters; 0 for the others.
    """

    number: int
    seat: int
    method: Method
    seconds: float
    characters: int = 0


class RunningCall:
    """A call that has not ended.

    Args:
        call: that was due.
        stream: what the events of its chunks tell of it.
        thought: the call of `think` before it, whose context is the same unless others have chosen since.
        tries: how often it was made for the same decision, this time included.

    Attributes:
        context, info: what the agent is called with; None: not known yet.
        choices: how many had chosen when they were made.
        called: the agent was called with them.
        text: what has been passed on of the stream.
        problem: why the stream ends here; None while it may go on.
        replaced: why the answer is not the agent's own; None: it is, as far as is known.
    """

    def __init__(
        self, call: DueCall, stream: dict[str, str], thought: "RunningCall | None" = None, tries: int = 1
    ) -> None:
        self.call = call
        self.stream = stream
        self.tries = tries
        self.context: GameState | None = None
        self.info: PrivateInfo | PublicInfo | None = None
        self.choices = 0
        if thought is not None:
            self.context, self.choices = thought.context, thought.choices
            self.info = thought.info if call.method == "nightAction" else None
        self.called = False
        self.text: list[str] = []
        self.problem: str | None = None
        self.replaced: str | None = None
        self._chunks = ChunkLimit(call.characters)
        self._sentences = SentenceLimit() if call.method == "say" else None

    def take(self, chunk: Any) -> list[str]:
        """Return what of the next chunk of the stream is passed on."""
        parts = self._chunks.take(chunk)
        if self._chunks.error is not None:
            self.problem = described(self._chunks.error)
        if self._sentences is not None:
            parts = self._cut(parts, self._sentences)
        self.text += parts
        return parts

    def _cut(self, parts: list[str], sentences: SentenceLimit) -> list[str]:
        """Return what the limit of sentences leaves of some parts."""
        left = []
        for part in parts:
            passed = sentences.take(part)
            if passed:
                left.append(passed)
            if sentences.full:
                self.problem = "more than five sentences: the rest is left out"
                break
        return left
