"""What the small games share: two seats that act in turn, what they hold in secret, and an end that sums to zero.

The record of each has ``rewards``, ``log``, ``turn`` and ``done``. Seat 0 acts first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Struct

from ..core.compiled import compiled
from ..core.encoder import Slice, per_seat, shares
from ..core.record import Tables
from ..core.turn_state import TurnState, about, payoffs_in
from ..render.svg import (
    COLOURS,
    FAINT,
    INK,
    LINE,
    PAPER,
    TURN,
    agents,
    box,
    disc,
    document,
    drawn,
    group,
    number,
    remembered,
    short,
    speech,
    text,
)

SEATS = 2
AGENTS = ("player_0", "player_1")

TURN_SLICES = [
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
    """Return the slices of the full encoder beside those of version 0: the other's card."""
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


# Text and pictures.


def held(states: Sequence[TurnState], field: str) -> dict[str, Any]:
    """Return what each agent holds, as far as `states` tell: by its own `field`, or shown at the end."""
    own = {state.agent_id: state.game_state[field] for state in states if state.agent_id}
    return own | states[0].game_state["shown"]


def lines(
    title: str, states: Sequence[TurnState], details: Callable[[str], str], moves: Sequence[str] = (), why: bool = True
) -> str:
    """Return a game as lines of text: a title, the `details` of each agent, the moves, and the winnings at the end,
    with the reason if `why` is true."""
    first = states[0]
    rows = [
        f"{'>' if name == first.current_turn_agent_id else ' '} {name}  {details(name)}".rstrip()
        for name in players(states)
    ]
    rows += [f"  {move}" for move in moves]
    if first.outcome is not None:
        gains = ", ".join(f"{name} {won:+g}" for name, won in payoffs_in(first))
        rows.append(f"over: {first.outcome['reason'] + '; ' if why else ''}{gains}")
    return "\n".join([title, *rows])


FELT, BACK, ON_FELT = "#2c6e5a", "#3b5b8c", "#f3f1e6"
WIDE, TALL = 78.0, 108.0
"""A card."""
SIDE, ROOM = 40.0, 46.0
"""A die, and the room that it takes."""
COVER = "#6d4c33"
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    5: [(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
    6: [(-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)],
}
"""Where the pips of a face are, from the middle of the die."""
ENDS = {
    "showdown": "a showdown",
    "fold": "a fold",
    "bid_held": "the bid holds",
    "bid_failed": "the bid was a lie",
}
"""The reasons of an outcome in words."""


def cards_picture(title: str, said: Callable[[list[str]], list[str]], states: Sequence[TurnState]) -> str:
    """Draw a game with a card each from `states` (see `Renderer.picture`).

    Args:
        title: the game's name.
        said: returns what players say for the action types of a history.
        states: of one moment.
    """
    game = states[0].game_state
    between = []
    if "board" in game:
        between.append(text(320, 128, "board", 22, fill=ON_FELT, anchor="middle"))
        between.append(_card(game["board"][0], 320, 200) if game["board"] else _space(320, 200))
    hands = {name: [_card(card, 0, 160)] for name, card in held(states, "my_card").items()}
    kinds = said([row["action"] for row in game["action_history"]])
    moves = [f"{kind}{'es' if kind.endswith('s') else 's'}" for kind in kinds]
    return _picture(title, f"pot {number(game['pot'])}", states, Hands(hands, [_hidden(0, 160)]), between, moves)


def dice_picture(title: str, states: Sequence[TurnState]) -> str:
    """Draw a game with dice each from `states` (see `Renderer.picture`)."""
    game = states[0].game_state
    bid = game["current_bid"]
    words, anchor = (f"{bid['quantity']} ×", "end") if bid else ("no bid yet", "middle")
    between = [text(320, 98, words, 22, fill=ON_FELT, anchor=anchor), _die(bid["face"], 330, 70) if bid else ""]
    hands = {name: _dice(faces) for name, faces in held(states, "my_dice").items()}
    moves = [
        f"{row['quantity']} × {row['face']}" if row["action"] == "bid" else "liar" for row in game["action_history"]
    ]
    terms = f"{game['faces']} counts as every face" if game["wild"] else ""
    return _picture(title, terms, states, Hands(hands, _dice([0] * drawn(game["dice"], "dice"))), between, moves)


class Hands(NamedTuple):
    """What the players hold, drawn around x = 0: `known` by name, and the drawing of what is `hidden`."""

    known: Mapping[str, list[str]]
    hidden: list[str]


def _picture(
    title: str, terms: str, states: Sequence[TurnState], hands: Hands, between: list[str], moves: list[str]
) -> str:
    first = states[0]
    names = players(states)
    by = [row["agent_id"] for row in first.game_state["action_history"]]
    gains = dict(payoffs_in(first))
    things = [
        text(24, 36, title, 22, bold=True),
        text(616, 36, terms, 22, anchor="end", bold=True),
        box(14, 50, 612, 300, FELT, round=16),
        *between,
    ]
    for place, name in enumerate(names):
        x = 136 + 368 * place
        turn = name == first.current_turn_agent_id and not first.game_over
        own = len(states) == 1 and name == first.agent_id
        latest = [move for agent, move in zip(by, moves, strict=True) if agent == name][-1:]
        things += [
            group(*hands.known.get(name, hands.hidden), at=(x, 0)),
            _plate(short(name, 12) + (" (you)" if own else ""), x, COLOURS[place], turn=turn),
            text(x, 298, "".join(latest), 22, fill=ON_FELT, anchor="middle"),
            _gain(gains.get(name), x),
        ]
    history = ", ".join(f"{short(agent, 12)} {move}" for agent, move in zip(by, moves, strict=True))
    news = f"{short(first.current_turn_agent_id, 24)} is to act"
    if first.game_over:
        news = f"Over: {ENDS.get(str((first.outcome or {}).get('reason')), '')}"
    things += [text(24, 380, short(history, 96), 12, fill=FAINT)]
    things += [text(24, 424, news, 14, bold=True), *speech(states, 444, 2)]
    return document(f"{title}: {news}", things)


def players(states: Sequence[TurnState]) -> list[str]:
    """Return the name of the agent that acts first, and of the other one."""
    first = states[0]
    history = first.game_state["action_history"]
    opens = history[0]["agent_id"] if history else first.current_turn_agent_id or first.agent_id
    names = list(dict.fromkeys([opens, *agents(states)]))
    return names[:2] if len(names) > 1 else [*names, {"player_0": "player_1"}.get(names[0], "the other")]


@remembered
def _card(rank: str, x: float, y: float) -> str:
    return group(
        box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, PAPER, round=8, stroke=INK),
        text(x, y + 17, rank, 48, anchor="middle", bold=True),
    )


def _dice(faces: Sequence[int]) -> list[str]:
    """Return dice side by side around x = 0."""
    return [_die(face, ROOM * (k - len(faces) / 2), 137) for k, face in enumerate(faces)]


@remembered
def _die(face: int, x: float, y: float) -> str:
    """Return a die from its upper left corner; one of face 0 is covered."""
    middle = x + SIDE / 2, y + SIDE / 2
    if not face:
        return group(
            box(x, y, SIDE, SIDE, COVER, round=8),
            text(middle[0], middle[1] + 8, "?", 22, fill=PAPER, anchor="middle", bold=True),
        )
    pips = [disc(middle[0] + 11 * right, middle[1] + 11 * down, 3.8, INK) for right, down in PIPS[face]]
    return group(box(x, y, SIDE, SIDE, PAPER, round=8, stroke=INK, thick=1.5), *pips)


@remembered
def _hidden(x: float, y: float) -> str:
    return box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, BACK, round=8, stroke=PAPER, thick=3)


@remembered
def _space(x: float, y: float) -> str:
    return box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, "none", round=8, stroke=ON_FELT)


@remembered
def _plate(name: str, x: float, colour: str, *, turn: bool) -> str:
    return group(
        box(x - 118, 230, 236, 40, "#fff", round=7, stroke=TURN if turn else LINE, thick=3 if turn else 1),
        box(x - 118, 237, 5, 26, colour, round=2),
        text(x, 258, name, 22, anchor="middle", bold=True),
    )


@remembered
def _gain(won: float | None, x: float) -> str:
    return "" if won is None else text(x, 336, ("+" if won > 0 else "") + number(won), 26, fill="#fff", anchor="middle")
