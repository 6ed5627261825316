"""The host's end of a match, without I/O: the calls that are due, and the effects of their answers.

The referee (`parlour.envs.core.match.Match`) has the rules, and the game's view decides what each agent sees. The
session has the calls and their limits. At night and in the vote all agents are called at once, in the discussion one
after another. An agent that fails loses only that answer: a night action is requested again, then drawn at random; a
vote is an abstention; a statement is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ....envs.core.game import Game
from ....envs.core.match import Match
from ....envs.core.record import plain
from ....envs.core.turn_state import Action, Message, MessageScope, TurnState
from ....envs.mafia.actions import sayable
from ....envs.mafia.rules import Choice
from ....envs.mafia.statements import read as read_act
from ....envs.mafia.statements import to_wire
from ....envs.mafia.table import DISCUSSION, GENERAL, NIGHT, ROLES, TARGET, VOTE, WINNERS
from ....envs.mafia.view import log as record_log
from ...logs.log_text import describe_error as described
from .agent_policy import beside, night_choice, vote_choice
from .conversion import ContextWriter
from .host_calls import DueCall, RunningCall
from .limits import MafiaLimits
from .match_report import BY_SCRIPT, Fault, Happened, MatchReport, check_players
from .messages import NIGHT_ACTIONS, GameState, Method, NightAction, PrivateInfo, PublicInfo, VoteAction

_ACTIONS: dict[str, Method] = {"NIGHT_ACTIONS": "nightAction", "DAY_DISCUSSION": "say", "DAY_VOTING": "vote"}
"""The method that is called after a thought, by phase."""


class Step(NamedTuple):
    """The events since the last step, in order, and the calls to make now."""

    happened: list[Happened]
    calls: list[DueCall]


@dataclass(frozen=True)
class MafiaResult:
    """Result of a match.

    Attributes:
        game_id: the id of the match.
        winner: ``"town"``, ``"mafia"``, or None at the limit of days.
        rounds: the number of nights.
        roles: the roles by agent id.
        payoffs: the payoffs by agent id.
        faults: the faults of the agents, in order.
        record: the bytes of the final record.
    """

    game_id: str
    winner: Literal["town", "mafia"] | None
    rounds: int
    roles: dict[str, str]
    payoffs: dict[str, float]
    faults: list[Fault]
    record: bytes


class MafiaHostSession:
    """A match of mafia between agents that are called as the AgentPolicy document says.

    Call `begin`, make the calls of every `Step`, and report each call: `chunk` for every chunk of a stream, then one of
    `finished`, `answered`, `failed` and `timed_out`. Reports of a call that is not `running` are ignored. The match is
    over when no call is running; then `result` is set.

    Args:
        game: mafia, with one seat per player.
        players: id and name, seat by seat.
        game_id: the id of the match.
        seed: the seed of roles and random targets; None: fresh entropy.
        limits: the limits of the agents' answers.

    Attributes:
        match: the referee.
        roles: the roles, seat by seat.
        result: the result; None: the match is running.
        seed: the seed of the match.

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
        names = [name for _, name in players]
        check_players(game, self._ids, names)
        self.game = game
        self.game_id = game_id
        self.limits = limits or MafiaLimits()
        self.result: MafiaResult | None = None
        self.seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1) if seed is None else seed
        self.match = Match(game)
        self.match.reset(self.seed)
        self.roles = [ROLES[role] for role in self.match.table.role[: game.seats].tolist()]
        self._seats = {name: seat for seat, name in enumerate(names)}
        self._seats |= {player_id: seat for seat, player_id in enumerate(self._ids)}
        self._report = MatchReport(self._ids, names, self.roles)
        self._writer = ContextWriter(game.agents, self._ids, names)
        self._messages: list[Message] = []  # the statements
        self._shown: Any = None  # a copy of the record, from which the view writes the states of agents
        self._public: TurnState | None = None  # the public state of the phase
        self._order: list[int] = []  # the seats that choose tonight, or vote
        self._choices: dict[int, int] = {}  # the targets so far; −1: abstention
        self._beside: dict[int, dict[str, Any]] = {}  # metadata or reason of each choice
        self._replaced: dict[int, str] = {}  # why a choice is not the agent's own
        self._running: dict[int, RunningCall] = {}
        self._count = 0
        self._calls: list[DueCall] = []

    # Reports.

    def begin(self, role_problems: Mapping[int, str] | None = None) -> Step:
        """Begin the match.

        Args:
            role_problems: by seat, why an agent did not accept its role; its calls contain it too.
        """
        self._report.created()
        for seat, problem in (role_problems or {}).items():
            self._report.fault(seat, "role", problem)
        self._report.roles_assigned()
        self._go_on()
        return self._step()

    def arguments(self, number: int) -> tuple[GameState, PrivateInfo | PublicInfo]:
        """Return the arguments of a call, written now: at night, teammates may have chosen since the thought.

        Raises:
            KeyError: if the call is not running.
        """
        running = self._running[number]
        context, info = running.context, running.info
        if not running.called:
            running.called = True
            asks_in_public = running.call.method in ("say", "vote")
            if context is None or (not asks_in_public and running.choices != len(self._choices)):
                running.choices = len(self._choices)
                context, info = self._writer.private(self._turn_state(running.call.seat))
            if asks_in_public:
                info = self._public_info()
            running.context, running.info = context, info
        if context is None or info is None:
            raise RuntimeError(f"call {number} has no arguments")
        return context, info

    def running(self, number: int) -> bool:
        """Return whether a call is running."""
        return number in self._running

    def chunk(self, number: int, chunk: Any) -> Step:
        """Report the next chunk of a stream. If it exceeds a limit, the call ends."""
        running = self._running.get(number)
        if running is not None:
            for part in running.take(chunk):
                self._report.chunk(running.call.method, running.stream, part)
            if running.problem is not None:
                self._report.fault(running.call.seat, running.call.method, running.problem)
                self._end_stream(running)
        return self._step()

    def replaced(self, number: int, problem: str) -> Step:
        """Report that a scripted agent answers instead of a language model's agent."""
        running = self._running.get(number)
        if running is not None and running.replaced is None:
            running.replaced = problem
            method = running.call.method
            instead = "no thought" if method == "think" else BY_SCRIPT["by"]
            self._report.fault(running.call.seat, method, problem, instead)
            if method == "say":
                running.stream = running.stream | BY_SCRIPT
        return self._step()

    def finished(self, number: int) -> Step:
        """Report the end of a stream."""
        running = self._running.get(number)
        if running is not None:
            self._end_stream(running)
        return self._step()

    def answered(self, number: int, answer: Any) -> Step:
        """Report a night action or a vote: a struct, a dict, or an object with the same attributes."""
        running = self._running.get(number)
        if running is not None:
            context, info = self.arguments(number)
            choice: NightAction | VoteAction | None = None
            try:
                if isinstance(info, PrivateInfo):
                    choice, problem = night_choice(answer, info)
                else:
                    choice, problem = vote_choice(answer, self._ids[running.call.seat], context)
                said = beside(choice)
            except Exception as error:  # the attributes of a foreign object may raise anything
                problem, said = described(error), {}
            self._end_choice(running, None if choice is None else choice.target_id, problem, said)
        return self._step()

    def failed(self, number: int, problem: str) -> Step:
        """Report that a call has ended without an answer, and why."""
        running = self._running.get(number)
        if running is not None:
            self._end_without_answer(running, problem, problem)
        return self._step()

    def timed_out(self, number: int) -> Step:
        """Report that the time of a call is over."""
        running = self._running.get(number)
        if running is not None:
            seconds = f"{running.call.seconds:g} s"
            self._end_without_answer(running, f"cut off after {seconds}", f"no answer within {seconds}")
        return self._step()

    def _step(self) -> Step:
        calls, self._calls = self._calls, []
        return Step(self._report.take(), calls)

    # The phases.

    def _go_on(self) -> None:
        """Add the calls of the next decisions, or end the match."""
        self._shown = table = plain(self.match.table)
        if table.done:
            self._report.enter("END", table.round_number)
            self._end(table)
        elif table.phase == DISCUSSION:
            self._report.enter("DAY_DISCUSSION", table.round_number)
            self._call(self.match.turn, "think")
        else:
            night = table.phase == NIGHT
            self._report.enter("NIGHT_ACTIONS" if night else "DAY_VOTING", table.round_number)
            living = np.flatnonzero(table.alive).tolist()
            by_role = [seat for role in NIGHT_ACTIONS for seat in living if self.roles[seat] == role]
            self._order, self._choices, self._public = by_role if night else living, {}, None
            self._beside, self._replaced = {}, {}
            for seat in self._order:
                self._call(seat, "think")

    def _choose(self, seat: int, target: int, said: Mapping[str, Any]) -> None:
        """Store a choice; resolve the night, or the vote, after the last one."""
        self._choices[seat], self._beside[seat] = target, dict(said)
        night = self._report.phase == "NIGHT_ACTIONS"
        if night:
            record_log(self._shown, "night")[self._report.round_number - 1, seat] = target
            self._report.night_action(seat, target, said)
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
            payload = {"actionType": NIGHT_ACTIONS[self.roles[seat]], "targetId": agents[target]}
            self._play(
                seat,
                Choice(TARGET, target),
                Action("nightAction", payload | self._beside[seat]),
                self._replaced.get(seat),
            )
        self._report.enter("MORNING_REVEAL", self._report.round_number)
        self._report.night_resolved(int(table.killed), bool(table.prevented))

    def _resolve_vote(self) -> None:
        """Publish and play the votes, which were hidden until the last one."""
        table, agents = self.match.table, self.game.agents
        self._report.votes_cast(self._choices, self._beside)
        for seat, target in self._choices.items():
            payload = {"targetId": agents[target] if target >= 0 else None}
            self._play(
                seat, Choice(VOTE, target), Action("vote", payload | self._beside[seat]), self._replaced.get(seat)
            )
        voted_out = table.voted_out.tolist()
        eliminated = next((seat for seat in self._order if voted_out[seat]), -1)
        self._report.enter("RESOLUTION", self._report.round_number)
        self._report.vote_result(self._choices, eliminated)

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
        self._report.turn(self.game.agents[seat], action, replaced)
        self._shown.turn = seat
        self.match.play(self.game.view.nearest(self._shown, move), silent=True)

    def _end(self, table: Any) -> None:
        winner: Any = WINNERS[table.winner]
        self._report.ended(winner)
        self.result = MafiaResult(
            self.game_id,
            winner,
            table.round_number,
            dict(zip(self._ids, self.roles, strict=True)),
            dict(zip(self._ids, self.match.rewards, strict=True)),
            self._report.faults,
            self.match.table.tobytes(),
        )

    # The calls.

    def _call(self, seat: int, method: Method, thought: RunningCall | None = None, tries: int = 1) -> None:
        """Add a call; `thought`: the call of `think` before it."""
        limits = self.limits
        seconds = {"think": limits.think, "say": limits.say}.get(method, limits.act)
        characters = {"think": limits.thought, "say": limits.statement}.get(method, 0)
        stream = self._report.stream(method, seat, self._shown.speech) if characters else {}
        self._count += 1
        call = DueCall(self._count, seat, method, seconds, characters)
        self._running[call.number] = RunningCall(call, stream, thought, tries)
        self._calls.append(call)

    def _turn_state(self, seat: int) -> TurnState:
        """Return the state that a seat sees. All choose at once: no seat has the turn."""
        self._shown.turn = -1
        return self.game.turn_state(self._shown, seat, self._messages, self.game_id)

    def _public_info(self) -> PublicInfo:
        """Return the public information; it is the same until the next phase."""
        if self._public is None:
            self._public = self.game.public_turn_state(self._shown, self._messages, self.game_id)
        return self._writer.public(self._public)

    def _end_stream(self, running: RunningCall) -> None:
        """Continue after a stream: an action follows a thought, the next speaker follows a statement."""
        seat, method = running.call.seat, running.call.method
        del self._running[running.call.number]
        self._report.chunk(method, running.stream, "")
        if method == "say":
            text = "".join(running.text)
            if not text.strip():
                self._report.fault(seat, "say", "it said nothing")
            self._speak(seat, text, running.replaced)
        else:
            self._call(seat, _ACTIONS[self._report.phase], running)

    def _end_choice(
        self, running: RunningCall, target_id: str | None, problem: str | None, said: Mapping[str, Any]
    ) -> None:
        """Store a choice with its metadata or reason (`said`), or its replacement."""
        seat, method = running.call.seat, running.call.method
        del self._running[running.call.number]
        if running.replaced is not None or problem is not None:
            self._replaced[seat] = running.replaced or str(problem)
        if problem is None:
            self._choose(seat, -1 if target_id is None else self._ids.index(target_id), said)
        elif method == "vote":
            self._report.fault(seat, method, problem, "abstains")
            self._choose(seat, -1, {})
        else:
            self._report.fault(seat, method, problem)
            if running.tries < self.limits.tries:
                self._call(seat, method, tries=running.tries + 1)
            else:
                drawn = self._drawn(seat)
                self._report.fault(seat, method, "no legal target", f"{self._ids[drawn]}, drawn")
                self._choose(seat, drawn, {})

    def _end_without_answer(self, running: RunningCall, of_stream: str, of_choice: str) -> None:
        if running.call.method in ("think", "say"):
            self._report.fault(running.call.seat, running.call.method, of_stream)
            self._end_stream(running)
        else:
            self._end_choice(running, None, of_choice, {})

    def _drawn(self, seat: int) -> int:
        """Return a legal target of the night, drawn from the match's stream."""
        tables = self.game.tables(1)
        table = tables[0]
        tables[0] = self.match.table
        table.turn = seat
        return int(self.game.rules.decode(table, self.game.view.safe(table)).target)
