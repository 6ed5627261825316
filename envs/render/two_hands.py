"""The picture of a small card game for two: a card each, the chips, the moves, and a card on the table if there is one.

It is drawn from TurnState: ``my_card``, ``shown``, ``pot``, ``action_history``; and ``board``, where the game has one.
"""

from collections.abc import Mapping, Sequence

from ..core.turn_state import TurnState
from .svg import (
    COLOURS,
    FAINT,
    INK,
    LINE,
    PAPER,
    TURN,
    agents,
    box,
    document,
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


def two_hands(title: str, states: Sequence[TurnState], words: Mapping[str, str]) -> str:
    """Draw the table from `states` (see `Renderer.picture`).

    Args:
        title: the game's name.
        states: of one moment.
        words: the text of each action type.
    """
    first = states[0]
    game = first.game_state
    names = _players(states)
    cards = {state.agent_id: state.game_state["my_card"] for state in states if state.agent_id} | game["shown"]
    gains = {row["agent_id"]: row["utility"] for row in (first.outcome or {}).get("payoffs", ())}
    things = [
        text(24, 34, title, 20, bold=True),
        text(616, 34, f"pot {number(game['pot'])}", 14, anchor="end", bold=True),
        box(14, 50, 612, 300, FELT, round=16),
    ]
    board = game.get("board", ())
    if "board" in game:
        things.append(text(320, 128, "board", 12, fill=ON_FELT, anchor="middle"))
        things.append(_card(board[0], 320, 200) if board else _space(320, 200))
    for place, name in enumerate(names):
        x = 136 + 368 * place
        turn = name == first.current_turn_agent_id and not first.game_over
        own = len(states) == 1 and name == first.agent_id
        deeds = [row["action"] for row in game["action_history"] if row["agent_id"] == name]
        things += [
            _card(cards[name], x, 160) if name in cards else _hidden(x, 160),
            _plate(short(name, 16) + (" (you)" if own else ""), x, COLOURS[place], turn=turn),
            text(x, 292, words.get(deeds[-1], deeds[-1]) if deeds else "", 13, fill=ON_FELT, anchor="middle"),
            _gain(gains.get(name), x),
        ]
    news = _news(first)
    things += [text(24, 380, line, 12, fill=FAINT) for line in _history(first, words)]
    things += [text(24, 424, news, 14, bold=True), *speech(states, 444, 2)]
    return document(f"{title}: {news}", things)


def _players(states: Sequence[TurnState]) -> list[str]:
    """Return the name of the agent that acts first, and of the other one."""
    first = states[0]
    history = first.game_state["action_history"]
    opens = history[0]["agent_id"] if history else first.current_turn_agent_id or first.agent_id
    known = list(dict.fromkeys([opens, *agents(states)]))
    return known[:2] if len(known) > 1 else [*known, {"player_0": "player_1"}.get(known[0], "the other")]


def _history(state: TurnState, words: Mapping[str, str]) -> list[str]:
    """Return all moves in a line."""
    rows = state.game_state["action_history"]
    told = ", ".join(f"{short(row['agent_id'], 12)} {words.get(row['action'], row['action'])}" for row in rows)
    return [short(told, 96)]


def _news(state: TurnState) -> str:
    if not state.game_over:
        return f"{short(state.current_turn_agent_id, 24)} is to act"
    return "Over: " + {"showdown": "a showdown", "fold": "a fold"}.get(str((state.outcome or {}).get("reason")), "")


@remembered
def _card(rank: str, x: float, y: float) -> str:
    return group(
        box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, PAPER, round=8, stroke=INK),
        text(x, y + 17, rank, 48, anchor="middle", bold=True),
    )


@remembered
def _hidden(x: float, y: float) -> str:
    return box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, BACK, round=8, stroke=PAPER, thick=3)


@remembered
def _space(x: float, y: float) -> str:
    return box(x - WIDE / 2, y - TALL / 2, WIDE, TALL, "none", round=8, stroke=ON_FELT)


@remembered
def _plate(name: str, x: float, colour: str, *, turn: bool) -> str:
    return group(
        box(x - 88, 234, 176, 34, "#fff", round=7, stroke=TURN if turn else LINE, thick=3 if turn else 1),
        box(x - 88, 240, 5, 22, colour, round=2),
        text(x, 256, name, 13, anchor="middle", bold=True),
    )


@remembered
def _gain(won: float | None, x: float) -> str:
    return "" if won is None else text(x, 326, ("+" if won > 0 else "") + number(won), 18, fill="#fff", anchor="middle")
