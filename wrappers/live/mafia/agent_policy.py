"""`AgentPolicy`, the interface of the AgentPolicy document in Python: what agents may answer, and how they are called.

The document lets the mafia coordinate, but its interface has no call for messages between them: `say` is public, and
only admins see `think`. So here, other than in the environment, the mafia send no messages. They coordinate by
`PrivateKnowledge`: their teammates, and (our addition) the targets that these have chosen so far tonight.
"""

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol, runtime_checkable

import msgspec

from ....envs.core.options import AT_LEAST_1, Checked, Seconds, whole
from ...logs.match_log import describe_error
from ..common.clock import Deadline
from ..common.player import plain
from . import messages as wire


@runtime_checkable
class AgentPolicy(Protocol):
    """One player of one match (the AgentPolicy document, AgentPolicy Interface).

    Attributes:
        id: the id, unique in the match.
        name: the name that the others see.
        role: the role, set by the host; None: not set yet.
        config: the type of the agent and its settings.
    """

    id: str
    name: str
    role: str | None
    config: wire.AgentConfig

    def think(self, context: wire.GameState, private_info: wire.PrivateInfo) -> AsyncIterator[str]:
        """Stream private reasoning, honestly: called before every night action, statement and vote."""

    def say(self, context: wire.GameState, public_info: wire.PublicInfo) -> AsyncIterator[str]:
        """Stream a public statement of one to five sentences; it may be a lie."""

    async def night_action(self, context: wire.GameState, private_info: wire.PrivateInfo) -> wire.NightAction | None:
        """Return the night's choice; None for villagers."""

    async def vote(self, context: wire.GameState, public_info: wire.PublicInfo) -> wire.VoteAction:
        """Return the vote."""


# Optional attributes of agents.


def replacement(agent: Any) -> str | None:
    """Return why the agent's latest answer was replaced, by its attribute ``replacement``; None: it is its own."""
    with contextlib.suppress(Exception):
        if isinstance(problem := getattr(agent, "replacement", None), str):
            return problem
    return None


def model_calls(agent: Any) -> list[dict[str, Any]]:
    """Return an agent's calls of a language model since the last time, by its method ``take_calls``, for logs."""
    with contextlib.suppress(Exception):
        return [vars(call) for call in agent.take_calls()]
    return []


# Choices.


def read_choice(
    answer: Any, agent_id: str, context: wire.GameState, info: wire.Info
) -> wire.NightAction | wire.VoteAction | None:
    """Return an answer to `night_action` or `vote` as a struct.

    Args:
        answer: a struct, a dict, or an object with the same attributes.
        agent_id: the agent.
        context, info: the arguments of the call.

    Raises:
        ValueError: if it is no legal choice, or its metadata is no JSON.
        Exception: the attributes of a foreign object may raise anything.
    """
    night = isinstance(info, wire.PrivateInfo)
    kind: type[Any] = wire.NightAction if night else wire.VoteAction
    if answer is not None:
        if not isinstance(answer, (dict, kind)):
            answer = msgspec.convert(answer, kind, from_attributes=True)
        answer = wire.read(wire.encode(plain(answer)), kind)  # a struct made by hand may hold anything
    role = str(info.self.role) if isinstance(info, wire.PrivateInfo) else ""
    wanted = wire.NIGHT_ACTIONS.get(role) if night else "vote for"
    open_to = night_targets(info) if isinstance(info, wire.PrivateInfo) else vote_targets(agent_id, context)
    if answer is None and wanted is None:
        return None
    if answer is None:
        raise ValueError(f"a {role} must {wanted} a player" if night else "no vote")
    if night and answer.action_type != wanted:
        instead = "does nothing at night" if wanted is None else f"can {wanted}"
        raise ValueError(f"a {role} {instead}, not {answer.action_type}")
    target = answer.target_id
    if target is not None and target not in open_to:
        player = next((player for player in context.players if player.id == target), None)
        if player is None:
            what = f"there is no player {target[:80]!r}"
        elif not player.alive:
            what = f"cannot {wanted} {target}, who is dead"
        else:
            what = f"cannot {wanted} {target}: it is the agent itself, or was protected last night"
        raise ValueError(f"{what}; open are {', '.join(open_to)}")
    return answer  # type: ignore[no-any-return]


REASON = 2_000
"""Most characters of a vote's reason; the rest is cut off."""
METADATA = 16_384
"""Most bytes of a night action's metadata, as JSON; longer ones are left out."""


def beside(choice: wire.NightAction | wire.VoteAction | None) -> dict[str, Any]:
    """Return the ``metadata`` or ``reason`` of a choice, for admins and logs; {} if there is none."""
    if isinstance(choice, wire.NightAction) and choice.metadata is not None:
        size = len(wire.encode(choice.metadata))
        return {"metadata": choice.metadata if size <= METADATA else {"leftOut": f"{size} bytes"}}
    if isinstance(choice, wire.VoteAction) and isinstance(choice.reason, str):
        return {"reason": choice.reason[:REASON]}
    return {}


def night_targets(info: wire.PrivateInfo) -> list[str]:
    """Return the ids of the legal targets of the agent tonight; [] for villagers.

    See the AgentPolicy document, Night Action Rules.
    """
    role = info.self.role
    if role not in wire.NIGHT_ACTIONS or not info.self.alive:
        return []
    alive = [player for player in info.game_state.players if player.alive]
    if role != "doctor":
        return [player.id for player in alive if player.id != info.self.id]
    last = info.private_knowledge.last_protected
    spared = [player.id for player in alive if last not in (player.id, player.name)]
    return spared or [player.id for player in alive]


def vote_targets(agent_id: str, context: wire.GameState) -> list[str]:
    """Return the ids of the legal targets of a vote; abstaining is legal too."""
    return [player.id for player in context.players if player.alive and player.id != agent_id]


# Limits.

# A sentence of a statement ends with a full stop, a question mark or an exclamation mark, and white space after it.
# Abbreviations, initials and ellipses end no sentence.

TITLES = ("capt", "col", "dr", "gen", "hon", "jr", "lt", "mr", "mrs", "ms", "mx", "prof", "rev", "sgt", "sr", "st")
ABBREVIATIONS = frozenset((*TITLES, "a.m", "approx", "cf", "e.g", "etc", "i.e", "mt", "p.m", "vs"))
"""Words that may end with a full stop within a sentence, in lower case."""
OPENING, CLOSING = "\"'([“‘«*_", "\"')]”’»*_"
_WORD = re.compile(r"(\S+)\s+(?=\S)")
"""A word before another one."""


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each with the white space after it, so that they join to the text again.

    >>> sentences("Ask Dr. Lee … He saw it!  Did you?")
    ['Ask Dr. Lee … He saw it!  ', 'Did you?']
    """
    starts = [0, *(word.end() for word in _WORD.finditer(text) if _ends(word[1]))]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True) if start < end]


def _ends(word: str) -> bool:
    """Return whether a sentence ends with this word."""
    word = word.rstrip(CLOSING)
    rest = word.rstrip(".!?")
    marks = word[len(rest) :]
    if marks != ".":  # several stops are an ellipsis
        return "!" in marks or "?" in marks
    rest = rest.lstrip(OPENING)
    initial = len(rest) == 1 and rest.isupper() and rest != "I"
    return not initial and rest.lower() not in ABBREVIATIONS


LONGEST_CHUNK = 4_000
"""Most characters of a chunk; a longer one is split."""
CHUNKS = 5_000
"""Most chunks of a stream, because every chunk becomes an event that is kept."""
SENTENCES = 5
"""Most sentences of a statement (the AgentPolicy document, Say Generation Rules)."""


@dataclass(frozen=True, kw_only=True)
class MafiaLimits(Checked):
    """The limits of agents in a hosted match.

    Attributes:
        think, say, act: seconds for a THINK stream, for a SAYS stream, and for a night action or vote.
        thought, statement: most characters of a THINK and of a SAYS stream.
        tries: most calls of `night_action` in a night until one returns a legal target.

    Raises:
        ValueError: if one is out of its range.
    """

    think: Seconds = 30.0
    say: Seconds = 30.0
    act: Seconds = 30.0
    thought: Annotated[int, AT_LEAST_1] = 20_000
    statement: Annotated[int, partial(whole, low=1, high=4_000)] = 4_000
    tries: Annotated[int, AT_LEAST_1] = 2


class ChunkLimit:
    """Checks the chunks of one stream and counts its characters.

    Args:
        characters: most characters of the whole stream.

    Attributes:
        error: why the stream ends here; None: it goes on.
    """

    def __init__(self, characters: int) -> None:
        self.error: Exception | None = None
        self._characters = self._left = characters
        self._chunks = 0

    def take(self, chunk: Any) -> list[str]:
        """Return the part of the next chunk within the limits, split after every `LONGEST_CHUNK` characters.

        It is [] for an empty chunk. A chunk sets `error` if it is no text, cannot be written as UTF-8, or exceeds a
        limit.
        """
        if not isinstance(chunk, str):
            self.error = TypeError(f"a chunk is text, not {type(chunk).__name__}")
            return []
        if not chunk:
            return []
        try:
            chunk.encode()
        except UnicodeEncodeError as error:  # half a surrogate pair
            self.error = error
            return []
        self._chunks += 1
        if self._chunks > CHUNKS:
            self.error = ValueError(f"more than {CHUNKS:,} chunks")
            return []
        size = len(chunk)
        if size > self._left:
            self.error = ValueError(f"more than {self._characters:,} characters")
            size = self._left
        self._left -= size
        return [chunk[start : min(start + LONGEST_CHUNK, size)] for start in range(0, size, LONGEST_CHUNK)]


class SentenceLimit:
    """Cuts a stream after `SENTENCES` sentences, however it is chunked.

    Attributes:
        full: whether a further sentence has begun, which is cut off.
    """

    def __init__(self) -> None:
        self.full = False
        self._left = SENTENCES  # with the latest one
        self._latest = ""

    def take(self, chunk: str) -> str:
        """Return the part of the next chunk within the limit."""
        begun = sentences(self._latest + chunk) or [""]
        beyond = "".join(begun[self._left :])
        self.full = len(begun) > self._left
        self._left -= len(begun) - 1
        self._latest = begun[-1]
        return chunk[: len(chunk) - len(beyond)]


# Calls.

Take = Callable[[Any], Awaitable[bool]]
"""Takes a chunk of a stream; returns whether the stream goes on."""

CLOSE_SECONDS = 1.0
"""Seconds for an agent to close a stream."""


async def ask(
    agent: Any,
    method: wire.Method,
    arguments: tuple[wire.GameState, wire.Info],
    *,
    role: str | None,
    deadline: Deadline,
    take: Take,
) -> Any:
    """Call an agent; return its choice, or pass the chunks of its stream to `take`.

    Args:
        agent: an `AgentPolicy`, or one in `Apart`.
        method: the method.
        arguments: its arguments.
        role: the role that it is given before; None: unknown.
        deadline: the end of its time.
        take: takes the chunks of a stream.

    Raises:
        TimeoutError: at the deadline.
        RuntimeError: if the agent raises an error, with its text.
    """
    call = agent.call if isinstance(agent, Apart) else _called
    try:
        async with deadline.limit():
            return await call(agent, method, arguments, role, deadline, take)
    except TimeoutError:
        raise
    except Exception as error:
        raise RuntimeError(describe_error(error)) from error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():  # the call is given up
            raise
        raise RuntimeError("it cancelled itself") from None


async def _called(
    agent: Any, method: wire.Method, arguments: tuple[Any, Any], role: str | None, deadline: Deadline, take: Take
) -> Any:
    with contextlib.suppress(Exception):  # it plays on without
        if role is not None and agent.role != role:
            agent.role = role
    answer = getattr(agent, "night_action" if method == "nightAction" else method)(*arguments)
    if method in ("nightAction", "vote"):
        return await answer
    stream = aiter(answer)
    try:
        async for chunk in stream:
            if not deadline.left:  # it goes on although it was cancelled
                raise TimeoutError
            if chunk == "":
                await asyncio.sleep(0)  # endless empty chunks must not block the event loop
            elif not await take(chunk):
                return None
    finally:
        aclose = getattr(stream, "aclose", None)
        if aclose is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await aclose()
    return None


def called(agent: AgentPolicy) -> Any:
    """Return an agent as it is called: itself if its attribute ``blocks`` is False, else `Apart`."""
    return agent if getattr(agent, "blocks", True) is False else Apart(agent)


class Apart:
    """A foreign agent in a thread and event loop of its own, which gets copies of the arguments.

    A call that is given up may run there for ever; until it ends, further calls fail at once.

    Args:
        agent: the agent. It may block, loop, or ignore cancellation.
    """

    def __init__(self, agent: AgentPolicy) -> None:
        self.agent = agent
        self._idle = asyncio.Event()
        self._idle.set()
        self._over = asyncio.Event()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(BaseException), self._runner:  # a task of the agent may raise SystemExit
            self._runner.run(self._over.wait())

    def stop(self) -> None:
        """End the thread, after cancelling what runs there."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._over.set)

    async def call(
        self, _: Any, method: wire.Method, arguments: tuple[Any, Any], role: str | None, deadline: Deadline, take: Take
    ) -> Any:
        """Call the agent in its thread (see `ask`), and `take` in this one."""
        try:  # one that was given up may be about to end
            async with asyncio.timeout(min(CLOSE_SECONDS, deadline.left / 2)):
                await self._idle.wait()
        except TimeoutError:
            raise RuntimeError("it is still busy with an earlier call") from None
        here = asyncio.get_running_loop()
        context, info = (wire.read(wire.encode(one), type(one)) for one in arguments)

        async def take_here(chunk: Any) -> bool:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(take(chunk), here))  # type: ignore[arg-type]

        async def there() -> tuple[Any, BaseException | None]:
            try:
                return await _called(self.agent, method, (context, info), role, deadline, take_here), None
            except BaseException as error:  # such as SystemExit, which must not end the thread
                return None, error
            finally:
                with contextlib.suppress(RuntimeError):  # our loop is closed
                    here.call_soon_threadsafe(self._idle.set)

        self._idle.clear()
        answer, error = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self._loop))
        if isinstance(error, Exception | asyncio.CancelledError):
            raise error
        if error is not None:
            raise RuntimeError(f"it raised {type(error).__name__}")
        return answer
