"""The negotiation as a picture: the values of all issues with everybody's latest offer, and a row per agent.

An agent's row shows what the current offer is worth to it, if its preferences are known, and a mark at its reservation
value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.turn_state import TurnState, payoffs_in
from ..render.svg import (
    COLOURS,
    FAINT,
    INK,
    LINE,
    PAPER,
    TURN,
    box,
    disc,
    document,
    drawn,
    group,
    line,
    number,
    short,
    speech,
    text,
)

LEFT, RIGHT, TOP = 130.0, 616.0, 74.0
"""The area of the values."""
ROW, ISSUE = 34.0, 34.0
"""The heights of an agent's row and an issue's row."""
BAR = 330.0, 200.0
"""The start and the length of the bars."""

Preferences = Mapping[str, Sequence[float]]


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    names = [str(name) for name in game["agent_ids"]]
    rounds = game["action_history"][-1]["round"] if game["action_history"] else 1
    below = TOP + ISSUE * len(game["issues"]) + 26
    things = [
        text(24, 34, f"{len(game['issues'])} issues", 20, bold=True),
        text(616, 34, f"round {rounds} of {game['max_rounds']}", 13, fill=FAINT, anchor="end"),
        *_issues(game, names),
        text(BAR[0], below - 6, "utility of the current offer", 11, fill=FAINT),
        text(616, below - 6, "result", 11, fill=FAINT, anchor="end"),
    ]
    for seat, name in enumerate(names):
        things.append(_agent(states, name, seat, below + ROW * seat))
    return document(
        f"Multi-issue bargaining: {_news(first)}",
        [*things, text(24, 424, _news(first), 14, bold=True), *speech(states, 444, 2)],
    )


def _issues(game: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return a row per issue: its values as cells, the current offer in colour, and a dot per agent's latest offer."""
    latest = {row["agent_id"]: row["offer"] for row in game["action_history"] if "offer" in row}
    current, by = game["current_offer"], game["last_offer_by"]
    rows = []
    for k, (issue, count) in enumerate(game["issues"].items()):
        y, width = TOP + ISSUE * k, (RIGHT - LEFT) / count
        rows.append(text(24, y + 18, short(issue, 14), 12))
        for value in range(drawn(count, issue)):
            x, chosen = LEFT + width * value, current is not None and current[issue] == value
            edge = COLOURS[names.index(by) % len(COLOURS)] if chosen and by in names else LINE
            words = text(x + 8, y + 14, value, 12, bold=chosen, fill=INK if chosen else FAINT)
            rows.append(
                group(box(x + 1, y, width - 2, ISSUE - 6, "#fff", round=4, stroke=edge, thick=1 + 2 * chosen), words)
            )
        dots = [
            disc(LEFT + width * offer[issue] + 8 + 8 * names.index(name), y + 21, 3, COLOURS[names.index(name)])
            for name, offer in latest.items()
            if name in names
        ]
        rows.append(group(*dots))
    return rows


def _agent(states: Sequence[TurnState], name: str, seat: int, y: float) -> str:
    first = states[0]
    game = first.game_state
    turn = name == first.current_turn_agent_id and not first.game_over
    worth, least = _known(states, name)
    own = " (you)" if len(states) == 1 and name == first.agent_id else ""
    stance = "proposes" if game["last_offer_by"] == name else "accepts" if name in game["acceptances"] else ""
    gain = dict(payoffs_in(first)).get(name)
    label = "" if gain is None else ("+" if gain > 0 else "") + number(gain)
    return group(
        box(14, y, 612, ROW - 4, "#fff", round=6, stroke=TURN if turn else LINE, thick=2.5 if turn else 1),
        box(22, y + 5, 5, 20, COLOURS[seat % len(COLOURS)], round=2),
        text(34, y + 19, short(name, 18) + own, 13, bold=True),
        text(220, y + 19, stance, 12, fill=FAINT),
        *_bar(worth, least, game["current_offer"], y, COLOURS[seat % len(COLOURS)]),
        text(616, y + 19, label, 13, anchor="end", bold=True),
    )


def _known(states: Sequence[TurnState], name: str) -> tuple[Preferences | None, float]:
    """Return an agent's preferences and reservation value, if a state shows them."""
    for state in states:
        game = state.game_state
        if state.agent_id == name:
            return game["my_preferences"], game["my_reservation_value"]
        if name in game.get("preferences", ()):
            return game["preferences"][name], game["reservation_values"][name]
    return None, 0.0


def _bar(worth: Preferences | None, least: float, offer: Mapping[str, int] | None, y: float, colour: str) -> list[str]:
    x, length = BAR
    if worth is None:
        return [text(x, y + 19, "?", 12, fill=FAINT)]
    mark = x + length * least
    shapes = [box(x, y + 9, length, 12, PAPER, stroke=LINE)]
    if offer is not None:
        utility = sum(worth[issue][value] for issue, value in offer.items())
        shapes += [
            box(x, y + 9, length * utility, 12, colour),
            text(x + length + 8, y + 19, number(utility), 12),
        ]
    return [*shapes, line([(mark, y + 5), (mark, y + 25)], INK, 2)]


def _news(state: TurnState) -> str:
    if state.game_over:
        return {"agreement": "Over: they agreed", "walked_away": "Over: an agent walked away"}.get(
            str((state.outcome or {}).get("reason")), "Over: no agreement"
        )
    history = state.game_state["action_history"]
    turn = short(state.current_turn_agent_id, 20)
    if not history:
        return f"{turn} opens"
    deed = {"submit_offer": "makes an offer", "accept": "accepts", "pass": "passes"}.get(history[-1]["action"], "")
    return f"{short(history[-1]['agent_id'], 20)} {deed}; {turn} is to answer"


def render(states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`)."""
    first = states[0]
    game, history = first.game_state, first.game_state["action_history"]
    names, rounds = game["agent_ids"], game["max_rounds"]
    lines = [f"{len(game['issues'])} issues · round {min(len(history) // len(names) + 1, rounds)} of {rounds}"]
    for name in names:
        worth, least = _known(states, name)
        turn, words = ">" if name == first.current_turn_agent_id else " ", "?"
        if worth is not None:
            issues = (" ".join(f"{value:.2f}" for value in values) for values in worth.values())
            words = f"{' | '.join(issues)}  reservation {least:.2f}"
        lines.append(f"{turn} {name}  {words}")
    for row in history:
        offer = f" {'-'.join(map(str, row['offer'].values()))}" if "offer" in row else ""
        lines.append(f"  {row['round']:>2} {row['agent_id']} {row['action']}{offer}")
    if first.outcome is not None:
        end = "agreement" if first.outcome["reason"] == "agreement" else "no agreement"
        lines.append(f"over: {end}; " + ", ".join(f"{name} {gain:+.3f}" for name, gain in payoffs_in(first)))
    return "\n".join(lines)
