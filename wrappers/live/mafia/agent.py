"""Our agents behind a WebSocket, for hosts elsewhere: an agent service. And how all agents of mafia are called.

`AgentPolicy` is the interface of the AgentPolicy document in Python. The document lets the mafia coordinate, but its
interface has no call for messages between them: `say` is public, and only admins see `think`. So here, other than in
the environment, the mafia send no messages. They coordinate by `PrivateKnowledge`: their teammates, and (our addition)
the targets that these have chosen so far tonight.

`MafiaAgentSession` has the forwarding protocol without I/O. A caller sends ``{id, method, context, info}`` and gets
``{id, chunk}`` …, then ``{id, done: true, result?}`` or ``{id, error}``. Any number of calls may run at once on one
connection. Three things are our additions: ``agent`` is the id of the called agent, ``{id, cancel: true}`` cancels a
call, and an error with id null answers an unreadable one.

`MafiaAgents` has the agents: one player for the calls of all. If an agent raises, is late, streams without end or makes
an illegal choice, its answer is cut off or replaced by a legal target, an abstention or a plain sentence. The log has a
``turn`` for every night action, statement and vote, with its thought. Hosts do not report the end of a match to agents,
so ``ended`` is written when the service removes an agent.
"""

import asyncio
import contextlib
import random
import re
import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Protocol, runtime_checkable

import msgspec
from aiohttp import WSCloseCode, web
from cachetools import LRUCache
from msgspec import Struct

from ....envs.core.options import AT_LEAST_1, Checked, Seconds, seconds, whole
from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ....envs.mafia.table import DAYS, SEATS
from ...agents.base import thoughts
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, escaped, safe_thoughts
from ..common import limits
from ..common.clock import Deadline
from ..common.player import Codec, Over, Played, Player, Turn, plain, run
from ..common.server import Connection, Served, Server, ServerSettings, local_url
from . import messages as wire
from .messages import turn_state


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
            why = "was protected last night" if role == "doctor" else "is the agent itself"
            what = f"cannot {wanted} {target}, who {why}"
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
    """Return True if a sentence ends with this word."""
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
    """Checks the chunks of one stream and counts its characters."""

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
    """Cuts a stream after `SENTENCES` sentences, however it is chunked."""

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
        with contextlib.suppress(Exception):  # it may not even have this method
            async with asyncio.timeout(CLOSE_SECONDS):
                await stream.aclose()
    return None


def called(agent: AgentPolicy) -> Any:
    """Return an agent as it is called: itself if its attribute ``blocks`` is False, else `Apart`."""
    return agent if getattr(agent, "blocks", True) is False else Apart(agent)


class Apart:
    """A foreign agent in a thread and event loop of its own, which gets copies of the arguments.

    A call that is given up may run there for ever; until it ends, further calls fail at once.
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


CALLS = 64
"""Most calls at once on one connection."""
NAME = 200
"""Most characters of an id or name."""
STREAM_LIMIT = {"think": 20_000, "say": 4_000}
"""Most characters of a thought and of a statement; the rest is cut off."""
NOTHING_TO_SAY = "I have nothing to add for now."
"""The statement of an agent that says nothing: a statement has at least one sentence."""

CallId = int | str


@dataclass
class MafiaTurn(Turn):
    """A call of an agent: a stream, of which stands what was said by the deadline, or a choice."""

    agent_id: str = field(kw_only=True)
    method: wire.Method = field(kw_only=True)
    context: wire.GameState = field(kw_only=True)
    info: wire.Info = field(kw_only=True)
    chance: random.Random = field(kw_only=True, default_factory=random.Random)
    send: Callable[[str], Awaitable[None]] | None = None
    agent: Any = None
    nobody: str | None = None
    replaced: str | None = None
    said: list[str] = field(default_factory=list)
    choice: wire.NightAction | wire.VoteAction | None = None
    seen: TurnState | None = None

    def __post_init__(self) -> None:
        """Prepare the limit of the stream."""
        self._limit = ChunkLimit(STREAM_LIMIT.get(self.method, 0))

    @property
    def moment(self) -> tuple[str, int]:
        """The phase and the round."""
        return self.context.phase, self.context.round_number

    async def take(self, chunk: Any) -> bool:
        """Pass on what is within the limits of the next chunk of the stream; return whether it may go on."""
        for part in self._limit.take(chunk):
            self.said.append(part)
            if self.send is not None:
                await self.send(part)
        if self._limit.error is not None:
            self.replaced = describe_error(self._limit.error)
        return self._limit.error is None

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`."""
        if self.method in STREAM_LIMIT:
            return self.safe()
        return self._chosen(read_choice(answer, self.agent_id, self.context, self.info))

    def safe(self) -> AgentResponse:
        """Return the statement, or a random legal target, or an abstention."""
        if self.method in STREAM_LIMIT:
            text = "".join(self.said)
            return AgentResponse(Action(self.method, {"text": NOTHING_TO_SAY if self.silent else text}))
        if not isinstance(self.info, wire.PrivateInfo):
            return self._chosen(wire.VoteAction(None))
        kind, targets = wire.NIGHT_ACTIONS.get(str(self.info.self.role)), night_targets(self.info)
        return self._chosen(wire.NightAction(kind, self.chance.choice(targets)) if kind and targets else None)

    @property
    def silent(self) -> bool:
        """Whether it is a statement of nothing."""
        return self.method == "say" and not "".join(self.said).strip()

    def _chosen(self, choice: wire.NightAction | wire.VoteAction | None) -> AgentResponse:
        self.choice = choice
        if choice is None:
            return AgentResponse(Action("pass"))
        kind = {"actionType": choice.action_type} if isinstance(choice, wire.NightAction) else {}
        return AgentResponse(Action(self.method, {**kind, "targetId": choice.target_id, **beside(choice)}))

    def settle(self, answer: Callable[[], Any]) -> tuple[AgentResponse, str | None]:
        """See `Turn`."""
        response, problem = super().settle(answer)
        return response, problem or self.replaced

    def logged(self) -> TurnState | None:
        """Return the state for the log; a thought is logged with the decision after it, and villagers sleep."""
        decides = self.method == "say" or self.choice is not None
        return self.seen if decides else None

    def ended(self) -> list[wire.Reply]:
        """Return the messages that end the call with what is played."""
        if self.nobody is not None:
            return [wire.Reply(id=self.id, error=f"there is no agent for {self.agent_id[:64]!r}")]
        if self.method not in STREAM_LIMIT:
            return [wire.Reply(id=self.id, done=True, result=self.choice)]
        said = [wire.Reply(id=self.id, chunk=NOTHING_TO_SAY)] if self.silent else []
        return [*said, wire.Reply(id=self.id, done=True)]


class _Id(Struct):
    id: CallId


class MafiaAgentSession(Codec):
    """The agents' end of one connection."""

    name = "a client"

    def __init__(self, seconds: float | None = None, chance: random.Random | None = None) -> None:
        self._seconds, self._chance = seconds, chance or random.Random()
        self._running: dict[CallId, MafiaTurn] = {}
        self._selves = LRUCache[str, bool](CALLS)  # agents that got private information
        self._silent_until: float | None = None
        self.known = False

    def receive(self, data: str | bytes) -> list[Any]:
        """Return the call of a message as a turn, or the error message to send; a cancelled call is over."""
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            self._running.pop(msgspec.json.decode(data, type=wire.Cancel).id, None)
            return []
        try:
            call = wire.read(data, wire.Call)
        except ValueError as error:
            return self.give_up(data=data, problem=f"no call: {error}; send {{id, method, context, info}}")
        if call.id in self._running:
            return [wire.Reply(id=None, error=f"a call with id {call.id!r} is still running: give each its own")]
        if len(self._running) >= CALLS:
            return [wire.Reply(id=call.id, error=f"{CALLS} calls are running on this connection: wait for one to end")]
        try:
            turn = self._turn(call)
        except ValueError as error:
            return [wire.Reply(id=call.id, error=str(error))]
        self._running[turn.id] = turn
        self.known = True
        return [turn]

    def waits(self, turn: Turn) -> bool:
        """See `Codec`."""
        return self._running.get(turn.id) is turn

    def reply(self, turn: Turn, played: Played) -> list[Any]:
        """See `Codec`."""
        assert isinstance(turn, MafiaTurn)
        if not self.waits(turn):
            return []
        del self._running[turn.id]
        return turn.ended()

    def give_up(self, turn: Turn | None = None, data: Any = None, problem: str = "an error of ours") -> list[Any]:
        """Return an error; of a message, with its id if there is one and it is not of a running call."""
        if turn is not None:
            self._running.pop(turn.id, None)
            return [wire.Reply(id=turn.id, error=problem)]
        try:
            call: CallId | None = wire.read(data, _Id).id
        except ValueError:
            call = None
        return [wire.Reply(id=None if call in self._running else call, error=_sendable(problem))]

    def tick(self, now: float) -> list[Any]:
        """Close a connection on which no call has come."""
        if self._silent_until is None:
            self._silent_until = now + limits.SILENT_SECONDS
        return [Over("no call has come")] if not self.known and now >= self._silent_until else []

    def _turn(self, call: wire.Call) -> MafiaTurn:
        kind: type[wire.Info] = wire.PublicInfo if call.method in ("say", "vote") else wire.PrivateInfo
        context = _argument("context", call.context, wire.GameState)
        info: wire.Info = _argument(f"info of {call.method}", call.info, kind)
        _check_size(context, info)
        agent = self._addressed(call, info)
        name = f"{escaped(context.game_id[:64])}, {call.method} of {escaped(agent[:64])}"
        state = TurnState(context.game_id, "mafia-v0", agent, context.phase, is_my_turn=True)
        about: dict[str, Any] = {"agent_id": agent, "method": call.method, "context": context, "info": info}
        return MafiaTurn(state, call.id, seconds=self._seconds, table=call.id, name=name, chance=self._chance, **about)

    def _addressed(self, call: wire.Call, info: wire.Info) -> str:
        """Return the agent of a call: `agent`, else the self of `info`, else the only agent on the connection.

        Raises:
            ValueError: if it is none of these, or two of them disagree.
        """
        if isinstance(info, wire.PrivateInfo):
            agent = info.self.id
            if call.agent not in (None, agent):
                raise ValueError(f"agent is {call.agent!r}, but info is {agent!r}'s")
            self._selves[agent] = True
            return agent
        if call.agent is not None:
            return call.agent
        if len(self._selves) != 1:
            agents = ", ".join(self._selves) or "none has thought yet"
            raise ValueError(f"which agent is to {call.method}? Name it in `agent` ({agents})")
        return next(iter(self._selves))


def _argument(what: str, data: Any, kind: type[wire.Wired]) -> wire.Wired:
    try:
        return wire.read(data, kind)
    except ValueError as error:
        raise ValueError(_sendable(f"{what} is no {kind.__name__}: {error}")) from None


def _check_size(context: wire.GameState, info: wire.Info) -> None:
    """Check the numbers of players and results, because agents keep them.

    Raises:
        ValueError: if no match has as many, or an id or name is too long.
    """
    count = len(context.players)
    if count > SEATS:
        raise ValueError(f"context has {count} players; mafia is played by at most {SEATS}")
    names = [context.game_id, *(name for player in context.players for name in (player.id, player.name))]
    if isinstance(info, wire.PrivateInfo):
        knowledge = info.private_knowledge
        names += [info.game_state.game_id, info.self.id, info.self.name]
        crowds = len(knowledge.mafia_teammates or ()), len(knowledge.night_actions or ())
        if max(crowds) > SEATS or len(knowledge.investigation_results) > SEATS * DAYS:
            raise ValueError("privateKnowledge holds more than a match has")
    longest = max(names, key=len)
    if len(longest) > NAME:
        raise ValueError(f"an id or name has {len(longest)} characters; at most {NAME} are taken")


def _sendable(text: str) -> str:
    return text.encode(errors="replace").decode()[:500]


AGENTS = 1_000
"""Most agents that are kept of clients with a name, and of others. Who has the most loses the least recently used."""

Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class ServedAgent:
    """An agent of the service, and the latest that is known of it."""

    policy: AgentPolicy
    called: Any  # the same, or `Apart`
    private: wire.PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)  # phase and round of the thought
    winner: str | None = None
    owner: tuple[bool, str] = (False, "")  # whether its client has a name, and the client's address


class MafiaAgents(Player):
    """The agents of a service, as one player of all their calls."""

    def __init__(self, make: Callable[[str, str], AgentPolicy], log: MatchLog | None = None) -> None:
        super().__init__(None, log=SafeMatchLog(log))  # type: ignore[arg-type]
        self._make = make
        self.agents: dict[Key, ServedAgent] = {}  # the least recently used first

    def begin(self, client: str, owner: tuple[bool, str], turn: MafiaTurn) -> None:
        """Find the agent of a client's call, or make it, and tell it what it is told in private."""
        key = client, turn.context.game_id, turn.agent_id
        agent = self.agents.pop(key, None)
        if agent is None:
            name = next((player.name for player in turn.context.players if player.id == turn.agent_id), None)
            try:
                policy = self._make(turn.agent_id, name or turn.agent_id)
            except Exception as error:  # `make` may be the user's
                turn.problem = turn.nobody = f"there is no agent: {describe_error(error)}"
                return
            agent = ServedAgent(policy, called(policy), owner=owner)
            self.log.write("joined", match_id=key[1], agent_id=key[2], name=name)
        self.agents[key] = turn.agent = agent
        owners = Counter(one.owner for one in self.agents.values() if one.owner[0] == agent.owner[0])
        if owners.total() > AGENTS:
            [(most, _)] = owners.most_common(1)
            self._remove(next(one for one, held in self.agents.items() if held.owner == most))
        agent.winner = turn.context.winner
        if isinstance(turn.info, wire.PrivateInfo):
            agent.private = turn.info.kept()
        if self.log.target:
            # What the agent sees, before it can change it; none for an agent that is none of the players, for example.
            with contextlib.suppress(ValueError, TypeError, LookupError):
                turn.seen = turn_state(turn.agent_id, turn.context, agent.private)

    async def ask(self, turn: Turn, deadline: Deadline | None = None) -> tuple[Any, dict[str, Any]]:
        """See `Player`. Several calls may run at once."""
        assert isinstance(turn, MafiaTurn)
        assert deadline is not None
        agent, info = turn.agent, turn.info
        role = info.self.role if isinstance(info, wire.PrivateInfo) else None
        shown = turn.context, info
        answer = await ask(agent.called, turn.method, shown, role=role, deadline=deadline, take=turn.take)
        turn.replaced = turn.replaced or replacement(agent.policy)
        return answer, safe_thoughts(lambda: thoughts(agent.policy)) if self.log.target else {}

    def record(self, turn: Turn, played: Played) -> None:
        """See `Player`. A thought is kept for the decision after it."""
        assert isinstance(turn, MafiaTurn)
        agent = turn.agent
        if agent is not None:
            where = {"match_id": turn.context.game_id, "agent_id": turn.agent_id, "method": turn.method}
            for call in model_calls(agent.policy):
                self.log.write("model", **where, round=turn.moment[1], **call)
            if turn.method == "think":
                cut = "" if played.problem is None else f" ({played.problem})"
                agent.thought, agent.moment = f"{''.join(turn.said)}{cut}", turn.moment
            else:
                turn.fields = {"think": agent.thought} if agent.thought and agent.moment == turn.moment else {}
                agent.thought = ""
        super().record(turn, played)

    def forget(self, client: str | None = None) -> None:
        """Remove the agents of a client, or (None) all."""
        for key in [key for key in self.agents if client in (None, key[0])]:
            self._remove(key)

    def _remove(self, key: Key) -> None:
        agent = self.agents.pop(key)
        if isinstance(agent.called, Apart):
            agent.called.stop()
        outcome = None if agent.winner is None else {"winner": agent.winner}
        self.log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)


class MafiaAgentServer(Server):
    """Serves agents at ``ws://address:port/``. Use it as an async context manager, or call `start` and `stop`.

    An agent is created at its first call, one for each game, id and client. A client that connects with
    ``?client=SECRET`` gets the same agents after a lost connection; without it, they are removed on disconnect. One
    keeps its place from its first call, and is closed if none comes.
    """

    def __init__(
        self,
        make: Callable[[str, str], AgentPolicy],
        *,
        server: ServerSettings | None = None,
        deadline: float = 25.0,
        seed: int | None = None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("deadline", deadline)
        super().__init__(
            server, check_host=True, connection_limits=limits.SERVICE, most_connections=limits.SERVICE_CLIENTS
        )
        self._agents = MafiaAgents(make, log)
        self.statistics = self._agents.statistics
        self._deadline = deadline
        self._random = random.Random(seed)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/", self._connect), web.get("/health", self._health)]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = local_url(self.url).replace("http", "ws", 1)

    async def stop(self) -> None:
        """See `Server`. Write the end of all running matches to the log."""
        await super().stop()
        self._agents.forget()
        self._agents.close()

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "connections": self.connections, "calls": self.statistics.decisions})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if limits.lacks_token(request, self.settings.access_token):
            needs = "connecting needs Authorization: Bearer <access token>"
            return web.json_response({"error": needs}, status=401)
        return await self.upgrade(
            request, partial(self._serve, request.query.get("client", ""), limits.client_of(request))
        )

    async def _serve(self, given: str, address: str, connection: Connection) -> None:
        """Answer a client until it disconnects, and remove its agents if it has no name."""
        client = given or secrets.token_hex(16)
        session = MafiaAgentSession(self._deadline, self._random)
        port = Served(connection, lambda message: wire.encode(message).decode())

        async def send(turn: MafiaTurn, text: str) -> None:
            if session.waits(turn):
                await port.send(wire.Reply(id=turn.id, chunk=text))
                await connection.room()

        def watch(event: Any) -> None:
            if isinstance(event, MafiaTurn):
                event.send = partial(send, event)
                self.keep(connection)  # it is a host
                self._agents.begin(client, (bool(given), address), event)

        try:
            await run(port, session, self._agents, watch)
            connection.close(WSCloseCode.POLICY_VIOLATION, b"no call has come")
        finally:
            if not given:
                self._agents.forget(client)
