"""The table as a picture: seats around the felt, stacks, bets, cards, board, button, last actions, pot.

The observer's seat is at the bottom; in the public view and the view of everything, seat 0 is.
"""

from collections.abc import Mapping, Sequence
from math import copysign, cos, pi, sin
from typing import Any

from ..core.turn_state import TurnState, payoffs_in
from ..render.svg import (
    COLOURS,
    FAINT,
    INK,
    PAPER,
    TURN,
    WIDTH,
    box,
    disc,
    document,
    group,
    number,
    remembered,
    short,
    text,
)

Row = Mapping[str, Any]

CENTRE = 320.0, 246.0
FELT, RIM, ON_FELT, TAG = "#2c6e5a", "#4a3529", "#f3f1e6", "#e7e3d6"
FOLDED = "#f3d9d5", "#8c2f2a"
BACK, RED, BLACK = "#3b5b8c", "#c0272d", "#1c1f24"
SUITS = {
    "s": "M12 1.5C12 1.5 3 9 3 14.2c0 2.6 2 4.3 4.2 4.3 1.5 0 2.8-.7 3.7-1.9-.1 2-.9 3.9-2.4 5.4h7c"
    "-1.5-1.5-2.3-3.4-2.4-5.4.9 1.2 2.2 1.9 3.7 1.9 2.2 0 4.2-1.7 4.2-4.3C21 9 12 1.5 12 1.5z",
    "h": "M12 21.5C5 15.5 2 11.8 2 7.8 2 4.6 4.5 2.5 7.2 2.5c2 0 3.8 1.1 4.8 3 1-1.9 2.8-3 4.8-3C19.5 2.5 22 "
    "4.6 22 7.8c0 4-3 7.7-10 13.7z",
    "d": "M12 1.5 20 12 12 22.5 4 12z",
    "c": "M12 2a4.6 4.6 0 0 0-3.9 7A4.6 4.6 0 1 0 10.9 16c-.1 2.3-.9 4.4-2.4 6h7c-1.5-1.6-2.3-3.7-2.4-6A4.6 4.6 0 1 "
    "0 15.9 9 4.6 4.6 0 0 0 12 2z",
}
"""Outlines of the suits in a square of 24: no font is needed."""


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    players: list[Row] = game["players"]
    base = bottom_index(states)
    hands, ranks = hands_of(states)
    tags = tags_of(first)
    things = [
        f'<ellipse cx="{CENTRE[0]:g}" cy="{CENTRE[1]:g}" rx="238" ry="134" fill="{RIM}"/>',
        f'<ellipse cx="{CENTRE[0]:g}" cy="{CENTRE[1]:g}" rx="228" ry="124" fill="{FELT}"/>',
        text(12, 20, _title(game), 12, fill=FAINT),
        text(628, 20, _stakes(game), 12, fill=FAINT, anchor="end"),
        text(*_at(-pi / 2, 0, 52), pot_text(game), 15, fill=ON_FELT, anchor="middle", bold=True),
    ]
    board = game["board"]
    things += [card(board[i], 199 + 49 * i, 212, 46, 64) if i < len(board) else _space(199 + 49 * i) for i in range(5)]
    angles = [pi / 2 + 2 * pi * ((i - base) % len(players)) / len(players) for i in range(len(players))]
    places = [_at(angle, 256, 178) for angle in angles]
    for player, (x, y) in zip(players, places, strict=True):  # bets first, so that a wide one does not cover a card
        things.append(_pill(ranks.get(player["seat"], ""), x, y + 47, PAPER, FAINT))
    for player, angle, (x, y) in zip(players, angles, places, strict=True):
        seat, stack, folded = player["seat"], player["stack"], player.get("folded", False)
        things.append(_bet(player["bet"], angle))
        things.append(_button(angle) if game["dealer"] == seat else "")
        chips = stack + player["committed"]
        things += _cards(hands.get(seat), x, y, folded=folded, dealt=game["hand"] > 0 and chips > 0)
        turn = not first.game_over and game["turn"] == seat
        own = len(states) == 1 and game["seat"] == seat
        things += _plate(seat, player["name"], stack, x, y, turn=turn, own=own, folded=folded, gone=chips == 0)
        colours = FOLDED if tags.get(seat) == "fold" else (INK, PAPER) if last_acted(first, seat) else (TAG, INK)
        things.append(_pill(tags.get(seat, ""), x, y + 31, *colours))
    things.append(text(12, 468, _footer(first, own=len(states) == 1), 12, bold=True))
    things.append(text(628, 468, _result(first), 12, anchor="end", bold=True))
    return document(f"Hold'em, {game['phase']}: board {' '.join(board) or 'empty'}, {pot_text(game)}", things)


@remembered
def _at(angle: float, across: float, down: float) -> tuple[float, float]:
    return CENTRE[0] + across * cos(angle), CENTRE[1] + down * sin(angle)


def pot_text(game: Row) -> str:
    """Return the label of the pot; after a hand on a live table it is paid out, and none stands there."""
    return f"pot {chips_text(game['pot'])}" if game["pot"] else ""


def _title(game: Row) -> str:
    hand, hands = game["hand"], game["hands"]
    which = f" · hand {hand} of {hands}" if hands > 1 else f" · hand {hand}" if hand > 1 else ""
    return f"Hold'em{which} · {game['phase']}"


def _stakes(game: Row) -> str:
    """Return blinds and ante, with the sign of the currency where hands for money are replayed."""
    sign, ante = game.get("currency", ""), game.get("ante")
    stakes = f"blinds {sign}{chips_text(game['smallBlind'])}/{sign}{chips_text(game['bigBlind'])}"
    return stakes + (f", ante {sign}{chips_text(ante)}" if ante else "")


def chips_text(amount: float) -> str:
    """Return an amount as text: whole chips, or money with its cents.

    >>> chips_text(1200), chips_text(3.5)
    ('1,200', '3.50')
    """
    return f"{amount:,.2f}".replace("-", "−") if amount % 1 and round(amount, 2) == amount else number(amount)


def bottom_index(states: Sequence[TurnState]) -> int:
    """Return the index of the player who is drawn at the bottom."""
    game = states[0].game_state
    bottom = game["seat"] if len(states) == 1 and game["seat"] is not None else 0
    return next((i for i, player in enumerate(game["players"]) if player["seat"] == bottom), 0)


def hands_of(states: Sequence[TurnState]) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return the cards of every seat whose cards are in `states`, and the hand rank of the seats still in the hand."""
    hands: dict[int, list[str]] = {}
    ranks: dict[int, str] = {}
    out = {player["seat"] for player in states[0].game_state["players"] if player.get("folded")}
    for state in states:
        shown = (state.outcome or {}).get("results", ())
        for row in (*state.game_state["players"], *shown):
            if row.get("cards"):
                hands[row["seat"]] = row["cards"]
            if row.get("rank") and state.game_state["board"] and row["seat"] not in out:
                ranks[row["seat"]] = row["rank"]
    return hands, ranks


def tags_of(state: TurnState) -> dict[int, str]:
    """Return each seat's last action on this street; at the end its winnings."""
    game = state.game_state
    tags: dict[int, str] = {}
    opened = game["phase"] == "preflop"
    for entry in game["history"]:
        if entry["street"] == game["phase"]:
            tags[entry["seat"]] = _deed(entry["kind"], entry["bet"], opened)
            opened = opened or entry["kind"] == "raiseTo"
    for player in game["players"]:
        if player.get("folded"):
            tags[player["seat"]] = "fold"
        elif player.get("allIn"):
            tags[player["seat"]] = "all-in"
    for row in (state.outcome or {}).get("results", ()):
        if row["won"] > 0:
            tags[row["seat"]] = f"takes {chips_text(row['won'])}"
    return tags


def _deed(kind: str, amount: int, opened: bool) -> str:
    if kind == "raiseTo":
        return f"{'raise to' if opened else 'bet'} {chips_text(amount)}"
    return kind  # what a call costs is in the footer; the bet in front of the seat is its sum


def last_acted(state: TurnState, seat: int) -> bool:
    """Return True if a seat acted last; at the end, if it has won."""
    if state.outcome is not None:
        return any(row["seat"] == seat and row["won"] > 0 for row in state.outcome.get("results", ()))
    last = state.game_state["last"]
    return bool(last and last["seat"] == seat)


def _footer(state: TurnState, *, own: bool) -> str:
    game = state.game_state
    if state.game_over:
        return "over: showdown" if (state.outcome or {}).get("reason") == "showdown" else "over: all others folded"
    if own and state.is_my_turn:
        return f"your turn, {chips_text(game['toCall'])} to call" if game["toCall"] else "your turn, nothing to call"
    last = game["last"]
    if not last:
        return ""
    amount = f" {chips_text(last['amount'])}" if last.get("amount") else ""
    return f"{_name(game, last['seat'])}: {last['kind']}{amount}"


def _result(state: TurnState) -> str:
    """Return the winners, and the observer's result."""
    sums = dict(payoffs_in(state))
    named = [agent for agent in sorted(sums, key=lambda agent: -sums[agent]) if sums[agent] > 0][:3]
    named += [state.agent_id] if sums.get(state.agent_id, 0) < 0 else []
    return ", ".join(f"{short(agent, 14)} {'+' if sums[agent] > 0 else ''}{chips_text(sums[agent])}" for agent in named)


def _name(game: Row, seat: int) -> str:
    named = {player["seat"]: player["name"] for player in game["players"]}
    return short(named.get(seat) or f"seat {seat}", 14)


@remembered
def card(name: str, x: float, y: float, width: float, height: float) -> str:
    """Return an open card, such as ``"Ah"``; (`x`, `y`) is its upper left corner."""
    rank, suit = name[:-1].replace("T", "10"), name[-1]
    colour = RED if suit in "hd" else BLACK
    big = width * 0.5
    return group(
        box(0, 0, width, height, "#fff", round=width / 9, stroke="#b9b5a8"),
        text(width / 2, height * 0.44, rank, width * 0.5, fill=colour, anchor="middle", bold=True),
        f'<path d="{SUITS[suit]}" fill="{colour}" '
        f'transform="translate({(width - big) / 2:.5g} {height * 0.53:.5g}) scale({big / 24:.4g})"/>',
        at=(x, y),
    )


@remembered
def back(x: float, y: float, width: float, height: float) -> str:
    """Return a card that is face down; (`x`, `y`) is its upper left corner."""
    return group(
        box(0, 0, width, height, "#fff", round=width / 9, stroke="#b9b5a8"),
        box(2.5, 2.5, width - 5, height - 5, BACK, round=2),
        f'<path d="M{width / 2:g} 7 {width - 7:g} {height / 2:g} {width / 2:g} {height - 7:g} 7 {height / 2:g}z" '
        f'fill="none" stroke="#c9d6ea" stroke-width="1.5"/>',
        at=(x, y),
    )


def _space(x: float) -> str:
    return box(x, 212, 46, 64, "none", round=5, stroke="#4f8b78")


def _cards(hand: Sequence[str] | None, x: float, y: float, *, folded: bool, dealt: bool) -> list[str]:
    """Return a seat's two cards above its plate: open, face down, or none if it is out of the hand."""
    if hand is not None:
        return [_open(hand[i], x - 35 + 36 * i, y - 66, folded) for i in range(2)]
    return [back(x - 35 + 36 * i, y - 66, 34, 47) if dealt and not folded else "" for i in range(2)]


@remembered
def _open(name: str, x: float, y: float, folded: bool) -> str:
    return group(card(name, x, y, 34, 47), opacity=0.45 if folded else 1)


@remembered
def _plate(
    seat: int, name: str | None, stack: int, x: float, y: float, *, turn: bool, own: bool, folded: bool, gone: bool
) -> tuple[str, str]:
    """Return a seat's plate, and its chips, which change more often."""
    faint = (folded or gone) and not turn
    plate = group(
        box(-53, -25, 106, 52, TURN, round=10) if turn else "",
        box(-50, -22, 100, 46, "#fff", round=7, stroke=INK if own else "#b9b5a8", thick=1.5 if own else 1),
        box(-50, -13, 5, 25, COLOURS[seat % len(COLOURS)], round=2),
        text(2, -4, short(name or f"seat {seat}", 12), 13, anchor="middle", bold=True),
        at=(x, y),
        opacity=0.5 if faint else 1,
    )
    chips = "out of chips" if gone else chips_text(stack)
    return plate, text(x + 2, y + 17, chips, 13, fill="#b0b4ba" if faint else FAINT, anchor="middle")


@remembered
def _pill(words: str, x: float, y: float, fill: str, ink: str) -> str:
    if not words:
        return ""
    width = 14 + 7.2 * len(words)
    x = min(max(x, width / 2 + 4), WIDTH - width / 2 - 4)
    return group(
        box(-width / 2, -8.5, width, 17, fill, round=8.5),
        text(0, 4.5, words, 12, fill=ink, anchor="middle"),
        at=(x, y),
    )


@remembered
def _bet(chips: int, angle: float) -> str:
    if not chips:
        return ""
    x, y = _at(angle, 158, 86)
    return group(
        disc(0, 0, 8, "#d9534f", stroke="#fff", thick=1.5),
        '<circle r="4.5" fill="none" stroke="#fff" stroke-width="1.5" stroke-dasharray="2.4 2.3"/>',
        text(12, 4.5, chips_text(chips), 13, fill=ON_FELT, bold=True),
        at=(x - 6 - 3.5 * len(chips_text(chips)), y),
    )


@remembered
def _button(angle: float) -> str:
    x, y = _at(angle + (-0.27 if cos(angle) > 0.1 else 0.27), 204, 112)  # where no hand's name stands
    return group(disc(0, 0, 9, "#fff", stroke=INK), text(0, 4, "D", 12, anchor="middle", bold=True), at=(x, y))


ACROSS, DOWN = 252.0, 176.0
"""From the centre to the seats."""
SQUARE = 2 / 3
"""The exponent of the ring of seats: between an ellipse (1) and a rectangle (0), so that ten plates have room."""
ROOM = 7
"""Characters of a name."""


def small_picture(states: Sequence[TurnState]) -> str:
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
        x, y = _small_at(angle, 1.0)
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
        things.append(
            _small_plate(seat, player["name"] or f"seat {seat}", chips, x, y, turn=turn, own=own, faint=faint)
        )
        things.append(_tag(tags.get(seat, ""), x, y + 39, bright=last_acted(first, seat)))
    for player, angle in zip(players, angles, strict=True):
        things.append(_small_bet(player["bet"], angle))
        things.append(_small_button(angle) if game["dealer"] == player["seat"] else "")
    return document(f"Hold'em, {game['phase']}: board {' '.join(board) or 'empty'}, {pot_text(game)}", things)


@remembered
def _small_at(angle: float, part: float) -> tuple[float, float]:
    """Return the point at a part of the way from the centre to the ring of seats."""
    x, y = (copysign(abs(one) ** SQUARE, one) for one in (cos(angle), sin(angle)))
    return CENTRE[0] + part * ACROSS * x, CENTRE[1] + part * DOWN * y


@remembered
def _small_plate(seat: int, name: str, chips: str, x: float, y: float, *, turn: bool, own: bool, faint: bool) -> str:
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
def _small_bet(chips: int, angle: float) -> str:
    if not chips:
        return ""
    x, y = _small_at(angle, 0.52)
    return group(
        disc(0, 0, 9, "#d9534f", stroke="#fff", thick=1.5),
        text(13, 8, chips_text(chips), 22, fill=ON_FELT, bold=True),
        at=(x - 8 - 5 * len(chips_text(chips)), y),
    )


@remembered
def _small_button(angle: float) -> str:
    x, y = _small_at(angle + 0.3, 0.72)
    return group(disc(0, 0, 14, "#fff", stroke=INK), text(0, 8, "D", 22, anchor="middle", bold=True), at=(x, y))


def render(states: Sequence[TurnState]) -> str:
    """Return the table as text (see `Renderer.text`): board, seats, last action."""
    first = states[0]
    game, hands = first.game_state, hands_of(states)[0]
    hand = f"hand {game['hand']} of {game['hands']} · " if game["hands"] > 1 else ""
    lines = [f"{hand}{game['phase']} · {' '.join(game['board']) or 'no board'} · pot {game['pot']}"]
    for player in game["players"]:
        seat, cards = player["seat"], "     "
        if player["stack"] + player["committed"]:
            cards = " ".join(hands.get(seat, ["??", "??"]))
        status = "folded" if player.get("folded") else "all-in" if player.get("allIn") and not first.game_over else ""
        marks = (">" if game["turn"] == seat else " ") + ("D" if game["dealer"] == seat else " ")
        chips = f"stack {player['stack']:>6}  bet {player['bet']:>5}"
        lines.append(f"{marks} {player['name']:<9} {cards}  {chips}  {status}".rstrip())
    if last := game["last"]:
        amount = f" {last['amount']}" if last.get("amount") else ""
        lines.append(f"last: player_{last['seat']} {last['kind']}{amount}")
    for row in (first.outcome or {}).get("results", ()):
        if row["won"]:
            how = row.get("rank", "all others folded")
            lines.append(f"player_{row['seat']} wins {row['won']} from the pot: {how}")
    if first.game_over:
        lines.append("over: " + ", ".join(f"{name} {won:+.0f}" for name, won in payoffs_in(first)))
    return "\n".join(lines)
