"""Agent: an object that answers TurnStates, such as a policy, a person or a language model."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from ...envs.core.turn_state import Action, AgentResponse, TurnState

SEARCH_SHARE = 0.5
"""The share of the time for an answer that a search takes: the rest is for what lies around it."""


@runtime_checkable
class Agent(Protocol):
    """Plays one seat of one match at a time.

    An agent that plans may have a method ``set_seconds_left(seconds)``: it is called before `respond` with the time
    left for the answer, or None if there is no limit.
    """

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; called only if ``state.is_my_turn``."""


def search_seconds(most: float | None, left: float | None, share: float = SEARCH_SHARE) -> float | None:
    """Return how many seconds a search may take: at most `most`, and this share of those left; None: no limit."""
    limits = (most, None if left is None else share * left)
    return min((limit for limit in limits if limit is not None), default=None)


def thoughts(agent: Agent) -> dict[str, Any]:
    """Return an agent's notes on its latest answer, for logs: ``agent.thoughts()`` if it has this method, else {}.

    Replays show these keys: ``probabilities`` (of every legal answer, as `sentence` writes it), ``value`` (the expected
    return, in `Payoffs.unit`), ``think`` (text).
    """
    notes = getattr(agent, "thoughts", None)
    return dict(notes()) if callable(notes) else {}


def sentence(action: Action, written: Callable[[Any], str] | None = None) -> str:
    """Return an action as text: its type and the values of its payload that are not null.

    `written` converts a value to text; None: in full, and whole numbers without decimals.

    >>> sentence(Action("raiseTo", {"amount": 137}))
    'raiseTo 137'
    >>> sentence(Action("submit_offer", {"share": 96.0}))
    'submit_offer 96'
    """
    values = (value for value in action.payload.values() if value is not None)
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in values)
    return " ".join([action.action_type, *map(written or str, values if written else whole)])


def printable(text: str) -> str:
    """Return a text on one line, without control characters.

    >>> printable("Take\\nit \\x1b[2J")
    'Take it [2J'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
