"""A game in phases as text."""

from typing import Any

from .definition import Named, Open, PhaseGame
from .fields import name_of
from .rules import is_visible


def shown(rules: PhaseGame, table: Any, phase: int, other: int, seat: int | None) -> str:
    """Return a choice as a word. `seat`: who looks; None: everything is shown; −1: an observer."""
    kind = int(table.chosen[phase][other]) - 1
    if kind < 0:
        return "-"
    if kind == len(rules.actions):
        return "pass"
    if seat is not None and not is_visible(table, phase, other, seat):
        return "sealed"
    action_type = rules.actions[kind]
    return action_type.label if isinstance(action_type, Named) else f"{float(table.number[phase][other]):g}"


def facts(rules: PhaseGame, table: Any) -> str:
    """Return the facts of the round in words."""
    return ", ".join(one.shown(float(table.fact[place])) for place, one in enumerate(rules.facts))


def render(rules: PhaseGame, table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose private value and sealed choice are shown; None: all of them."""
    phase = rules.phases[int(table.phase)].name
    rounds = f" · round {min(int(table.round_number) + 1, rules.rounds)} of {rules.rounds}" if rules.rounds > 1 else ""
    lines = [f"{rules.title} · {phase}{rounds}"]
    for other in range(rules.seats):
        visible = seat is None or other == seat
        words = [rules.roles[other]] if rules.roles else []
        if rules.private is not None:
            value = f"{float(table.private[other]):.2f}" if visible else "?"
            words.append(f"{rules.private.name.removeprefix('my_').replace('_', ' ')} {value}")
        for k, one in enumerate(rules.phases):
            if (int(table.actors[k]) >> other) & 1:
                words.append(f"{one.name} {shown(rules, table, k, other, seat)}")
        if rules.rounds > 1 or table.done:
            words.append(f"utility {float(table.total[other]):+.2f}")
        turn = ">" if table.turn == other else " "
        lines.append(f"{turn} {name_of(other):<9} {'  '.join(words)}")
    if rules.open is not None:
        lines.append(f"  {_standing(rules.open, table)}")
    if rules.facts:
        lines.append(f"  {facts(rules, table)}")
    if table.done:
        lines.append("over: time is up" if table.timeout else "over")
    return "\n".join(lines)


def _standing(opened: Open, table: Any) -> str:
    """Return the standing number; of a division, whose shares the seats' lines show, who has accepted it."""
    owner = f"by {name_of(int(table.owner))}" if table.owner >= 0 else ""
    if not opened.divides:
        return f"{opened.what} {float(table.standing):g}{owner and f', {owner}'}"
    if not owner:
        return f"no {opened.what}"
    within = int(table.within)
    accepted = ", ".join(name_of(seat) for seat in range(int(table.seats)) if not (within >> seat) & 1)
    return f"{opened.what} {owner}{f', accepted by {accepted}' if accepted else ''}"
