"""The waist of live play: a `Turn` of our agent, the `Player` that answers it, and `run`, which plays at a port.

A protocol extends `Turn` if its answers take more than the offer tells; a codec is one end of a protocol without I/O.
What stays open is played by `run`; services that are called, and agents that poll, wait for `Turns.answer`. States and
answers may have others' types: dicts, pydantic models, dataclasses.
"""

import asyncio
import contextlib
import logging
import queue
import threading
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, MessageIntent, TurnState
from ...agents.base import Agent, call_optional, sentence, thoughts
from ...agents.schemas import fitted, quiet_action, violation
from ...logs.match_log import LIMIT, SafeMatchLog, describe_error, escaped, safe_thoughts, short, without_images
from .client import OPENED, LiveError, Port
from .clock import Deadline

logger = logging.getLogger(__name__)


def tell(what: str, watch: Callable[..., Any], /, *args: Any, **fields: Any) -> None:
    """Tell whoever watches. An error there costs the match nothing, and is logged with `what` was told."""
    try:
        watch(*args, **fields)
    except Exception as error:  # a full disk, for example, whose reason says enough
        logger.error("who watches failed at %s: %r", what, error, exc_info=not isinstance(error, OSError))


class Unknown(msgspec.Struct):
    """A message that could not be read: its ``type`` ("" if it has none) and the reason in words."""

    type: str
    reason: str


def decoded(data: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a peer's message, text, bytes or parsed JSON, as read by `convert`; else `Unknown`. Never raises."""
    tag = ""
    try:
        fields = msgspec.json.decode(data) if isinstance(data, (str, bytes, bytearray)) else data
        if isinstance(fields, dict) and isinstance(fields.get("type"), str):
            tag = fields["type"]
        return convert(fields)
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError) as error:
        return Unknown(tag, str(error) or type(error).__name__)


def plain(value: Any) -> Any:
    """Return a value of any type as plain data.

    Raises:
        TypeError, RecursionError: if it holds what is no JSON.
    """
    return msgspec.to_builtins(value, enc_hook=_builtin)


def _builtin(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):  # computed from an observation
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if getattr(value, "__dict__", None) and not isinstance(value, type) and not callable(value):
        return vars(value)
    raise TypeError(f"{type(value).__name__} {str(value)[:80]!r} is no JSON")


def fields_of(value: Any, kind: type[msgspec.Struct]) -> Any:
    """Return the fields of `kind` that an object or a dict has; what has none of them stays as it is.

    Whatever else the object has is not looked at.
    """
    if isinstance(value, Mapping):
        return {name: value[name] for name in kind.__struct_fields__ if name in value}
    return {name: getattr(value, name) for name in kind.__struct_fields__ if hasattr(value, name)} or value


def read_response(answer: Any) -> AgentResponse:
    """Return an answer of any type as an `AgentResponse` of plain data; a bare action is one without messages.

    Raises:
        ValueError: if it is none; the error names the wrong part.
    """
    if isinstance(answer, bytes):
        raise ValueError(f"this is not JSON: {answer!r:.80}")
    try:
        data = fields_of(answer, AgentResponse)
        if not (isinstance(data, dict) and "action" in data):
            action = fields_of(answer, Action)
            data = {"action": action} if isinstance(action, dict) and action else answer
        else:
            data["action"] = fields_of(data["action"], Action)
            if isinstance(data.get("messages"), (list, tuple)):
                data["messages"] = [fields_of(intent, MessageIntent) for intent in data["messages"]]
        return msgspec.convert(plain(data), AgentResponse)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not an AgentResponse: {error}") from None


RECENT = 1_000
"""The number of latest decisions whose latencies are stored."""
BOUNDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The upper bounds of the histogram of latencies in seconds; a last bucket has no bound."""


@dataclass
class AgentStatistics:
    """Counters of one agent, over all its tables and games.

    Attributes:
        decisions: number of answered turns, safe actions included.
        replaced: number of turns with the safe action, because the agent was late, raised an error, or gave an answer
            that cannot be played.
        replaced_in_a_row: the same, since the latest turn that the agent answered itself.
        rejected: number of answers that the platform rejected.
        broken: whether there was an error of ours since the latest turn that the agent answered itself.
        latencies: float64[RECENT], seconds per answer of the latest decisions, in no order. Its size never changes.
        buckets: number of decisions by their seconds: up to each of `BOUNDS`, above the bound before; and longer ones.
        seconds: seconds of all decisions together.
    """

    decisions: int = 0
    replaced: int = 0
    replaced_in_a_row: int = 0
    rejected: int = 0
    broken: bool = False
    latencies: NDArray[np.float64] = field(default_factory=lambda: np.zeros(RECENT), compare=False)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def decided(self, seconds: float, replaced: bool) -> None:
        """Count a decision and store its time in seconds."""
        self.latencies[self.decisions % RECENT] = seconds
        self.decisions += 1
        self.replaced += replaced
        self.replaced_in_a_row = self.replaced_in_a_row + 1 if replaced else 0
        self.broken = self.broken and replaced
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def latency(self, share: float = 0.5) -> float | None:
        """Return a quantile (`share`, 0 to 1) of the latest latencies in seconds; None before the first decision.

        >>> statistics = AgentStatistics()
        >>> for seconds in (0.1, 0.4, 0.2):
        ...     statistics.decided(seconds, replaced=False)
        >>> statistics.latency(), statistics.latency(1)
        (0.2, 0.4)
        """
        if not self.decisions:
            return None
        return float(np.quantile(self.latencies[: self.decisions], share, method="higher"))


@dataclass
class Turn:
    """It is the agent's turn.

    Attributes:
        state: what the agent sees. Its ``allowed_actions`` are the offer; empty: the host does not send one.
        id: the identifier of the turn, different for each turn.
        again: whether an earlier answer in this turn was rejected; the turn's deadline stays the same.
        problem: why the agent is not asked, and the safe action is played; None: it is asked.
        seconds: the time for an answer; None: no limit.
        table: the table, match or game, which has one open turn at a time.
        name: what the program's log calls it.
        fields: further fields of the match log's line.
        counts: whether it is a decision.
    """

    state: TurnState
    id: str | int = 0
    again: bool = False
    problem: str | None = None
    seconds: float | None = None
    table: Hashable = None
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    counts: ClassVar[bool] = True

    def ask(self, agent: Agent) -> Any:
        """Return the agent's own answer. Called in the agent's thread."""
        return agent.respond(self.visible_state())

    def warns(self) -> bool:
        """Return True to warn that the safe action replaced the answer; a protocol may warn once for many turns."""
        return True

    def read(self, answer: Any) -> AgentResponse:
        """Return the response of an answer: an `AgentResponse` or an `Action` of any type (see `read_response`).

        A number out of the bounds of its offer goes to the nearest bound, with a warning. A ``pass`` that is not
        offered plays the safe action.

        Raises:
            ValueError: if it cannot be read, or is not offered.
        """
        requested = read_response(answer)
        taken = fitted(requested, self.state.allowed_actions)
        if taken != requested:
            name, numbers = self.state.match_id or self.state.game_id, short(requested.action.payload)
            logger.warning("%s: %s instead of %s, to keep the bounds", name, sentence(taken.action), numbers)
        response = self.sent(taken)
        action = response.action
        schemas = [offer.payload_schema for offer in self.offers if offer.action_type == action.action_type]
        if self.offers and not schemas:
            if action == Action("pass"):
                return AgentResponse(self.safe().action, response.messages)
            offered = ", ".join(offer.action_type for offer in self.offers)
            raise ValueError(f"{action.action_type[:40]!r} is not offered, but {offered}")
        problems = [violation(action.payload, schema) for schema in schemas]
        if problems and None not in problems:
            raise ValueError(f"{action.action_type}: {problems[0]}")
        return response

    def visible_state(self) -> TurnState:
        """Return a copy of the state for the agent, which may change it."""
        return TurnState.from_dict(self.state.to_dict())

    @property
    def offers(self) -> Sequence[AllowedAction]:
        """The actions that the host takes, in its own form."""
        return self.state.allowed_actions

    def sent(self, response: AgentResponse) -> AgentResponse:
        """Return an answer in the host's form."""
        return response

    def safe(self) -> AgentResponse:
        """Return the safe action: what commits to least among the offers (see `quiet_action`)."""
        return AgentResponse(quiet_action(self.state.allowed_actions))

    def logged(self) -> TurnState | None:
        """Return the state for the log; None: the turn is not written."""
        return without_images(self.state)

    def notes(self, thoughts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the agent's notes on its answer for the log."""
        return thoughts

    def settle(self, answer: Callable[[], Any]) -> tuple[AgentResponse, str | None]:
        """Return the response that is played, and the reason for the safe action in its place (None: it is the answer).

        Args:
            answer: returns the agent's answer; it may raise any exception.
        """
        if (problem := self.problem) is None:
            try:
                return self.read(answer()), None
            except Exception as error:  # whatever a foreign agent or object does
                problem = escaped(str(error), LIMIT) if type(error) is ValueError else describe_error(error)
        return self.safe(), problem


@dataclass(frozen=True)
class Played:
    """A turn that has been settled."""

    response: AgentResponse
    problem: str | None = None
    thoughts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    sent: Sequence[Any] = ()

    def count(self, statistics: AgentStatistics, turn: Turn) -> None:
        """Count the turn, with a warning if the safe action replaced the answer."""
        if turn.counts:
            statistics.decided(self.seconds, self.problem is not None)
        if self.problem is not None and turn.warns():
            kind = self.response.action.action_type
            logger.warning("%s: %s instead of the agent's answer: %s", turn.name, kind, self.problem)


class Worker:
    """One thread. Calls never overlap, and a call that never returns does not keep the process from ending."""

    def __init__(self, name: str = "agent") -> None:
        self._calls: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._running: asyncio.Future[Any] | None = None  # what waits for the call under way
        threading.Thread(target=self._run, daemon=True, name=name).start()

    @property
    def stuck(self) -> bool:
        """Whether the thread is still in a call that was cancelled."""
        running = self._running
        return running is not None and running.cancelled()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the function's result. A call that is cancelled before its turn is never begun.

        Raises:
            RuntimeError: if the function raised an error, with that error as its cause.
        """
        called: Future[Any] = Future()
        waiting = asyncio.wrap_future(called)
        self._calls.put((called, waiting, function, args))
        result, error = await waiting
        if error is not None:
            raise RuntimeError(f"the agent raised {describe_error(error)}") from error
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            called, waiting, function, args = call
            if not called.set_running_or_notify_cancel():
                continue
            self._running = waiting
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = function(*args), None
            except BaseException as error:  # the thread must survive the error
                outcome = None, error
            self._running = None
            called.set_result(outcome)


class Player:
    """One agent with its thread, counters and log, at any number of tables; one call at a time.

    Args:
        agent: the agent. Its `warm_up`, if it has one, is called by `warm_up`.
        log: the match log; thoughts are asked for only with a log, or with `notes`.
        statistics: the counters; None: new ones.
        waits: whether to wait for an agent that is still in an earlier call, which was late; else a call fails at once.
        notes: whether thoughts are asked for without a log too.
        worker: the thread; None: a new one.

    Attributes:
        statistics: counters and latencies.
        log: the match log.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        log: SafeMatchLog | None = None,
        statistics: AgentStatistics | None = None,
        waits: bool = False,
        notes: bool = False,
        worker: Worker | None = None,
    ) -> None:
        self.statistics, self.log = statistics or AgentStatistics(), log or SafeMatchLog(None)
        self._agent, self._waits, self._notes, self._worker = agent, waits, notes, worker or Worker()
        self._late = False  # whether the latest call exceeded its deadline

    async def warm_up(self, name: str = "the agent") -> None:
        """Call the agent's `warm_up`, if it has one, before any deadline runs. A failure is a warning."""
        try:
            if (warm_up := getattr(self._agent, "warm_up", None)) is not None:
                await self._worker.call(warm_up)
        except RuntimeError as error:  # it may still work in the match
            logger.warning("warming up %s failed: %s", name, error)

    def close(self) -> None:
        """End the thread after its current call."""
        self._worker.stop()

    async def call(self, function: Callable[..., Any], *args: Any, deadline: Deadline | None = None) -> Any:
        """Call a function in the agent's thread, and return its result.

        Raises:
            TimeoutError: if it does not return before the deadline.
            RuntimeError: if it raises an error, or the agent is still busy with an earlier turn.
        """
        if not self._waits and self._late and self._worker.stuck:
            raise RuntimeError("still busy with an earlier turn")
        self._late = False
        try:
            async with contextlib.nullcontext() if deadline is None else deadline.limit():
                return await self._worker.call(function, *args)
        except TimeoutError:
            self._late = True
            raise

    async def ask(self, turn: Turn, deadline: Deadline | None = None) -> tuple[Any, dict[str, Any]]:
        """Return the agent's own answer and its thoughts; raises the errors of `call`."""
        clock = asyncio.get_running_loop().time

        def ask_agent() -> tuple[Any, dict[str, Any]]:  # in one call, so that another turn cannot change the thoughts
            call_optional(self._agent, "set_seconds_left", None if deadline is None else deadline.ends_at - clock())
            answer = turn.ask(self._agent)
            return answer, safe_thoughts(lambda: thoughts(self._agent)) if self._notes or self.log.target else {}

        return await self.call(ask_agent, deadline=deadline)  # type: ignore[no-any-return]

    async def answer(self, turn: Turn, deadline: Deadline | None = None, codec: "Codec | None" = None) -> Played:
        """Ask, and play the answer or else the safe action; put it into the codec's form, count and log it.

        It never raises. A turn that the codec no longer waits for is neither counted nor logged.
        """
        clock = asyncio.get_running_loop().time
        began, answer, notes, problem = clock(), None, dict[str, Any](), turn.problem
        played, counts = Played(AgentResponse(Action("pass"))), codec is None
        try:
            if problem is None:
                try:
                    answer, notes = await self.ask(turn, deadline)
                except (TimeoutError, RuntimeError) as error:
                    problem = str(error)
            seconds = clock() - began
            response, problem = turn.settle(lambda: answer) if problem is None else (turn.safe(), problem)
            played = Played(response, problem, notes, seconds)
            sent = [] if codec is None else codec.reply(turn, played)
        except Exception as error:
            self.fault(f"{turn.name}: an error of ours, so that the turn is given up")
            problem, counts = f"an error of ours, {describe_error(error)}", True
            played = replace(played, problem=problem, seconds=clock() - began)
            # Where nothing is sent, the host's clock ends the turn.
            sent = [] if codec is None else self.guarded(turn.name, codec.give_up, turn) or []
        if sent or counts:
            self.guarded(turn.name, self.record, turn, played)
        return replace(played, sent=sent)

    def record(self, turn: Turn, played: Played) -> None:
        """Count a turn, with a warning where the safe action replaced the answer, and log it."""
        played.count(self.statistics, turn)
        if self.log.target and (state := turn.logged()) is not None:
            notes = turn.notes(played.thoughts) if played.problem is None else {"replaced": played.problem}
            line = {**turn.fields, "turn_state": state, "response": played.response}
            kept = {name: note for name, note in notes.items() if name not in (*line, "kind")}
            self.log.write("turn", **line, **kept)

    def guarded(self, name: str, call: Callable[..., Any], *args: Any) -> Any:
        """Return what a call returns; None after an error of ours, which is a `fault` of what has this `name`."""
        try:
            return call(*args)
        except Exception:
            self.fault(f"{name}: an error of ours in {call.__name__}, with {args!r:.200}")
            return None

    def fault(self, text: str) -> None:
        """Log the exception that is handled as an error of ours; the agent is not healthy until it answers again."""
        self.statistics.broken = True
        logger.exception(text)


Send = Callable[[Sequence[Any], Turn], Awaitable[None]]
"""Sends the messages that play a turn."""


class Turns:
    """The open turns of players, one at a table. A new one there takes the place of the one before it."""

    def __init__(self, player_of: Callable[[Turn], Player]) -> None:
        self._player_of = player_of
        self.open: dict[Hashable, tuple[Turn, Deadline | None, asyncio.Task[Played]]] = {}

    def begin(self, turn: Turn, codec: "Codec | None" = None, send: Send | None = None) -> "asyncio.Task[Played]":
        """Ask for an answer, and send it. A second answer in the same turn keeps the deadline of the first."""
        deadline = None if turn.seconds is None else Deadline.after(turn.seconds)
        if turn.again and turn.table in self.open:
            deadline = self.open[turn.table][1]
        self.drop(turn.table)

        async def answer() -> Played:
            played = await self._player_of(turn).answer(turn, deadline, codec)
            if send is not None:
                await send(played.sent, turn)
            return played

        self.open[turn.table] = turn, deadline, (task := asyncio.create_task(answer()))
        return task

    def drop(self, *tables: Hashable, why: str = "") -> None:
        """Drop the turns of tables that have one; their answers are not sent."""
        for turn, _, task in [self.open.pop(table) for table in tables if table in self.open]:
            if task.cancel() and why:
                logger.warning("%s: %s", turn.name, why)

    async def answer(self, turn: Turn) -> Played:
        """Wait for an answer, as services and pollers do. One that is given up counts as replaced."""
        clock = asyncio.get_running_loop().time
        began, task = clock(), self.begin(turn)
        try:
            await asyncio.wait([task])
            return task.result()
        except asyncio.CancelledError:  # the turn is dropped, or nobody waits for its answer any longer
            lost, player = Played(turn.safe(), "the turn was given up", seconds=clock() - began), self._player_of(turn)
            player.guarded(turn.name, player.record, turn, lost)
            if not task.cancelled():
                task.cancel()
                raise
            return lost
        finally:
            if turn.table in self.open and self.open[turn.table][2] is task:
                del self.open[turn.table]


@dataclass(frozen=True)
class Note:
    """A line for the program's log; `problem`: a warning; `rejected`: the platform rejected an answer."""

    text: str
    problem: bool = False
    rejected: bool = False


@dataclass(frozen=True)
class Over:
    """It is over, with the `reason`; `error`: the platform refuses us.

    `again`: only this connection is over; `problem`: that is a warning.
    """

    reason: str = ""
    error: LiveError | None = None
    again: bool = False
    problem: bool = True


class Codec(Protocol):
    """One end of a protocol without I/O. Its events are messages to send, `Turn`, `Note`, `Over`, and others.

    Others are for who watches; one with a `line()` is written to the match log.
    """

    @property
    def name(self) -> str:
        """What the program's log calls this table or game."""

    def receive(self, data: Any) -> list[Any]:
        """Take data in, and return the events."""

    def reply(self, turn: Turn, played: Played) -> list[Any]:
        """Return the messages, or the further turn, that play a turn; none if it is over. It is not validated again."""

    def give_up(self, turn: Turn | None = None, data: Any = None) -> list[Any]:
        """After an error in `reply`, return what ends the turn; in `receive`, the turn that the data may ask for."""

    def waits(self, turn: Turn) -> bool:
        """Return True if a turn still waits for its answer."""

    def opened(self) -> list[Any]:
        """Note that the connection is new, and return the events."""
        return []

    def tick(self, now: float) -> list[Any]:
        """Do what it is time for (pings, patience, leaving), and return the events. It is called every second."""
        return []


TICK_SECONDS = 1.0
"""Seconds between two ticks of a codec."""


async def run(port: Port, codec: Codec, player: Player, watch: Callable[[Any], None] = lambda event: None) -> Over:
    """Play until it is over, or the port ends, whatever the agent, the codec and the watcher raise.

    Raises:
        LiveError: if the platform refuses us.
    """
    turns, clock = Turns(lambda turn: player), asyncio.get_running_loop().time

    def guarded(call: Callable[..., Any], *args: Any) -> Any:
        return player.guarded(codec.name, call, *args)

    def notify(event: Any) -> None:
        if callable(line := getattr(event, "line", None)):
            kind, fields = line()
            player.log.write(kind, **fields)
        watch(event)

    async def send(messages: Sequence[Any], *lost: Any) -> None:
        """Send messages. An error of ours gives up what is `lost` by it: a turn, or None and data."""
        try:
            for message in messages:
                if isinstance(message, Turn):  # it goes on with a question of another kind, at a table of its own
                    turns.begin(message, codec, send)
                else:
                    await port.send(message)
        except Exception:  # a lost connection raises none
            player.fault(f"{codec.name}: an error of ours in send, with {messages!r:.200}")
            await carry_out(guarded(codec.give_up, *lost) if lost else ())

    async def carry_out(events: Sequence[Any] | None, *lost: Any) -> Over | None:
        for event in events or ():
            tell(f"{type(event).__name__} of {codec.name}", notify, event)
            match event:
                case Turn() | msgspec.Struct():
                    await send([event], *lost)
                case Note():
                    player.statistics.rejected += event.rejected
                    logger.log(logging.WARNING if event.problem else logging.INFO, "%s: %s", codec.name, event.text)
                case Over(again=True):
                    await port.redial(event.reason, logging.WARNING if event.problem else logging.INFO)
                case Over():
                    return event
        return None

    async def read() -> Over:
        async with contextlib.aclosing(port.incoming()) as incoming:
            async for data in incoming:
                lost = () if data is OPENED else (None, data)
                events = guarded(codec.receive, data) if lost else guarded(codec.opened)
                if events is None and lost:
                    events, lost = guarded(codec.give_up, *lost), ()
                # Where `waits` fails, the turn is answered.
                passed = [table for table, (turn, *_) in turns.open.items() if guarded(codec.waits, turn) is False]
                turns.drop(*passed, why="the turn has passed before the agent answered")
                has_turn = any(isinstance(event, Turn) for event in events or ())
                if (over := await carry_out(events, *(() if has_turn else lost))) is not None:
                    return over
        return Over("closed")

    async def tick() -> Over:
        while True:
            if (over := await carry_out(guarded(codec.tick, clock()))) is not None:
                return over
            await asyncio.sleep(TICK_SECONDS)

    tasks = reading, ticking = asyncio.create_task(read()), asyncio.create_task(tick())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        over = (reading if reading.done() else ticking).result()
    finally:
        for task in tasks:
            task.cancel()
        turns.drop(*turns.open)
        await asyncio.wait(tasks)
    if over.error is not None:
        raise over.error
    return over
