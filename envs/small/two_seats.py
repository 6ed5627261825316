"""What the small games share: two seats that act in turn, what they hold in secret, and an end that sums to zero.

The record of each has ``rewards``, ``log``, ``turn`` and ``done``. Seat 0 acts first.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Struct

from ..core.compiled import compiled
from ..core.game_state import about
from ..core.layout import Slice, per_seat, shares
from ..core.record import Tables
from ..core.turn_state import TurnState

SEATS = 2
AGENTS = ("player_0", "player_1")

TURN = [
    shares("is_my_turn", (1,), "whether the observer decides next"),
    per_seat("current_turn_agent_id", 2, "one-hot by relative seat; all 0 when it is over"),
]


def own_card(ranks: tuple[str, ...]) -> Slice:
    """Return the slice of the observer's card."""
    return shares("game_state.my_card", (len(ranks),), f"own card, one-hot: {', '.join(ranks)}", axes=(ranks,))


def shown_card(ranks: tuple[str, ...]) -> Slice:
    """Return the slice of the other's card after a showdown."""
    return shares("game_state.shown", (len(ranks),), "the other's card, one-hot, after a showdown", axes=(ranks,))


def hidden_card(ranks: tuple[str, ...]) -> list[Slice]:
    """Return what the full encoder shows beside version 0: the other's card."""
    return [shares("hidden.card", (len(ranks),), "the other's card, one-hot", axes=(ranks,))]


@compiled
def write_turn(table: Any, seat: int, at: Any, out: Any) -> None:
    """Clear `out` and write whose turn it is. Seats are counted from the observer: 0 is itself."""
    out[:] = 0
    out[at.agent_id] = seat == 0
    out[at.is_my_turn] = table.turn == seat
    out[at.current_turn_agent_id] = table.turn == seat
    out[at.current_turn_agent_id + 1] = table.turn == 1 - seat


@compiled
def write_end(table: Any, seat: int, at: Any, out: Any, unit: float) -> None:
    """Write the end, the payoffs as a share of `unit`."""
    if table.done:
        out[at.game_over] = 1
        out[at.outcome_payoffs] = table.rewards[seat] / unit
        out[at.outcome_payoffs + 1] = table.rewards[1 - seat] / unit


@compiled
def write_cards(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the own card, and the other's after a showdown."""
    if table.card[seat] >= 0:
        out[at.my_card + table.card[seat]] = 1
    if table.showdown:
        out[at.shown + table.card[1 - seat]] = 1


@compiled
def write_hidden_card(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the other's card."""
    if table.card[1 - seat] >= 0:
        out[at.hidden_card + table.card[1 - seat]] = 1


def hand(table: Any, seat: int) -> int:
    """Return a seat's card, as a number of its private hand."""
    return int(table.card[seat])


def no_event(table: Any) -> int:
    """Tell that no public random event comes."""
    return -1


@compiled
def clear(table: Any) -> None:
    """Begin an episode in which nothing has happened yet, and no seat has the turn."""
    table.rewards[:] = 0
    table.log[:] = 0
    table.turn = -1
    table.done = False


@compiled
def finish(table: Any, winner: int, won: float) -> None:
    """End the episode: `winner` gets what the other loses."""
    table.rewards[winner] = won
    table.rewards[1 - winner] = -won
    table.turn = -1
    table.done = True


# TurnState.


class Move(Struct):
    """A move."""

    agent_id: Annotated[str, about("whose move")]
    action: Annotated[str, about("the action type")]


def shown_cards(table: Any, ranks: tuple[str, ...]) -> dict[str, str]:
    """Return the cards of a showdown by agent; empty without one."""
    return {name: ranks[table.card[seat]] for seat, name in enumerate(AGENTS)} if table.showdown else {}


def payoffs(table: Any) -> list[dict[str, Any]]:
    """Return both utilities, as an outcome has them."""
    return [{"agent_id": name, "utility": float(table.rewards[seat])} for seat, name in enumerate(AGENTS)]


def outcome_of_cards(table: Any, seat: int) -> dict[str, Any]:
    """Return the end: both utilities, and how it ended."""
    return {"payoffs": payoffs(table), "reason": "showdown" if table.showdown else "fold"}


def begun(blank: Tables, state: TurnState, history: Sequence[Move]) -> tuple[Tables, int, str | None]:
    """Return a new record at its first decision, the seat of `state` in it, and the name of the agent in seat 0.

    Agents may have any names: the one that acts first is seat 0.
    """
    first = history[0].agent_id if history else state.current_turn_agent_id
    tables = blank.copy().view(np.recarray)
    tables[0].turn = 0
    return tables, 0 if state.agent_id == first else 1, first


def load_cards(table: Any, seat: int, first: str | None, game: Any, ranks: tuple[str, ...]) -> None:
    """Write the own card and the shown ones of a `game_state`."""
    table.card[seat] = ranks.index(game.my_card)
    for agent, card in game.shown.items():
        table.card[0 if agent == first else 1] = ranks.index(card)


def redraw_stream(table: Any, generator: np.random.Generator) -> None:
    """Draw the record's stream again, which nobody knows."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)


# Text.


def seat_line(table: Any, seat: int, held: str, told: str = "") -> str:
    """Return a seat's line: whether it has the turn, its name, and what it holds."""
    return f"{'>' if table.turn == seat else ' '} {AGENTS[seat]}  {held}  {told}".rstrip()


def card_text(table: Any, of: int, seat: int | None, ranks: tuple[str, ...]) -> str:
    """Return the card of seat `of` as `seat` sees it; None sees all."""
    return ranks[table.card[of]] if table.showdown or seat in (None, of) else "?"


def gains(table: Any) -> str:
    """Return what both have won as text."""
    return ", ".join(f"{name} {float(table.rewards[seat]):+g}" for seat, name in enumerate(AGENTS))


def end_lines(table: Any) -> list[str]:
    """Return the line of the end of a game with cards; none before."""
    return [f"over: {'showdown' if table.showdown else 'fold'}; {gains(table)}"] if table.done else []
