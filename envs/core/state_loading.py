"""Reading TurnStates that other hosts wrote: numbers as text, rows of unknown kinds, agents of any names."""

from collections.abc import Container, Mapping
from math import ceil, isfinite
from typing import Any

from .turn_state import TurnState


def amount(value: Any, name: str) -> float:
    """Return a finite number; text that holds one is read.

    Raises:
        ValueError: naming the field, if it holds anything else.
    """
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"{name} is {value!r:.80}, which is no number")
    return number


def moves_in(history: Any, kinds: Container[str], phase: str) -> list[Mapping[str, Any]]:
    """Return the rows of an ``action_history`` that are moves of the game.

    A host may add rows of other kinds (``message_only``), rows that did not move the turn (``advances_turn`` is
    false), and rows of another phase of its match. None of them is a move here.

    Args:
        history: the list; None or anything else holds no rows.
        kinds: the values of ``action`` that are moves.
        phase: of the match; rows that name another one are left out.
    """
    if not isinstance(history, list):
        return []
    return [
        row
        for row in history
        if isinstance(row, Mapping)
        and isinstance(row.get("agent_id"), str)
        and isinstance(row.get("action"), str)
        and row["action"] in kinds
        and row.get("advances_turn") is not False
        and row.get("phase", phase) == phase
    ]


def round_of(row: Mapping[str, Any]) -> int:
    """Return the round of a row, counted from 0 or from 1 as in the row; −1 if there is none that can be."""
    number = row.get("round")
    return number if isinstance(number, int) and 0 <= number < 2**30 else -1


def named_order(state: TurnState) -> list[str]:
    """Return the agents in seat order, if the host sends it as ``agent_ids``; else an empty list."""
    order = state.game_state.get("agent_ids")
    if isinstance(order, list) and state.agent_id in order and all(isinstance(one, str) for one in order):
        return order
    return []


def own_turns_left(state: TurnState, seats: int) -> int | None:
    """Return how many turns the agent has before the host ends the match, this one included; None: it does not say.

    A host may end a match after ``max_rounds`` turns of all agents together, and count this one as ``current_round``,
    from 1. A game ends without a result there, however many turns its own rules would allow.

    Args:
        state: the state, in a turn of the agent.
        seats: the number of agents, if the state tells neither ``num_agents`` nor ``agent_ids``.
    """
    game = state.game_state
    current, most = game.get("current_round"), game.get("max_rounds")
    if not state.is_my_turn or current is None or most is None:
        return None
    count = game.get("num_agents")
    agents = count if isinstance(count, int) and count > 0 else len(named_order(state)) or seats
    left = amount(most, "max_rounds") - amount(current, "current_round") + 1
    return max(1, ceil(left / agents))


def payoffs_in(state: TurnState) -> list[tuple[str, float]]:
    """Return the agents with their utilities, as the outcome lists them."""
    rows = (state.outcome or {}).get("payoffs")
    return [
        (row["agent_id"], amount(row.get("utility", 0.0), "utility"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and isinstance(row.get("agent_id"), str)
    ]
