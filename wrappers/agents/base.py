"""Agent: sees TurnStates and answers them. A policy, a bot, a person, a language model."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from ...envs.core.turn_state import Action, AgentResponse, TurnState


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


def printable(text: str) -> str:
    """Return a text on one line, without what would steer a terminal.

    >>> printable("Take\\nit \\x1b[2J")
    'Take it [2J'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
