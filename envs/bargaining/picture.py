"""The negotiation as a picture: the current offer as a pie, and all offers over the rounds with the reservation values.

The chart's vertical axis is the share of the first proposer, so a demand of the other agent is drawn at the total minus
the demand. The reservation values are lines, that of the first from below and that of the other from above. Agreements
between the lines are better than no agreement for both.
"""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from ..core.turn_state import TurnState, payoffs_in
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
    group,
    line,
    number,
    remembered,
    short,
    speech,
    text,
)

LEFT, RIGHT, TOP, BOTTOM = 296.0, 612.0, 84.0, 340.0
"""The area of the chart."""
PIE = 142.0, 200.0, 84.0
"""The centre and the radius of the pie."""


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    names = _parties(states)
    reserved = _reserved(states, names)
    share = _share(first, names)
    things = [
        text(24, 34, f"A pie of {number(game['total'])}", 20, bold=True),
        text(616, 34, _round(game["action_history"]), 13, fill=FAINT, anchor="end"),
        *_pie(share, game["total"]),
        *_legend(first, names, reserved, share, own=first.agent_id if len(states) == 1 else ""),
        *_chart(game, names, reserved),
        text(24, 424, _news(first), 14, bold=True),
        *speech(states, 444, 2),
    ]
    return document(f"Bargaining: {_news(first)}", things)


def _parties(states: Sequence[TurnState]) -> list[str]:
    """Return the name of the agent that acts first, and of the other one."""
    first = states[0]
    history = first.game_state["action_history"]
    names = [entry["agent_id"] for entry in history[:2]] or [first.current_turn_agent_id or first.agent_id]
    names = list(dict.fromkeys([*names, *agents(states)]))
    if len(names) == 1:
        names.append({"player_0": "player_1"}.get(names[0], "the other agent"))
    return names[:2]


def _reserved(states: Sequence[TurnState], names: Sequence[str]) -> dict[str, float]:
    reserved = {state.agent_id: state.game_state["my_reservation_value"] for state in states if state.agent_id}
    game = states[0].game_state
    if "opponent_reservation_value" in game:
        other = next(name for name in names if name != states[0].agent_id)
        reserved[other] = game["opponent_reservation_value"]
    return reserved


def _share(state: TurnState, names: Sequence[str]) -> list[float] | None:
    """Return both shares of the agreement or the current offer."""
    game = state.game_state
    if game["current_offer"] is None:
        return None
    mine = game["current_offer"]
    rest = game["total"] - mine
    return [mine, rest] if game["last_offer_by"] == names[0] else [rest, mine]


def _round(history: Sequence[Mapping[str, Any]]) -> str:
    return f"round {history[-1]['round'] if history else 1}"


def _news(state: TurnState) -> str:
    if state.game_over:
        agreed = (state.outcome or {}).get("reason") == "agreement"
        return "Over: they agreed" if agreed else "Over: no agreement"
    history = state.game_state["action_history"]
    turn = f"{short(state.current_turn_agent_id, 20)} is to answer"
    if not history:
        return f"{short(state.current_turn_agent_id, 20)} opens"
    return f"{short(history[-1]['agent_id'], 20)} {_deed(history[-1])}; {turn}"


def _deed(entry: Mapping[str, Any]) -> str:
    if entry["action"] == "submit_offer":
        return f"demands {number(entry['my_share'])}"
    return {"accept": "accepts", "reject": "rejects", "pass": "passes"}.get(entry["action"], str(entry["action"]))


def _pie(share: Sequence[float] | None, total: float) -> list[str]:
    x, y, radius = PIE
    if share is None:
        return [disc(x, y, radius, "#f0e4c3", stroke="#a58d52", thick=2), "", "", ""]
    part = min(max(share[0] / total, 0.0), 1.0)
    slices = [
        _slice(part, COLOURS[0]) if 0 < part < 1 else "",
        text(*_on_pie(part / 2), number(share[0]), 17, fill=PAPER, anchor="middle", bold=True) if part > 0.06 else "",
        text(*_on_pie((1 + part) / 2), number(share[1]), 17, fill=PAPER, anchor="middle", bold=True)
        if part < 0.94
        else "",
    ]
    return [disc(x, y, radius, COLOURS[0 if part == 1 else 1], stroke=PAPER, thick=2), *slices]


@remembered
def _slice(part: float, colour: str) -> str:
    """Return the first agent's slice, from the top to the left."""
    x, y, radius = PIE
    angle = -pi / 2 - 2 * pi * part
    end = x + radius * cos(angle), y + radius * sin(angle)
    return (
        f'<path d="M{x:g} {y:g}V{y - radius:g}A{radius:g} {radius:g} 0 {int(part > 0.5)} 0 {end[0]:.5g} {end[1]:.5g}z" '
        f'fill="{colour}" stroke="{PAPER}" stroke-width="2"/>'
    )


@remembered
def _on_pie(part: float) -> tuple[float, float]:
    x, y, radius = PIE
    angle = -pi / 2 - 2 * pi * part
    return x + 0.58 * radius * cos(angle), y + 6 + 0.58 * radius * sin(angle)


def _legend(
    state: TurnState, names: Sequence[str], reserved: Mapping[str, float], share: Sequence[float] | None, own: str
) -> list[str]:
    rows = []
    gains = dict(payoffs_in(state))
    for seat, name in enumerate(names):
        y = 314 + 44 * seat
        turn = name == state.current_turn_agent_id and not state.game_over
        keeps = f"reservation value {number(reserved[name]) if name in reserved else 'unknown'}"
        gain = ""
        if name in gains:
            won = gains[name]
            fill = "#2f7d4f" if won > 0 else "#b3362b" if won < 0 else FAINT
            gain = text(258, y + 16, ("+" if won > 0 else "") + number(won), 14, fill=fill, anchor="end", bold=True)
        rows += [
            box(22, y - 6, 244, 40, "#fff", round=6, stroke=TURN if turn else LINE, thick=2.5 if turn else 1),
            box(30, y, 6, 28, COLOURS[seat], round=2),
            text(44, y + 11, short(name, 18) + (" (you)" if name == own else ""), 13, bold=True),
            text(44, y + 26, keeps, 11, fill=FAINT),
            gain,
        ]
    return rows


def _chart(game: Mapping[str, Any], names: Sequence[str], reserved: Mapping[str, float]) -> list[str]:
    total, history = game["total"], game["action_history"]
    slots = max(20, len(history) + len(history) % 2)

    def at(move: int, first_share: float) -> tuple[float, float]:
        return LEFT + (RIGHT - LEFT) * (move + 0.5) / slots, _height(first_share, total)

    things = [
        box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, "#fff", stroke=LINE),
        text(LEFT, TOP - 10, f"offers: the share of {short(names[0], 20)}", 12, fill=FAINT),
        *_grid(total),
        _rounds(slots),
        _zone(names, reserved, total),
        *(_reservation(seat, name, reserved, total) for seat, name in enumerate(names)),
    ]
    for seat, name in enumerate(names):
        points = [
            at(move, entry["my_share"] if seat == 0 else total - entry["my_share"])
            for move, entry in enumerate(history)
            if entry["agent_id"] == name and entry["action"] == "submit_offer"
        ]
        things.append(line(points, COLOURS[seat], 1.5) if len(points) > 1 else "")
        things.append(group(*(disc(x, y, 5, COLOURS[seat], stroke=PAPER, thick=1.5) for x, y in points)))
    return [*things, group(*_answers(history, names, total, at))]


@remembered
def _grid(total: float) -> tuple[str, str]:
    """Return the grid lines at quarters of the total, and their labels."""
    quarters = [(total * i / 4, _height(total * i / 4, total)) for i in range(5)]
    return (
        group(*(line([(LEFT, y), (RIGHT, y)], LINE) for _, y in quarters[1:4])),
        group(*(text(LEFT - 6, y + 4, number(share), 11, fill=FAINT, anchor="end") for share, y in quarters)),
    )


@remembered
def _rounds(slots: int) -> str:
    rounds = slots // 2
    every = max(1, rounds // 10)
    width = (RIGHT - LEFT) / rounds
    numbers = [
        text(LEFT + width * (round_ - 0.5), BOTTOM + 16, round_, 11, fill=FAINT, anchor="middle")
        for round_ in range(every, rounds + 1, every)
    ]
    return group(*numbers, text(RIGHT, BOTTOM + 32, "round", 11, fill=FAINT, anchor="end"))


def _height(share: float, total: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * min(max(share / total, 0.0), 1.0)


def _zone(names: Sequence[str], reserved: Mapping[str, float], total: float) -> str:
    """Return the area of agreements that are better for both; empty if there are none or a value is not known."""
    if not all(name in reserved for name in names) or sum(reserved[name] for name in names) > total:
        return ""
    upper, lower = _height(total - reserved[names[1]], total), _height(reserved[names[0]], total)
    return box(LEFT, upper, RIGHT - LEFT, max(lower - upper, 1), "#e6f0e4")


def _reservation(seat: int, name: str, reserved: Mapping[str, float], total: float) -> str:
    if name not in reserved:
        return ""
    y = _height(reserved[name] if seat == 0 else total - reserved[name], total)
    return line([(LEFT, y), (RIGHT, y)], COLOURS[seat], 1.5, dashes="6 4")


def _answers(history: Sequence[Mapping[str, Any]], names: Sequence[str], total: float, at: Any) -> list[str]:
    """Return a mark for every move that is not an offer: a ring for accept, a cross for reject, a dot for pass."""
    marks = []
    standing = total / 2
    for move, entry in enumerate(history):
        seat = names.index(entry["agent_id"]) if entry["agent_id"] in names else 0
        if entry["action"] == "submit_offer":
            standing = entry["my_share"] if seat == 0 else total - entry["my_share"]
            continue
        x, y = at(move, standing)
        if entry["action"] == "accept":
            marks.append(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="8" fill="none" stroke="#2f7d4f" stroke-width="3"/>')
        elif entry["action"] == "reject":
            marks.append(
                line([(x - 4, y - 4), (x + 4, y + 4)], INK, 2) + line([(x - 4, y + 4), (x + 4, y - 4)], INK, 2)
            )
        else:
            marks.append(disc(x, BOTTOM - 5, 2.5, COLOURS[seat]))
    return marks


def render(rounds: int, states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`). `rounds`: how many there are at most."""
    first = states[0]
    game, history, names = first.game_state, first.game_state["action_history"], _parties(states)
    reserved = _reserved(states, names)
    lines = [f"pie {game['total']:g} · round {min(len(history) // 2 + 1, rounds)} of {rounds}"]
    for name in names:
        reservation = f"{reserved[name]:.2f}" if name in reserved else "?"
        lines.append(f"{'>' if name == first.current_turn_agent_id else ' '} {name}  reservation {reservation:>7}")
    for row in history:
        share = f" {row['my_share']:g}" if "my_share" in row else ""
        lines.append(f"  {row['round']:>2} {row['agent_id']} {row['action']}{share}")
    if first.outcome is not None:
        end = "agreement" if first.outcome["reason"] == "agreement" else "no agreement"
        lines.append(f"over: {end}; " + ", ".join(f"{name} {gain:+.2f}" for name, gain in payoffs_in(first)))
    return "\n".join(lines)
