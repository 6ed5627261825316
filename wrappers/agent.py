"""Agent: who sees TurnStates and answers them. A policy, a bot, a person."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..envs.core.game import Game
from ..envs.core.turn_state import Action, AgentResponse, AllowedAction, TurnState
from .policy import Policy


@runtime_checkable
class Agent(Protocol):
    """Plays one seat of one match at a time."""

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; called only where ``state.is_my_turn``."""
        ...


def thoughts(agent: Agent) -> dict[str, Any]:
    """Return what an agent tells of its latest answer, for logs: by its method ``thoughts()``, if it has one.

    The names that replays know: ``probabilities`` (of every answer that was open, as `sentence` writes it), ``value``
    (what it expected to win, in `Game.unit`), ``think`` (words).
    """
    told = getattr(agent, "thoughts", None)
    return dict(told()) if callable(told) else {}


def sentence(action: Action, written: Callable[[Any], str] | None = None) -> str:
    """Return an action in words: its name and the values of its payload, but for those that are null.

    `written` tells how a value is written; None: in full, whole numbers without decimals.

    >>> sentence(Action("raiseTo", {"amount": 137}))
    'raiseTo 137'
    >>> sentence(Action("submit_offer", {"share": 96.0}))
    'submit_offer 96'
    """
    values = (value for value in action.payload.values() if value is not None)
    return " ".join([action.action_type, *map(written or _written, values)])


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class PolicyAgent:
    """A policy as an agent: TurnState → record → observation → action number → documented payload.

    Args:
        game: the game the policy was trained for. A live table may have more seats or fewer (see the game's `load`).
        policy: what plays.
    """

    def __init__(self, game: Game, policy: Policy) -> None:
        self.game = game
        self.policy = policy
        self._seen: tuple[Any, NDArray[np.float32], NDArray[np.int8]] | None = None

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ValueError: if `state` is another game's, nothing is open to its seat, or the policy chose a number that
                its mask forbids.
            KeyError, TypeError: if `state` lacks a field.
        """
        name, _, _ = state.game_id.partition("-")
        if name != self.game.name:
            raise ValueError(f"a policy for {self.game.id} cannot play {state.game_id!r}")
        tables, seat = self.game.view.load(state)
        mask = self.game.mask(tables[0], seat)
        if not mask.any():
            raise ValueError(f"nothing is open to {state.agent_id}: it is not its turn")
        observation = self.game.observation(tables[0], seat)
        self._seen = tables[0], observation[None], mask[None]
        number = int(np.asarray(self.policy.act(observation[None], mask[None])).reshape(-1)[0])
        if not 0 <= number < len(mask) or not mask[number]:
            raise ValueError(
                f"the policy chose action {number}, which is masked; open are {np.flatnonzero(mask).tolist()}"
            )
        return self.game.view.encode(tables[0], number)

    def thoughts(self) -> dict[str, Any]:
        """Return how likely each answer to the latest turn was, and what the policy expected; as far as it can tell."""
        told: dict[str, Any] = {}
        if self._seen is None or not hasattr(self.policy, "probabilities"):
            return told
        table, observations, masks = self._seen
        chances = self.policy.probabilities(observations, masks)[0]
        told["probabilities"] = {
            _answer(self.game.view.encode(table, number)): round(float(chances[number]), 4)
            for number in np.flatnonzero(chances >= LEAST_LIKELY).tolist()
        }
        values = self.policy.values(observations) if hasattr(self.policy, "values") else None
        if values is not None:
            told["value"] = round(float(values[0]), 4)
        return told

    def rehearse(self) -> None:
        """Answer two made-up turns, so that nothing is left to be compiled or loaded when a clock runs.

        Raises:
            ValueError: as `respond` does; whatever else the policy raises.
        """
        table = self.game.tables(1)[0]
        self.game.rules.reset(table)
        for _ in range(2):  # the second one on a table where something has happened
            if not table.done:
                answer = self.respond(self.game.turn_state(table, int(table.turn)))
                self.game.rules.step(table, self.game.view.parse(table, answer.action))


LEAST_LIKELY = 0.0005
"""Answers less likely than this are not told in `thoughts`."""


def printable(text: str) -> str:
    """Return a text on one line, without what would steer a terminal.

    >>> printable("Take\\nit \\x1b[2J")
    'Take it [2J'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _answer(response: AgentResponse) -> str:
    """Return an answer on one line; where all it does is to say something, what it says."""
    said = " ".join(message.content for message in response.messages)
    return f"say: {said}" if said and response.action.action_type == "message_only" else sentence(response.action)


class HumanAgent:
    """A person at a terminal.

    Args:
        source: where answers are read from, a line each (None: standard input).
        screen: where the table and the questions are written (None: standard output).
    """

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source = source
        self._screen = screen

    def respond(self, state: TurnState) -> AgentResponse:
        """Show the turn and read an answer such as ``raiseTo 137``; ask again until it fits.

        Raises:
            EOFError: if no more answers come.
        """
        self._write(_as_text(state))
        while True:
            self._write("> ", end="")
            line = (self._source or sys.stdin).readline()
            if not line:
                raise EOFError("no more answers from the person at the terminal")
            try:
                return AgentResponse(parse(line, state.allowed_actions))
            except ValueError as error:
                self._write(str(error))

    def _write(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=self._screen or sys.stdout, flush=True)


def parse(line: str, allowed: list[AllowedAction]) -> Action:
    """Read an action as a person writes it: its name, and the values of its payload in order or as ``name=value``.

    What the schema does not require may be left out. Free text is the last value: all that follows belongs to it.

    Raises:
        ValueError: saying what would fit.

    >>> parse("raise 137", [AllowedAction("raiseTo", "", {"amount": {"type": "integer", "minimum": 4}})])
    Action(action_type='raiseTo', payload={'amount': 137})
    """
    word, *values = line.split() or [""]
    found = [offer for offer in allowed if offer.action_type.lower() == word.lower()]
    found = found or [offer for offer in allowed if word and offer.action_type.lower().startswith(word.lower())]
    if len(found) != 1:
        raise ValueError(f"{word!r} is none of {', '.join(_usage(offer) for offer in allowed)}")
    fields = _fields(found[0])
    payload: dict[str, Any] = {}
    for i, (value, next_name) in enumerate(zip(values, [*fields, *[""] * len(values)], strict=False), 1):
        name, _, text = value.partition("=") if "=" in value else (next_name, "", value)
        if name not in fields:
            raise ValueError(f"{value!r} is too much: write {_usage(found[0])}")
        if words := _kind(fields[name]) == "string" and "enum" not in fields[name]:
            text = " ".join([text, *values[i:]])
        payload[name] = _value(name, text, fields[name])
        if words:
            break
    if missing := [name for name in _required(found[0]) if name not in payload]:
        raise ValueError(f"{', '.join(missing)} is missing: write {_usage(found[0])}")
    return Action(found[0].action_type, payload)


def _value(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """Read one value of a payload and hold it against its schema."""
    kind = _kind(schema)
    if kind == "string" and "enum" not in schema:
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{name} must be {_bounds(schema)}, not {text}")
    number = isinstance(value, int) or (kind == "number" and isinstance(value, float))
    low, high = schema.get("minimum", -np.inf), schema.get("maximum", np.inf)
    if kind in ("integer", "number") and (isinstance(value, bool) or not number or not low <= value <= high):
        raise ValueError(f"{name} must be {_bounds(schema)}, not {text}")
    return value


def _fields(offer: AllowedAction) -> dict[str, dict[str, Any]]:
    """Return the payload's fields: of a JSON schema, or of the bare property map that the arena platform sends."""
    schema = offer.payload_schema
    fields = schema["properties"] if isinstance(schema.get("properties"), dict) else schema
    return {name: field for name, field in fields.items() if isinstance(field, dict)}


def _required(offer: AllowedAction) -> list[str]:
    """Return the fields that the payload must have; of a bare property map, all."""
    known = isinstance(offer.payload_schema.get("properties"), dict)
    return list(offer.payload_schema.get("required", ())) if known else list(_fields(offer))


def _kind(field: Mapping[str, Any]) -> str:
    """Return the type of a value, if not null; "" where the schema does not tell."""
    kinds = field.get("type")
    return str(next((kind for kind in kinds if kind != "null"), "") if isinstance(kinds, list) else kinds or "")


def _usage(offer: AllowedAction) -> str:
    required = _required(offer)
    told = {name: f"{name}: {_bounds(field)}" for name, field in _fields(offer).items()}
    return " ".join(
        [offer.action_type, *(f"<{text}>" if name in required else f"[{text}]" for name, text in told.items())]
    )


KINDS = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}


def _bounds(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return " or ".join("null" if value is None else str(value) for value in field["enum"])
    kind = KINDS.get(_kind(field), "a value")
    low, high = field.get("minimum"), field.get("maximum")
    return kind + (f" from {low}" if low is not None else "") + (f" to {high}" if high is not None else "")


def _as_text(state: TurnState) -> str:
    lines = [f"{state.game_id} · {state.agent_id} · {state.phase}"]
    for name, value in state.game_state.items():
        if name in ("history", "action_history", "players") and isinstance(value, list):
            lines += [f"  {name}:", *(f"    {_row(row)}" for row in value)]
        elif name != "actions":
            lines.append(f"  {name}: {_row(value)}")
    lines += [f"  {message.sender_id}: {printable(message.content)}" for message in state.messages]
    lines += [f"{_usage(offer)}  ({offer.description})" for offer in state.allowed_actions]
    return "\n".join(lines)


def _row(value: Any) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{name} {_row(part)}" for name, part in value.items())
    return printable(" ".join(map(str, value)) if isinstance(value, list) else str(value))
