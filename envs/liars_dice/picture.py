"""The round as a picture: both players with their dice, open or covered, and the bids in order."""

from collections.abc import Sequence
from typing import Any

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

SIDE, ROOM = 46.0, 54.0
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


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    names = _players(states)
    dice = {state.agent_id: state.game_state["my_dice"] for state in states if state.agent_id} | game["shown"]
    gains = {row["agent_id"]: row["utility"] for row in (first.outcome or {}).get("payoffs", ())}
    bid = game["current_bid"]
    things = [
        text(24, 34, "Liar's dice", 20, bold=True),
        text(616, 34, f"{game['faces']} counts as every face" if game["wild"] else "", 13, fill=FAINT, anchor="end"),
        text(320, 232, f"{bid['quantity']} ×" if bid else "no bid yet", 22, anchor="end" if bid else "middle"),
        _die(bid["face"], 330, 202) if bid else "",
    ]
    for place, name in enumerate(names):
        y = 60 + 212 * place
        turn = name == first.current_turn_agent_id and not first.game_over
        own = len(states) == 1 and name == first.agent_id
        faces = dice.get(name, [0] * drawn(game["dice"], "dice"))
        things.append(_frame(short(name, 24) + (" (you)" if own else ""), y, COLOURS[place], turn=turn))
        things += [_die(face, 220 + ROOM * k, y + 26) for k, face in enumerate(faces)]
        things.append(_gain(gains.get(name), y))
    things += [text(24, 398, _history(game), 12, fill=FAINT), text(24, 424, _news(first), 14, bold=True)]
    return document(f"Liar's dice: {_news(first)}", [*things, *speech(states, 444, 2)])


def _players(states: Sequence[TurnState]) -> list[str]:
    """Return the name of the agent that acts first, and of the other one."""
    first = states[0]
    history = first.game_state["action_history"]
    opens = history[0]["agent_id"] if history else first.current_turn_agent_id or first.agent_id
    known = list(dict.fromkeys([opens, *agents(states)]))
    return known[:2] if len(known) > 1 else [*known, {"player_0": "player_1"}.get(known[0], "the other")]


def _history(game: Any) -> str:
    """Return the latest bids in a line."""
    bids = [f"{row['quantity']}×{row['face']}" for row in game["action_history"] if row["action"] == "bid"]
    return "bids: " + ", ".join(bids if len(bids) <= 16 else ["…", *bids[-16:]]) if bids else ""


def _news(state: TurnState) -> str:
    if not state.game_over:
        return f"{short(state.current_turn_agent_id, 24)} is to bid or to challenge"
    end = state.outcome or {}
    held = {"bid_held": "the bid holds", "bid_failed": "the bid was a lie"}.get(str(end.get("reason")), "")
    return f"Over: {held}"


@remembered
def _frame(name: str, y: float, colour: str, *, turn: bool) -> str:
    return group(
        box(14, y, 612, 98, "#fff", round=8, stroke=TURN if turn else LINE, thick=3 if turn else 1),
        box(24, y + 30, 5, 38, colour, round=2),
        text(38, y + 54, name, 14, bold=True),
    )


@remembered
def _die(face: int, x: float, y: float) -> str:
    """Return a die from its upper left corner; one of face 0 is covered."""
    middle = x + SIDE / 2, y + SIDE / 2
    if not face:
        return group(
            box(x, y, SIDE, SIDE, COVER, round=8),
            text(middle[0], middle[1] + 8, "?", 22, fill=PAPER, anchor="middle", bold=True),
        )
    pips = [disc(middle[0] + 12 * right, middle[1] + 12 * down, 4.2, INK) for right, down in PIPS[face]]
    return group(box(x, y, SIDE, SIDE, PAPER, round=8, stroke=INK, thick=1.5), *pips)


@remembered
def _gain(won: float | None, y: float) -> str:
    if won is None:
        return ""
    words, fill = ("+" if won > 0 else "") + number(won), "#2f7d4f" if won > 0 else "#b3362b"
    return text(606, y + 56, words, 20, fill=fill, anchor="end", bold=True)
