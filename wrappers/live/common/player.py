"""The waist of live play: a `Player` answers every turn, and `run` plays what comes from a port.

A codec is one end of a protocol without I/O. What stays open is played by `run`; services that are called, and agents
that poll, wait for `Turns.answer`.
"""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec

from ....envs.core.turn_state import Action, AgentResponse
from ...agents.base import Agent, thoughts
from ...logs.match_log import SafeMatchLog, describe_error, safe_thoughts
from .agent_turn import AgentStatistics, Played, Turn
from .client import OPENED, LiveError, Port
from .clock import Deadline

logger = logging.getLogger(__name__)

_Call = tuple[Callable[..., Any], tuple[Any, ...], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Worker:
    """One thread. Calls never overlap, and a call that never returns does not keep the process from ending."""

    def __init__(self, name: str = "agent") -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._running: asyncio.Future[Any] | None = None
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
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((function, args, future, loop))
        result, error = await future
        if error is not None:
            raise RuntimeError(f"the agent raised {describe_error(error)}") from error
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            function, args, future, loop = call
            if future.cancelled():
                continue
            self._running = future
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = function(*args), None
            except BaseException as error:  # the thread must survive the error
                outcome = None, error
            self._running = None
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(_resolve, future, outcome)


def _resolve(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if not future.done():
        future.set_result(outcome)


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
        self.statistics = statistics or AgentStatistics()
        self.log = log or SafeMatchLog(None)
        self._agent, self._waits, self._notes = agent, waits, notes
        self._worker = worker or Worker()
        self._late = False  # whether the latest call exceeded its deadline

    async def warm_up(self, name: str = "the agent") -> None:
        """Call the agent's `warm_up`, if it has one, before any deadline runs. A failure is a warning."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is None:
            return
        try:
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
        return await self.call(self._ask, turn, deadline, clock, deadline=deadline)  # type: ignore[no-any-return]

    def _ask(self, turn: Turn, deadline: Deadline | None, clock: Callable[[], float]) -> tuple[Any, dict[str, Any]]:
        """Return the answer and the thoughts, in one call, so that another turn cannot change them."""
        set_seconds_left = getattr(self._agent, "set_seconds_left", None)
        if callable(set_seconds_left):
            set_seconds_left(None if deadline is None else deadline.ends_at - clock())
        answer = turn.ask(self._agent)
        return answer, safe_thoughts(lambda: thoughts(self._agent)) if self._notes or self.log else {}

    async def answer(self, turn: Turn, deadline: Deadline | None = None, codec: "Codec | None" = None) -> Played:
        """Ask, and play the answer or else the safe action; put it into the codec's form, count and log it.

        It never raises. A turn that the codec no longer waits for is neither counted nor logged.
        """
        clock = asyncio.get_running_loop().time
        began, answer, notes, problem = clock(), None, dict[str, Any](), turn.problem
        if problem is None:
            try:
                answer, notes = await self.ask(turn, deadline)
            except (TimeoutError, RuntimeError) as error:
                problem = str(error)
        played = Played(AgentResponse(Action("pass")), problem, notes, clock() - began)
        try:
            response, problem = turn.settle(lambda: answer) if problem is None else (turn.safe(), problem)
            played = replace(played, response=response, problem=problem)
            sent = [] if codec is None else codec.reply(turn, played)
        except Exception as error:
            self.fault(f"{turn.name}: an error of ours, so that the turn is given up")
            sent, played = [], replace(played, problem=f"an error of ours, {describe_error(error)}")
            with contextlib.suppress(Exception):  # else the host's clock ends the turn
                sent = [] if codec is None else codec.give_up(turn)
            self.record(turn, played)
        else:
            if sent or codec is None:
                self.record(turn, played)
        return replace(played, sent=sent)

    def record(self, turn: Turn, played: Played) -> None:
        """Count a turn, with a warning where the safe action replaced the answer, and log it."""
        played.count(self.statistics, turn)
        played.write(self.log, turn, **turn.fields)

    def fault(self, text: str) -> None:
        """Log the exception that is handled as an error of ours; the agent is not healthy until it answers again."""
        self.statistics.broken = True
        logger.exception(text)


class Turns:
    """The open turns of players, one at a table. A new one there takes the place of the one before it."""

    def __init__(self, player_of: Callable[[Turn], Player]) -> None:
        self._player_of = player_of
        self.open: dict[Hashable, tuple[Turn, Deadline | None, asyncio.Task[Played]]] = {}

    def begin(self, turn: Turn, codec: "Codec | None" = None, port: Port | None = None) -> "asyncio.Task[Played]":
        """Ask for an answer, and send it. A second answer in the same turn keeps the deadline of the first."""
        deadline = None if turn.seconds is None else Deadline.after(turn.seconds)
        if turn.again and turn.table in self.open:
            deadline = self.open[turn.table][1]
        self.drop(turn.table)

        async def answer() -> Played:
            played = await self._player_of(turn).answer(turn, deadline, codec)
            for message in played.sent if port is not None else ():
                if isinstance(message, Turn):  # it goes on with a question of another kind, at a table of its own
                    self.begin(message, codec, port)
                else:
                    await port.send(message)  # type: ignore[union-attr]
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
            lost = Played(turn.safe(), "the turn was given up", seconds=clock() - began)
            self._player_of(turn).record(turn, lost)
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
        """Return whether a turn still waits for its answer."""

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

    def guarded(call: Callable[..., list[Any]], *args: Any) -> list[Any] | None:
        try:
            return call(*args)
        except Exception:
            player.fault(f"{codec.name}: an error of ours in {call.__name__}, with {args!r:.200}")
            return None

    async def carry_out(events: Iterable[Any] | None) -> Over | None:
        for event in events or ():
            try:  # the one place where callbacks of others are called
                if callable(line := getattr(event, "line", None)):
                    kind, fields = line()
                    player.log.write(kind, **fields)
                watch(event)
            except Exception:
                logger.exception("%s: who watches failed at %s", codec.name, type(event).__name__)
            match event:
                case Turn():
                    turns.begin(event, codec, port)
                case msgspec.Struct():
                    await port.send(event)
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
                events = guarded(codec.opened) if data is OPENED else guarded(codec.receive, data)
                if events is None and data is not OPENED:
                    events = guarded(codec.give_up, None, data)
                passed = [table for table, (turn, *_) in turns.open.items() if not codec.waits(turn)]
                turns.drop(*passed, why="the turn has passed before the agent answered")
                if (over := await carry_out(events)) is not None:
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
