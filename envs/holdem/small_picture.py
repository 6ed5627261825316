"""The table as a picture for a narrow screen: larger names, chips and cards, and nothing that a page says beside it.

The parts are those of `picture`. A screen of 390 pixels shows text of at least 12 pixels.
"""

from collections.abc import Mapping, Sequence
from math import copysign, cos, pi, sin
from typing import Any

from ..core.turn_state import TurnState
from ..render.svg import COLOURS, FAINT, INK, PAPER, TURN, box, disc, document, group, remembered, short, text
from .picture import (
    FELT,
    ON_FELT,
    RIM,
    TAG,
    back,
    bottom_index,
    card,
    chips_text,
    hands_of,
    last_acted,
    pot_text,
    tags_of,
)

Row = Mapping[str, Any]

CENTRE = 320.0, 246.0
ACROSS, DOWN = 252.0, 176.0
"""From the centre to the seats."""
SQUARE = 2 / 3
"""The exponent of the ring of seats: between an ellipse (1) and a rectangle (0), so that ten plates have room."""
ROOM = 7
"""Characters of a name."""


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    players: list[Row] = game["players"]
    base = bottom_index(states)
    hands, _ = hands_of(states)
    tags = tags_of(first)
    board = game["board"]
    things = [
        f'<ellipse cx="{CENTRE[0]:g}" cy="{CENTRE[1]:g}" rx="236" ry="150" fill="{RIM}"/>',
        f'<ellipse cx="{CENTRE[0]:g}" cy="{CENTRE[1]:g}" rx="226" ry="140" fill="{FELT}"/>',
        text(CENTRE[0], 204, pot_text(game), 22, fill=ON_FELT, anchor="middle", bold=True),
    ]
    things += [card(board[i], 191 + 53 * i, 214, 48, 66) if i < len(board) else "" for i in range(5)]
    angles = [pi / 2 + 2 * pi * ((i - base) % len(players)) / len(players) for i in range(len(players))]
    for player, angle in zip(players, angles, strict=True):
        seat, gone = player["seat"], player["stack"] + player["committed"] == 0
        folded = bool(player.get("folded"))
        turn = not first.game_over and game["turn"] == seat
        own = len(states) == 1 and game["seat"] == seat
        x, y = _at(angle, 1.0)
        if seat in hands:
            wide, tall = (44, 62 if own else 50)
            left = x - wide - 1
            things += [
                card(name, left + (wide + 2) * i, y - 20 - tall, wide, tall) for i, name in enumerate(hands[seat])
            ]
        elif game["hand"] > 0 and not gone and not folded:
            things += [back(x - 35 + 36 * i, y - 67, 34, 47) for i in range(2)]
        chips = "no chips" if gone else chips_text(player["stack"])
        faint = (folded or gone) and not turn
        things.append(_plate(seat, player["name"] or f"seat {seat}", chips, x, y, turn=turn, own=own, faint=faint))
        things.append(_tag(tags.get(seat, ""), x, y + 39, bright=last_acted(first, seat)))
    for player, angle in zip(players, angles, strict=True):
        things.append(_bet(player["bet"], angle))
        things.append(_button(angle) if game["dealer"] == player["seat"] else "")
    return document(f"Hold'em, {game['phase']}: board {' '.join(board) or 'empty'}, {pot_text(game)}", things)


@remembered
def _at(angle: float, part: float) -> tuple[float, float]:
    """Return the point at a part of the way from the centre to the ring of seats."""
    x, y = (copysign(abs(one) ** SQUARE, one) for one in (cos(angle), sin(angle)))
    return CENTRE[0] + part * ACROSS * x, CENTRE[1] + part * DOWN * y


@remembered
def _plate(seat: int, name: str, chips: str, x: float, y: float, *, turn: bool, own: bool, faint: bool) -> str:
    return group(
        box(-61, -30, 122, 60, TURN, round=10) if turn else "",
        box(-58, -27, 116, 54, "#fff", round=8, stroke=INK if own else "#b9b5a8", thick=2 if own else 1),
        box(-58, -17, 6, 34, COLOURS[seat % len(COLOURS)], round=2),
        text(3, -4, short(name, ROOM), 22, anchor="middle", bold=True),
        text(3, 20, chips, 22, fill=FAINT, anchor="middle"),
        at=(x, y),
        opacity=0.5 if faint else 1,
    )


@remembered
def _tag(words: str, x: float, y: float, *, bright: bool) -> str:
    """Return a seat's last action, below its plate."""
    if not words:
        return ""
    width = 16 + 11 * len(words)
    x = min(max(x, width / 2 + 2), 638 - width / 2)
    return group(
        box(-width / 2, -12, width, 25, INK if bright else TAG, round=11),
        text(0, 8, words, 22, fill=PAPER if bright else INK, anchor="middle"),
        at=(x, y),
    )


@remembered
def _bet(chips: int, angle: float) -> str:
    if not chips:
        return ""
    x, y = _at(angle, 0.52)
    return group(
        disc(0, 0, 9, "#d9534f", stroke="#fff", thick=1.5),
        text(13, 8, chips_text(chips), 22, fill=ON_FELT, bold=True),
        at=(x - 8 - 5 * len(chips_text(chips)), y),
    )


@remembered
def _button(angle: float) -> str:
    x, y = _at(angle + 0.3, 0.72)
    return group(disc(0, 0, 14, "#fff", stroke=INK), text(0, 8, "D", 22, anchor="middle", bold=True), at=(x, y))
