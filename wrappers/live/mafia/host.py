"""Our host: matches of mafia between agents in this process and elsewhere, with deadlines, a log and events.

`MafiaHostSession` is a match without I/O: the calls that are due, and the effects of their answers. The referee
(`parlour.envs.core.match.Match`) has the rules, and the game's view decides what each agent sees. The session has the
calls and their limits. At night and in the vote all agents are called at once, in the discussion one after another. An
agent that fails loses only that answer: a night action is requested again, then drawn at random; a vote is an
abstention; a statement is left out.
"""

import asyncio
import contextlib
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import aiohttp
import msgspec
import numpy as np
from msgspec import UNSET
from yarl import URL

from ....envs import Action, AgentResponse, Game, Match, Message, MessageScope, TurnState
from ....envs.core.counted import counted
from ....envs.core.record import plain
from ....envs.mafia.actions import sayable
from ....envs.mafia.rules import Choice
from ....envs.mafia.statements import read as read_act
from ....envs.mafia.statements import to_wire
from ....envs.mafia.table import DISCUSSION, GENERAL, NIGHT, ROLES, TARGET, VOTE, WINNERS
from ....envs.mafia.view import log as record_log
from ...logs.match_log import MatchLog, SafeMatchLog, escaped
from ...logs.match_log import describe_error as described
from ..common import limits
from ..common.client import Backoff, LiveError, http_client, next_message, open_websocket, retry
from ..common.clock import Deadline, Room
from ..common.player import tell
from . import messages as wire
from .agent import (
    AgentPolicy,
    Apart,
    ChunkLimit,
    MafiaLimits,
    SentenceLimit,
    ask,
    beside,
    called,
    model_calls,
    read_choice,
    replacement,
)
from .messages import ContextWriter

_ACTIONS: dict[str, wire.Method] = {"NIGHT_ACTIONS": "nightAction", "DAY_DISCUSSION": "say", "DAY_VOTING": "vote"}
"""The method that is called after a thought, by phase."""
_STREAMS = {"NIGHT_ACTIONS": "night", "DAY_DISCUSSION": "day", "DAY_VOTING": "vote"}
"""The name of a phase in the ids of streams."""
_BY_SCRIPT = {"by": "a scripted agent"}
"""The field of a statement's events if the statement is not the agent's own."""
NAME_LENGTH = 64
"""Most characters of an id or name."""


class ActionTaken(NamedTuple):
    """A played action, for match logs.

    `agent` is the game's name of the player; `replaced` is why the action is not the player's own, None: it is.
    """

    agent: str
    action: Action
    replaced: str | None = None


@dataclass(frozen=True)
class Fault:
    """A missing or illegal answer of an agent."""

    agent_id: str
    phase: str
    round_number: int
    method: str
    problem: str
    instead: str = ""


@dataclass(eq=False)
class DueCall:
    """A call to make now: of a method of a seat's agent."""

    number: int
    seat: int
    method: wire.Method
    seconds: float
    characters: int
    stream: dict[str, str]
    tries: int = 1
    context: wire.GameState | None = None
    info: wire.Info | None = None
    choices: int = 0
    called: bool = False
    text: list[str] = field(default_factory=list)
    problem: str | None = None
    replaced: str | None = None

    def __post_init__(self) -> None:
        """Prepare the limits of the stream."""
        self._chunks, self._sentences = ChunkLimit(self.characters), SentenceLimit()

    def take(self, chunk: Any) -> list[str]:
        """Return the parts of the next chunk of the stream that are within the limits."""
        parts = self._chunks.take(chunk)
        if self._chunks.error is not None:
            self.problem = described(self._chunks.error)
        if self.method == "say":
            parts = [passed for part in parts if (passed := self._sentences.take(part))]
            if self._sentences.full:
                self.problem = "more than five sentences: the rest is left out"
        self.text += parts
        return parts


Happened: TypeAlias = list[wire.Event | ActionTaken | Fault]
"""What has happened since the last report, in order."""


@dataclass(frozen=True)
class MafiaResult:
    """Result of a match."""

    game_id: str
    winner: Literal["town", "mafia"] | None
    rounds: int
    names: dict[str, str]
    roles: dict[str, str]
    payoffs: dict[str, float]
    faults: list[Fault]
    record: bytes


class MafiaHostSession:
    """A match of mafia between agents that are called as the AgentPolicy document says.

    Call `begin`, make the `calls`, and report each: `chunk` for every chunk of a stream, then `answered`. Every report
    returns what has happened, and may change the calls. Reports of a call that is over are ignored. The match is over
    when there are no calls; then `result` is set.

    Raises:
        ValueError: if there are not as many players as seats, or ids or names are not all different and printable.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[tuple[str, str]],
        *,
        game_id: str,
        seed: int | None = None,
        limits: MafiaLimits | None = None,
    ) -> None:
        self._ids = [player_id for player_id, _ in players]
        self._names = [name for _, name in players]
        _check_players(game, self._ids, self._names)
        self.game = game
        self.game_id = game_id
        self.limits = limits or MafiaLimits()
        self.faults: list[Fault] = []
        self.result: MafiaResult | None = None
        self.seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1) if seed is None else seed
        self.match = Match(game)
        self.match.reset(self.seed)
        self.roles = [ROLES[role] for role in self.match.table.role[: game.seats].tolist()]
        self._seats = {name: seat for names in (self._names, self._ids) for seat, name in enumerate(names)}
        self._writer = ContextWriter(game.agents, self._ids, self._names)
        self._phase: wire.Phase = "SETUP"
        self._round = 1
        self._events = 0
        self._messages: list[Message] = []  # the statements
        self._shown: Any = None  # a copy of the record, from which the view writes the states of agents
        self._public: TurnState | None = None  # the public state of the phase
        self._order: list[int] = []  # the seats that choose tonight, or vote
        self._choices: dict[int, int] = {}  # the targets so far; −1: abstention
        self._beside: dict[int, dict[str, Any]] = {}  # metadata or reason of each choice
        self._replaced: dict[int, str] = {}  # why a choice is not the agent's own
        self._running: dict[int, DueCall] = {}
        self._count = 0
        self._happened: Happened = []

    # Reports.

    def begin(self) -> Happened:
        """Begin the match."""
        players = [{"id": i, "name": n} for i, n in zip(self._ids, self._names, strict=True)]
        self._tell("GAME_CREATED", players=players)
        self._tell("ROLES_ASSIGNED", private=True, roles=dict(zip(self._ids, self.roles, strict=True)))
        self._go_on()
        return self._news()

    @property
    def calls(self) -> list[DueCall]:
        """The calls that are to be made, or under way, in the order in which they became due."""
        return list(self._running.values())

    def arguments(self, number: int) -> tuple[wire.GameState, wire.Info]:
        """Return the arguments of a call, written now: at night, teammates may have chosen since the thought.

        Raises:
            KeyError: if the call is not running.
        """
        call = self._running[number]
        if not call.called:
            call.called = True
            asks_in_public = call.method in ("say", "vote")
            if call.context is None or (not asks_in_public and call.choices != len(self._choices)):
                call.choices = len(self._choices)
                call.context, call.info = self._writer.private(self._turn_state(call.seat))
            if asks_in_public:  # the same for all until the next phase
                self._public = self._public or self.game.public_turn_state(self._shown, self._messages, self.game_id)
                call.info = self._writer.public(self._public)
        assert call.context is not None
        assert call.info is not None
        return call.context, call.info

    def chunk(self, number: int, chunk: Any) -> Happened:
        """Report the next chunk of a stream. If it exceeds a limit, the call has a `problem`, and no further chunks."""
        running = self._running.get(number)
        if running is not None and running.problem is None:
            for part in running.take(chunk):
                self._tell_chunk(running, part)
        return self._news()

    def replaced(self, number: int, problem: str) -> Happened:
        """Report that a scripted agent answers instead of a language model's agent."""
        running = self._running.get(number)
        if running is not None and running.replaced is None:
            running.replaced = problem
            method = running.method
            self._fault(running.seat, method, problem, "no thought" if method == "think" else _BY_SCRIPT["by"])
            if method == "say":
                running.stream = running.stream | _BY_SCRIPT
        return self._news()

    def answered(self, number: int, answer: Any = None, problem: str | None = None) -> Happened:
        """Report the end of a call.

        Args:
            number: the number of the call.
            answer: the choice: a struct, a dict, or an object with the same attributes; None of a stream.
            problem: why there is no answer, or a stream ends in its middle; None: there is one.
        """
        running = self._running.get(number)
        if running is not None and running.characters:
            if (problem := running.problem or problem) is not None:
                self._fault(running.seat, running.method, problem)
            self._end_stream(running)
        elif running is not None:
            (context, info), target, said = self.arguments(number), None, dict[str, Any]()
            try:
                if problem is None:
                    choice = read_choice(answer, self._ids[running.seat], context, info)
                    target, said = None if choice is None else choice.target_id, beside(choice)
            except Exception as error:  # the attributes of a foreign object may raise anything
                problem = str(error) if type(error) is ValueError else described(error)
            self._end_choice(running, target, problem, said)
        return self._news()

    def _news(self) -> Happened:
        happened, self._happened = self._happened, []
        return happened

    def _tell(self, event_type: str, private: bool = False, **payload: Any) -> None:
        """Report an event; private events are for those who may see all roles."""
        self._events += 1
        now = time.time_ns() // 1_000_000
        about: dict[str, Any] = {"game_id": self.game_id, "sequence": self._events, "timestamp": now}
        self._happened.append(wire.Event(event_type=event_type, private=private, payload=payload, **about))

    def _tell_chunk(self, running: DueCall, chunk: str) -> None:
        """Report a chunk of a stream; an empty one ends the stream."""
        thinks = running.method == "think"
        name = "AGENT_THINK_STREAM" if thinks else "AGENT_SAY_STREAM"
        self._tell(name, private=thinks, **running.stream, chunk=chunk)

    def _tell_elimination(self, seat: int, by: str) -> None:
        agent, role = self._ids[seat], self.roles[seat]
        self._tell("PLAYER_ELIMINATED", playerId=agent, role=role, eliminatedBy=by, roundNumber=self._round)

    def _fault(self, seat: int, method: str, problem: str, instead: str = "") -> None:
        """Report a missing or illegal answer of an agent."""
        fault = Fault(self._ids[seat], self._phase, self._round, method, problem, instead)
        self.faults.append(fault)
        self._happened.append(fault)

    def _id(self, seat: int) -> str | None:
        return self._ids[seat] if seat >= 0 else None

    # The phases.

    def _enter(self, phase: wire.Phase) -> None:
        """Enter a phase, and report it if it is a new one."""
        if phase == self._phase:
            return
        before, self._phase = self._phase, phase
        self._round = number = int(self._shown.round_number)
        day = number - (phase == "NIGHT_ACTIONS")
        names: dict[str, Any] = {"from": before, "to": phase}
        self._tell("PHASE_CHANGED", **names, dayNumber=day, roundNumber=number)

    def _go_on(self) -> None:
        """Add the calls of the next decisions, or end the match."""
        self._shown = table = plain(self.match.table)
        if table.done:
            self._enter("END")
            self._end(table)
        elif table.phase == DISCUSSION:
            self._enter("DAY_DISCUSSION")
            self._call(self.match.turn, "think")
        else:
            night = table.phase == NIGHT
            self._enter("NIGHT_ACTIONS" if night else "DAY_VOTING")
            living = np.flatnonzero(table.alive).tolist()
            by_role = [seat for role in wire.NIGHT_ACTIONS for seat in living if self.roles[seat] == role]
            self._order, self._choices, self._public = by_role if night else living, {}, None
            self._beside, self._replaced = {}, {}
            for seat in self._order:
                self._call(seat, "think")

    def _choose(self, seat: int, target: int, said: Mapping[str, Any]) -> None:
        """Store a choice; resolve the night, or the vote, after the last one."""
        self._choices[seat], self._beside[seat] = target, dict(said)
        night = self._phase == "NIGHT_ACTIONS"
        if night:
            record_log(self._shown, "night")[self._round - 1, seat] = target
            agent, target_id, kind = self._ids[seat], self._ids[target], wire.NIGHT_ACTIONS[self.roles[seat]]
            self._tell("NIGHT_ACTION_SUBMITTED", True, agentId=agent, actionType=kind, targetId=target_id, **said)
            if kind == "INVESTIGATE":
                found = self.roles[target] == "mafia"
                self._tell("INVESTIGATION_RESULT", True, agentId=agent, targetId=target_id, isMafia=found)
        if len(self._choices) == len(self._order):
            self._choices = {actor: self._choices[actor] for actor in self._order}
            if night:
                self._resolve_night()
            else:
                self._resolve_vote()
            self._go_on()

    def _resolve_night(self) -> None:
        table, agents = self.match.table, self.game.agents
        for seat, target in self._choices.items():
            kind = wire.NIGHT_ACTIONS[self.roles[seat]]
            payload = {"actionType": kind, "targetId": agents[target], **self._beside[seat]}
            self._play(seat, Choice(TARGET, target), Action("nightAction", payload), self._replaced.get(seat))
        killed = int(table.killed)
        self._enter("MORNING_REVEAL")
        self._tell("NIGHT_RESOLVED", killed=self._id(killed), prevented=bool(table.prevented))
        if killed >= 0:
            self._tell_elimination(killed, "night_kill")

    def _resolve_vote(self) -> None:
        """Publish and play the votes, which were hidden until the last one."""
        agents, votes = self.game.agents, {}
        for seat, target in self._choices.items():
            votes[self._ids[seat]] = self._id(target)
            self._tell("VOTE_CAST", voterId=self._ids[seat], targetId=self._id(target), **self._beside[seat])
        for seat, target in self._choices.items():
            payload = {"targetId": agents[target] if target >= 0 else None, **self._beside[seat]}
            self._play(seat, Choice(VOTE, target), Action("vote", payload), self._replaced.get(seat))
        voted_out = self.match.table.voted_out.tolist()
        eliminated = next((seat for seat in self._order if voted_out[seat]), -1)
        self._enter("RESOLUTION")
        most = Counter(target for target in self._choices.values() if target >= 0).most_common(2)
        tie = len(most) == 2 and most[0][1] == most[1][1] > 1
        self._tell("VOTE_RESULT", eliminatedPlayerId=self._id(eliminated), votes=votes, tie=tie)
        if eliminated >= 0:
            self._tell_elimination(eliminated, "vote")

    def _speak(self, seat: int, text: str, replaced: str | None) -> None:
        """Play a statement: the act that it is read as, or a general one if that act is not legal."""
        self._shown.turn = seat
        kind, target = read_act(text, seat, self._seats)
        if not sayable(self._shown, kind, target):
            kind, target = GENERAL, -1
        agents, words = self.game.agents, {"text": text} if text.strip() else {}
        self._messages.append(Message(f"{len(self._messages)}", agents[seat], MessageScope.PUBLIC, text))
        self._play(seat, Choice(kind, target), Action("say", {**to_wire((kind, target), agents), **words}), replaced)
        self._go_on()

    def _play(self, seat: int, move: Choice, action: Action, replaced: str | None) -> None:
        """Play a move at the referee. `replaced`: why it is not the agent's own; None: it is."""
        if self.match.turn != seat:
            raise RuntimeError(f"the rules expect seat {self.match.turn}, not {seat}")
        self._happened.append(ActionTaken(self.game.agents[seat], action, replaced))
        self._shown.turn = seat
        self.match.play(self.game.view.nearest(self._shown, move), silent=True)

    def _end(self, table: Any) -> None:
        winner: Any = WINNERS[table.winner]
        self._tell("GAME_ENDED", winner=winner)
        names = dict(zip(self._ids, self._names, strict=True))
        roles = dict(zip(self._ids, self.roles, strict=True))
        payoffs = dict(zip(self._ids, self.match.rewards, strict=True))
        ended = self.game_id, winner, table.round_number, names, roles, payoffs
        self.result = MafiaResult(*ended, self.faults, self.match.table.tobytes())

    # The calls.

    def _call(self, seat: int, method: wire.Method, thought: DueCall | None = None, tries: int = 1) -> None:
        """Add a call; `thought`: the call of `think` before it, with the same context."""
        own = self.limits
        seconds = {"think": own.think, "say": own.say}.get(method, own.act)
        characters = {"think": own.thought, "say": own.statement}.get(method, 0)
        part, speech = _STREAMS[self._phase], self._shown.speech  # the discussion round of the day, from 0
        again = f"-{speech + 1}" if speech and part == "day" else ""
        turn_id = f"{method}-{part}-{self._round}-{self._ids[seat]}{again}"
        stream = {"agentId": self._ids[seat], "agentName": self._names[seat], "turnId": turn_id}
        self._count += 1
        call = self._running[self._count] = DueCall(self._count, seat, method, seconds, characters, stream, tries)
        if thought is not None:
            call.context, call.choices = thought.context, thought.choices
            call.info = thought.info if method == "nightAction" else None

    def _turn_state(self, seat: int) -> TurnState:
        """Return the state that a seat sees. All choose at once: no seat has the turn."""
        self._shown.turn = -1
        return self.game.turn_state(self._shown, seat, self._messages, self.game_id)

    def _end_stream(self, running: DueCall) -> None:
        """Continue after a stream: an action follows a thought, the next speaker follows a statement."""
        seat, method = running.seat, running.method
        del self._running[running.number]
        self._tell_chunk(running, "")
        if method == "say":
            text = "".join(running.text)
            if not text.strip():
                self._fault(seat, "say", "it said nothing")
            self._speak(seat, text, running.replaced)
        else:
            self._call(seat, _ACTIONS[self._phase], running)

    def _end_choice(
        self, running: DueCall, target_id: str | None, problem: str | None, said: Mapping[str, Any]
    ) -> None:
        """Store a choice with its metadata or reason (`said`), or its replacement."""
        seat, method = running.seat, running.method
        del self._running[running.number]
        if running.replaced is not None or problem is not None:
            self._replaced[seat] = running.replaced or str(problem)
        if problem is None:
            self._choose(seat, -1 if target_id is None else self._ids.index(target_id), said)
        elif method == "vote":
            self._fault(seat, method, problem, "abstains")
            self._choose(seat, -1, {})
        elif running.tries < self.limits.tries:
            self._fault(seat, method, problem)
            self._call(seat, method, tries=running.tries + 1)
        else:
            drawn = self._drawn(seat)
            self._fault(seat, method, problem, f"{self._names[drawn]}, drawn")
            self._choose(seat, drawn, {})

    def _drawn(self, seat: int) -> int:
        """Return a legal target of the night, drawn from the match's stream."""
        tables = self.game.tables(1)
        table = tables[0]
        tables[0] = self.match.table
        table.turn = seat
        return int(self.game.rules.decode(table, self.game.view.safe(table)).target)


def _check_players(game: Game, ids: Sequence[str], names: Sequence[str]) -> None:
    """Check the players' ids and names, seat by seat.

    Raises:
        ValueError: if their number is not that of the seats, or they are not all different and printable.
    """
    if len(ids) != game.seats:
        raise ValueError(f"{counted(len(ids), 'agents')} for a game of {game.seats}")
    for kind, values in (("id", ids), ("name", names)):
        for value in values:
            if not isinstance(value, str) or not 1 <= len(value) <= NAME_LENGTH or not value.isprintable():
                raise ValueError(f"{kind} {value!r}: give 1 to {NAME_LENGTH} printable characters")
        if len(set(values)) != len(values):
            raise ValueError(f"{kind}s {', '.join(values)}: no two agents may have the same")
    for name, agent_id in zip(names, ids, strict=True):
        if name in ids and name != agent_id:
            raise ValueError(f"{agent_id} cannot be called {name!r}, which is another agent's id")


logger = logging.getLogger(__name__)

_IN_WORDS = {
    "think": "thought",
    "say": "statement",
    "nightAction": "choice",
    "NIGHT_ACTIONS": "night",
    "DAY_DISCUSSION": "day",
    "DAY_VOTING": "day",
}
"""Methods and phases, as people call them."""

Note = Callable[..., None]
"""Writes a line of a match log: its kind and its fields (`MatchLog.write`)."""


@dataclass(eq=False)
class HostedMatch:
    """A match of mafia between `AgentPolicy` objects.

    Foreign agents run in threads of their own, with copies of the arguments.

    Raises:
        ValueError: if there are not as many agents as seats, or ids or names are not all different and printable.
    """

    game: Game
    agents: Sequence[AgentPolicy]
    _: KW_ONLY
    game_id: str
    seed: int | None = None
    limits: MafiaLimits | None = None
    note: Note = lambda kind, **fields: None
    on_event: Callable[[wire.Event], None] = lambda event: None

    def __post_init__(self) -> None:
        """Make the session."""
        players = [(agent.id, agent.name) for agent in self.agents]
        about: dict[str, Any] = {"game_id": self.game_id, "seed": self.seed, "limits": self.limits}
        self.session = MafiaHostSession(self.game, players, **about)
        self._names, self._called = dict(players), list[Any]()

    async def play(self) -> MafiaResult:
        """Play the match to its end."""
        session, match = self.session, self.session.match
        agents: list[dict[str, Any]] = [{"id": agent_id, "name": name} for agent_id, name in self._names.items()]
        for row, agent in zip(agents, self.agents, strict=True):
            config = getattr(agent, "config", None)
            if type(config) is wire.AgentConfig:  # one of another type may hold secrets
                row["config"] = config
        about = {"game": match.game.id, "options": match.game.options, "seed": session.seed}
        self.note("match", **about, match_id=session.game_id, agents=agents)
        self._called = [called(agent) for agent in self.agents]
        try:
            self._report(session.begin())
            await Room(lambda: session.calls, lambda call: call.seconds, self._make).play()
        finally:
            for agent in self._called:
                if isinstance(agent, Apart):
                    agent.stop()
        if session.result is None:
            raise RuntimeError("no call is due, and the match is not over")
        self.note("end", outcome=match.turn_state(match.game.agents[0]).outcome)
        return session.result

    async def _make(self, call: DueCall, deadline: Deadline) -> None:
        """Make a call, and report its answer or failure to the session. The calls of language models are logged."""
        session, number, agent = self.session, call.number, self.agents[call.seat]
        round_number = int(session.match.table.round_number)

        async def take(chunk: Any) -> bool:
            if (problem := replacement(agent)) is not None:
                self._report(session.replaced(number, problem))
            self._report(session.chunk(number, chunk))
            return call.problem is None

        arguments, role, answer, problem = session.arguments(number), session.roles[call.seat], None, None
        try:
            answer = await ask(self._called[call.seat], call.method, arguments, role=role, deadline=deadline, take=take)
        except TimeoutError:
            problem = f"{'cut off after' if call.characters else 'no answer within'} {call.seconds:g} s"
        except RuntimeError as error:
            problem = str(error)
        else:
            if (why := replacement(agent)) is not None:
                self._report(session.replaced(number, why))
        happened = session.answered(number, answer, problem)
        for one in model_calls(agent):
            self.note("model", agent_id=agent.id, method=call.method, round=round_number, **one)
        self._report(happened)

    def _report(self, happened: Happened) -> None:
        for one in happened:
            if isinstance(one, wire.Event):
                self.note("event", event=one)
                tell(f"{one.event_type} of {one.game_id}", self.on_event, one)
            elif isinstance(one, Fault):
                self._warn(one)
                self.note("fault", **msgspec.to_builtins(one))
            else:
                replaced = {} if one.replaced is None else {"replaced": one.replaced}
                self.note("turn", agent=one.agent, response=AgentResponse(one.action), **replaced)

    def _warn(self, fault: Fault) -> None:
        """Log a fault as the talk of the match has it."""
        when, what = _IN_WORDS[fault.phase], _IN_WORDS.get(fault.method, fault.method)
        instead = f" ({fault.instead})" if fault.instead else ""
        words = self._names | {kind: kind.lower() for kind in wire.NIGHT_ACTIONS.values()}
        known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        problem = escaped(re.sub(rf"(?<!\w)(?:{known})(?!\w)", lambda found: words[found[0]], fault.problem))
        where = f"{self.session.game_id}, {when} {fault.round_number}"
        logger.warning("%s, %s of %s: %s%s", where, what, self._names[fault.agent_id], problem, instead)


class MafiaHost:
    """Plays matches, any number of them side by side.

    >>> result = await MafiaHost(game).play(agents)      # doctest: +SKIP
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MafiaLimits | None = None,
        seed: int | None = None,
        log: MatchLog | None = None,
        on_event: Callable[[wire.Event], None] = lambda event: None,
    ) -> None:
        if game.name != "mafia":
            raise ValueError(f"{game.id} is not mafia")
        self.game = game
        self.over = 0
        self._limits = limits
        self._seeds = np.random.SeedSequence(seed)
        self._log = SafeMatchLog(log)
        self._on_event = on_event
        self._count = 0
        self._name = secrets.token_hex(4)  # ids differ from host to host

    async def play(self, agents: Sequence[AgentPolicy], seed: int | None = None) -> MafiaResult:
        """Play one match and return the result.

        Args:
            agents: the players, seat by seat.
            seed: the seed of the match; None: the next one of the host.

        Raises:
            ValueError: see `HostedMatch`.
        """
        if seed is None:
            (own,) = self._seeds.spawn(1)
            seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._count += 1
        lines: list[tuple[str, dict[str, Any]]] = []  # together, whatever is played beside it

        game_id, watch = f"{self._name}-{self._count}", self._on_event
        about: dict[str, Any] = {"game_id": game_id, "seed": seed, "limits": self._limits, "on_event": watch}
        match = HostedMatch(self.game, agents, note=lambda kind, **fields: lines.append((kind, fields)), **about)
        try:
            result = await match.play()
        finally:
            for kind, fields in lines:
                self._log.write(kind, **fields)
        self.over += 1
        return result


# Agents elsewhere.

CONNECT_SECONDS = 10.0
"""Seconds for a handshake."""
RETRY_SECONDS = 0.25
"""Seconds between the first and the second try to reconnect; each further wait is longer by as much."""
TRIES = 4
"""Tries to reconnect for one call. A service that was never reached is tried once per call."""
COMPLAINTS = 100
"""Number of unreadable messages and errors after which the connection is closed until the next call."""
WAITING = 10_000
"""Most parts of an answer in its queue. If a service sends more, the call fails."""


class ServiceConnection:
    """A WebSocket to a service for any number of agents. It connects at the first call, and again after a loss.

    Raises:
        ValueError: if `url` is not a WebSocket URL.
    """

    def __init__(self, url: str, access_token: str | None = None) -> None:
        address = URL(url)
        if address.scheme not in ("ws", "wss") or not address.host:
            raise ValueError(f"{url!r} is no address of agents: give ws://… or wss://…")
        self.url = url
        self._address = address.update_query(client=secrets.token_hex(16))  # the service keeps our agents by it
        self._headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        self._calls, self.answered = 0, False
        self._inboxes: dict[Any, asyncio.Queue[wire.Reply]] = {}  # of the running calls
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._backoff = Backoff(RETRY_SECONDS, TRIES, first_tries=1)

    async def call(
        self, method: wire.Method, agent_id: str, context: wire.GameState, info: wire.Info
    ) -> AsyncGenerator[wire.Reply, None]:
        """Forward a call and yield the parts of its answer; the last one is the end.

        Raises:
            ConnectionError: if the service cannot be reached, is lost, or answers with an error.
        """
        socket = await self._open()
        self._calls = call = self._calls + 1
        inbox: asyncio.Queue[wire.Reply] = asyncio.Queue(WAITING)
        self._inboxes[call] = inbox
        message = {"id": call, "method": method, "context": context, "info": info, "agent": agent_id}
        try:
            await socket.send_str(wire.encode(message).decode())
            while True:
                part = await inbox.get()
                if part.error is not UNSET:
                    raise ConnectionError(part.error)
                self.answered = True
                yield part
                if part.ends:
                    return
        finally:
            if self._inboxes.pop(call, None) is not None and not socket.closed:  # it is given up
                with contextlib.suppress(ConnectionError):
                    await socket.send_str(wire.encode(wire.Cancel(id=call, cancel=True)).decode())

    async def close(self) -> None:
        """Close the connection and the client."""
        if self._socket is not None:
            await self._socket.close()
        await self._read_out()
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _open(self) -> aiohttp.ClientWebSocketResponse:
        """Return the open socket; concurrent calls share one reconnection."""
        async with self._opening:
            if self._socket is not None and not self._socket.closed:
                return self._socket
            await self._read_out()
            try:
                self._socket = await retry(self._connect, self._backoff)
            except LiveError as error:
                raise ConnectionError(f"cannot reach {self.url}: {error}") from None
            self._backoff.succeeded()
            self._reader = asyncio.create_task(self._read(self._socket))
            return self._socket

    async def _read_out(self) -> None:
        """Wait for the reader's end. Who gives up does not end the reader, for which others wait too."""
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        """Return a new connection.

        Raises:
            LiveError: if the service refuses, which is not tried again.
            aiohttp.ClientError, OSError, TimeoutError: if it does not answer.
        """
        if self._http is None:
            self._http = http_client(self._headers)
        try:
            return await open_websocket(
                self._http, self._address, most_bytes=limits.SERVICE.frame, seconds=CONNECT_SECONDS
            )
        except aiohttp.WSServerHandshakeError as error:
            if 400 <= error.status < 500:
                raise LiveError("REFUSED", f"HTTP {error.status}") from None
            raise

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Put the parts of answers into the queues of their calls. On disconnect: fail all running calls."""
        complaints = 0
        while (data := await next_message(socket)) is not None:
            try:
                part = wire.read(data, wire.Reply)
            except ValueError as error:
                part = wire.Reply(id=None, error=f"unreadable: {error}")
            if part.id is not None:
                self._put(part)
                continue
            complaints += 1
            logger.warning("%s: %s", self.url, escaped(str(part.error or "an answer to no call")))
            if complaints == COMPLAINTS:
                logger.warning("%s: closing the connection after %d such messages", self.url, COMPLAINTS)
                await socket.close()
        for call in list(self._inboxes):
            self._put(wire.Reply(id=call, error="the connection was lost"))

    def _put(self, part: wire.Reply) -> None:
        """Put a part of an answer into the queue of its call, if that is running."""
        inbox = self._inboxes.pop(part.id, None) if part.ends else self._inboxes.get(part.id)
        if inbox is None or not (part.ends or part.chunk):
            return
        if inbox.full():
            inbox.get_nowait()
            part = wire.Reply(id=part.id, error="too many chunks at once")
        inbox.put_nowait(part)


class RemoteAgent:
    """An `AgentPolicy` that forwards every call to a service.

    Args:
        id, name: the player's id and name.
        connection: the connection to the service, which agents may share.
    """

    blocks = False

    def __init__(self, id: str, name: str, connection: ServiceConnection) -> None:
        self.id = id
        self.name = name
        self.role: str | None = None
        self.config = wire.AgentConfig(type="scripted")
        self.connection = connection

    def think(self, context: wire.GameState, private_info: wire.PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("think", context, private_info)

    def say(self, context: wire.GameState, public_info: wire.PublicInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("say", context, public_info)

    async def night_action(self, context: wire.GameState, private_info: wire.PrivateInfo) -> wire.NightAction | None:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        result = await self._result("nightAction", context, private_info)
        return None if result is None else wire.read(result, wire.NightAction)

    async def vote(self, context: wire.GameState, public_info: wire.PublicInfo) -> wire.VoteAction:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        return wire.read(await self._result("vote", context, public_info), wire.VoteAction)

    async def _stream(self, method: wire.Method, context: wire.GameState, info: wire.Info) -> AsyncIterator[str]:
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            async for part in parts:
                if part.chunk is not UNSET:
                    yield part.chunk

    async def _result(self, method: wire.Method, context: wire.GameState, info: wire.Info) -> Any:
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            results = [part.result async for part in parts if part.ends]
        return None if results[0] is UNSET else results[0]
