"""Reading TurnStates that other hosts wrote: numbers as text, rows of unknown kinds, agents of any names."""

from collections.abc import Container, Mapping
from math import ceil, isfinite, log10
from typing import Any

from .turn_state import TurnState

MOST_POWER = 3
"""A highest number that is larger by a higher power of ten is a mere formality, and no size."""
ROUNDING = 1e-9


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


def offered_size(state: TurnState, numbers: Mapping[str, tuple[str, float]]) -> float | None:
    """Return the power of ten by which the amounts that are offered are larger than a game's own; None: it is not told.

    Args:
        state: the state; a host may offer a part of the range, so that only the power counts.
        numbers: by action type the key of its number, and the highest one of the game's own size.
    """
    for offer in state.allowed_actions:
        key, highest = numbers.get(offer.action_type, ("", 0.0))
        schema = offer.payload_schema
        properties = schema.get("properties", schema)
        part = properties.get(key) if isinstance(properties, Mapping) else None
        most = part.get("maximum") if isinstance(part, Mapping) else None
        if isinstance(most, int | float) and isfinite(most) and most > 0 and highest > 0:
            power = round(log10(most / highest))
            return 10.0**power if abs(power) <= MOST_POWER else None
    return None


def fitting_size(state: TurnState, size: float | None, largest: float, step: float) -> float:
    """Return the power of ten by which a host's amounts are larger than a game's own, so that those of a state fit.

    Args:
        state: the state.
        size: by what was offered (`offered_size`).
        largest: the largest amount of the state, as a share of the highest one of the game's own size.
        step: the least step between amounts, as such a share.
    """
    share = largest / (size or 1.0)
    if share > 1 + ROUNDING or (size is None and state.allowed_actions and 0 < share < step):
        return (size or 1.0) * 10.0 ** ceil(log10(share) - ROUNDING)
    return size or 1.0


def payoffs_in(state: TurnState) -> list[tuple[str, float]]:
    """Return the agents with their utilities, as the outcome lists them."""
    rows = (state.outcome or {}).get("payoffs")
    return [
        (row["agent_id"], amount(row.get("utility", 0.0), "utility"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and isinstance(row.get("agent_id"), str)
    ]
