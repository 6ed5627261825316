"""The picture of a small game for two: what each holds, the moves, and what lies between them.

It is drawn from TurnState: ``my_card``, ``pot``, and ``board`` where the game has one; or ``my_dice`` and
``current_bid``; ``shown`` and ``action_history``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..core.turn_state import TurnState
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


def cards_picture(title: str, words: Mapping[str, str], states: Sequence[TurnState]) -> str:
    """Draw a game with a card each from `states` (see `Renderer.picture`).

    Args:
        title: the game's name.
        words: the text of each action type.
        states: of one moment.
    """
    game = states[0].game_state
    cards = {state.agent_id: state.game_state["my_card"] for state in states if state.agent_id} | game["shown"]
    between = []
    if "board" in game:
        between.append(text(320, 128, "board", 22, fill=ON_FELT, anchor="middle"))
        between.append(_card(game["board"][0], 320, 200) if game["board"] else _space(320, 200))
    hands = {name: [_card(card, 0, 160)] for name, card in cards.items()}
    moves = [words.get(row["action"], row["action"]) for row in game["action_history"]]
    return _picture(title, f"pot {number(game['pot'])}", states, Hands(hands, [_hidden(0, 160)]), between, moves)


def dice_picture(title: str, states: Sequence[TurnState]) -> str:
    """Draw a game with dice each from `states` (see `Renderer.picture`)."""
    game = states[0].game_state
    dice = {state.agent_id: state.game_state["my_dice"] for state in states if state.agent_id} | game["shown"]
    bid = game["current_bid"]
    words, anchor = (f"{bid['quantity']} ×", "end") if bid else ("no bid yet", "middle")
    between = [text(320, 98, words, 22, fill=ON_FELT, anchor=anchor), _die(bid["face"], 330, 70) if bid else ""]
    hands = {name: _dice(faces) for name, faces in dice.items()}
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
    names = _players(states)
    by = [row["agent_id"] for row in first.game_state["action_history"]]
    gains = {row["agent_id"]: row["utility"] for row in (first.outcome or {}).get("payoffs", ())}
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
    news = _news(first)
    things += [text(24, 380, short(history, 96), 12, fill=FAINT)]
    things += [text(24, 424, news, 14, bold=True), *speech(states, 444, 2)]
    return document(f"{title}: {news}", things)


def _players(states: Sequence[TurnState]) -> list[str]:
    """Return the name of the agent that acts first, and of the other one."""
    first = states[0]
    history = first.game_state["action_history"]
    opens = history[0]["agent_id"] if history else first.current_turn_agent_id or first.agent_id
    names = list(dict.fromkeys([opens, *agents(states)]))
    return names[:2] if len(names) > 1 else [*names, {"player_0": "player_1"}.get(names[0], "the other")]


def _news(state: TurnState) -> str:
    if not state.game_over:
        return f"{short(state.current_turn_agent_id, 24)} is to act"
    return f"Over: {ENDS.get(str((state.outcome or {}).get('reason')), '')}"


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
