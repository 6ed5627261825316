"""One turn of a live agent, in every protocol: how its answer is read, and what is played in its place.

A protocol extends `Turn` if its answers take more than the offer tells. `Player.answer` asks the agent and settles the
turn. States and answers may have others' types: dicts, pydantic models, dataclasses.
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, ClassVar, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, MessageIntent, TurnState
from ...agents.base import Agent, sentence
from ...agents.schemas import fitted, quiet_action, violation
from ...logs.match_log import LIMIT, SafeMatchLog, describe_error, escaped, short, without_images

logger = logging.getLogger(__name__)


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


def _fields(value: Any, kind: type[msgspec.Struct]) -> Any:
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
    try:
        data = _fields(answer, AgentResponse)
        if not (isinstance(data, dict) and "action" in data):
            action = _fields(answer, Action)
            data = {"action": action} if isinstance(action, dict) and action else answer
        else:
            data["action"] = _fields(data["action"], Action)
            if isinstance(data.get("messages"), (list, tuple)):
                data["messages"] = [_fields(intent, MessageIntent) for intent in data["messages"]]
        return msgspec.convert(plain(data), AgentResponse)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not an AgentResponse: {error}") from None


def read_state(state: Any) -> TurnState:
    """Read a TurnState of any type: ours, a dict, a pydantic model, a dataclass, an object with the same attributes.

    Raises:
        ValueError, TypeError: naming the field that does not fit.
    """
    if isinstance(state, TurnState):
        return state
    data = plain(_fields(state, TurnState))
    if isinstance(data, dict):  # some send null for what they leave out
        data = {name: part for name, part in data.items() if part is not None}
    return TurnState.from_dict(data)


def convert_to(value: msgspec.Struct, kind: Any) -> Any:
    """Convert a value to `kind`: a dict, a pydantic model or a dataclass; for any other `kind` return it unchanged."""
    if not isinstance(kind, type):
        return value
    if hasattr(kind, "model_validate"):
        return kind.model_validate(msgspec.to_builtins(value))
    if issubclass(kind, Mapping):
        return msgspec.to_builtins(value)
    if is_dataclass(kind):
        return msgspec.convert(msgspec.to_builtins(value), kind)
    return value


TurnId: TypeAlias = str | int
"""An identifier of a turn, different for each turn."""


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
        ordered = np.sort(self.latencies[: self.decisions])
        return float(ordered[min(len(ordered) - 1, int(share * len(ordered)))])


@dataclass
class Turn:
    """It is the agent's turn.

    Attributes:
        state: what the agent sees. Its ``allowed_actions`` are the offer; empty: the host does not send one.
        id: the identifier of the turn.
        again: whether an earlier answer in this turn was rejected; the turn's deadline stays the same.
        problem: why the agent is not asked, and the safe action is played; None: it is asked.
        seconds: the time for an answer; None: no limit.
        table: the table, match or game, which has one open turn at a time.
        name: what the program's log calls it.
        fields: further fields of the match log's line.
        counts: whether it is a decision.
    """

    state: TurnState
    id: TurnId = 0
    again: bool = False
    problem: str | None = None
    seconds: float | None = None
    table: Hashable = None
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    counts: ClassVar[bool] = True

    def ask(self, agent: Agent) -> Any:
        """Return the agent's own answer. Called in the agent's thread."""
        return agent.respond(self.shown())

    def warns(self) -> bool:
        """Return whether to warn that the safe action replaced the answer; a protocol may warn once for many turns."""
        return True

    def read(self, answer: Any) -> AgentResponse:
        """Return what an answer plays: an `AgentResponse` or an `Action` of any type (see `read_response`).

        A number out of the bounds of its offer goes to the nearest bound, with a warning. A ``pass`` that is not
        offered plays the safe action.

        Raises:
            ValueError: if it cannot be read, or is not offered.
        """
        asked = read_response(answer)
        taken = fitted(asked, self.state.allowed_actions)
        if taken != asked:
            name, numbers = self.state.match_id or self.state.game_id, short(asked.action.payload)
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

    def shown(self) -> TurnState:
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
        """Return what is played, and why the safe action is in the place of the answer (None: it is not).

        Args:
            answer: returns the agent's answer; it may raise any exception.
        """
        problem = self.problem
        if problem is None:
            try:
                return self.read(answer()), None
            except Exception as error:  # whatever a foreign agent or object does
                problem = escaped(str(error), LIMIT) if type(error) is ValueError else describe_error(error)
        return self.safe(), problem


@dataclass(frozen=True)
class Played:
    """A turn that has been settled.

    Attributes:
        response: what is played.
        problem: why it is the safe action in the place of the agent's answer; None: it is the agent's answer.
        thoughts: the agent's notes on its answer (see `parlour.wrappers.agents.base.thoughts`); empty without a log.
        seconds: the time until the answer.
        sent: the messages that play it, where there is a codec.
    """

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

    def write(self, log: SafeMatchLog, turn: Turn, **fields: Any) -> None:
        """Write the turn into a log, if there is one.

        Args:
            log: the log.
            turn: the turn.
            fields: further fields of the line.
        """
        if not log or (state := turn.logged()) is None:
            return
        notes = {"replaced": self.problem} if self.problem is not None else turn.notes(self.thoughts)
        line = {**fields, "turn_state": state, "response": self.response}
        log.write("turn", **line, **{name: value for name, value in notes.items() if name not in (*line, "kind")})
