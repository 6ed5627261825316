"""The type of a game's `game_state`: views and live tables build it, and JSON Schema and the games' pages show it.

`load` reads it with `GameState.of` where the game's protocol is its own. The games of the TurnState platforms read
field by field, because their hosts send fields of other kinds, which are left out.
"""

from collections.abc import Container, Mapping
from contextlib import suppress
from math import ceil, isfinite, log10
from typing import Any, Self, TypeVar

import msgspec

from .turn_state import TurnState, Wire

T = TypeVar("T")


class GameState(Wire):
    """What a seat sees of one game. A game's own type names the fields, each with its type and what it is `about`.

    A field that is left out where it is empty has the type ``… | UnsetType`` and the default `msgspec.UNSET`. Any other
    default is what is read where a host leaves the field out.
    """

    @classmethod
    def of(cls, state: TurnState) -> Self:
        """Read the `game_state` of a TurnState. Unknown fields are ignored; numbers may be text, or whole floats; null
        may stand for a field that may be left out.

        Raises:
            ValueError: if a field is missing or holds what cannot be; the error names it.
        """
        try:
            return msgspec.convert(state.game_state, cls, strict=False)
        except msgspec.ValidationError as error:
            first = error
        for nulls in (True, False):
            with suppress(msgspec.ValidationError):
                return msgspec.convert(_tidy(state.game_state, nulls), cls, strict=False)
        raise first


def or_else(value: T | msgspec.UnsetType, otherwise: T) -> T:
    """Return the value of a field, or `otherwise` where it was left out."""
    return otherwise if isinstance(value, msgspec.UnsetType) else value


def about(meaning: str) -> msgspec.Meta:
    """Return what JSON Schema and the games' pages say of a field: ``pot: Annotated[int, about("in chips")]``."""
    return msgspec.Meta(description=meaning)


def _tidy(value: Any, nulls: bool) -> Any:
    """Return plain data with whole floats as integers, and without `nulls` in objects."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _tidy(part, nulls) for key, part in value.items() if nulls or part is not None}
        case list() | tuple():
            return [_tidy(part, nulls) for part in value]
    return value


def as_dict(game_state: GameState | dict[str, Any]) -> dict[str, Any]:
    """Return the `game_state` of a view as plain dicts and lists; a view without a type returns such a dict."""
    return game_state.to_dict() if isinstance(game_state, GameState) else game_state


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
