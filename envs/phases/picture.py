"""A game in phases as a picture: a row per seat, with its private value and its choices as bars, and its utility."""

from collections.abc import Callable, Sequence
from typing import Any

from ..core.record import Tables
from ..core.turn_state import TurnState, payoffs_in
from ..render.svg import COLOURS, FAINT, INK, LINE, TURN, box, document, group, line, number, short, speech, text
from .definition import Named, Open, PhaseGame
from .rules import is_visible

Load = Callable[[TurnState], tuple[Tables, int]]
Cell = tuple[str | float | None, float | None]
"""A word or a number (None: not chosen yet; an empty word: no cell), and the share of its bar (None: no bar)."""

TOP, BOTTOM = 84.0, 384.0
LEFT, RIGHT = 150.0, 548.0
"""The area of the rows, and of the columns in them."""


def picture(rules: PhaseGame, load: Load, states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    views = [_Known(rules, load, state) for state in states]
    names = _names(rules, views, first)
    columns = _columns(rules)
    width = (RIGHT - LEFT) / len(columns)
    height = min(72.0, (BOTTOM - TOP) / rules.seats)
    things = [
        text(24, 34, rules.title, 20, bold=True),
        text(616, 34, _status(rules, views[0].table, first), 13, fill=FAINT, anchor="end"),
        text(24, TOP - 12, "player", 11, fill=FAINT),
        text(616, TOP - 12, "utility", 11, fill=FAINT, anchor="end"),
        *(text(LEFT + width * k, TOP - 12, _word(word), 11, fill=FAINT) for k, word in enumerate(columns)),
    ]
    gains = dict(payoffs_in(first))
    for seat, name in enumerate(names):
        y = TOP + height * seat
        turn = name == first.current_turn_agent_id and not first.game_over
        things.append(
            box(14, y + 2, 612, height - 4, "#fff", round=6, stroke=TURN if turn else LINE, thick=2.5 if turn else 1)
        )
        things.append(_who(rules, name, seat, y + height / 2, height))
        cells = _cells(rules, views, seat)
        if rules.open is not None and cells[-1] != ("", None) and not (int(views[0].table.within) >> seat) & 1:
            cells[-1] = "out", None
        for k, cell in enumerate(cells):
            things.append(_bar(LEFT + width * k, y + height / 2, width - 16, cell, seat))
        gain = gains.get(name)
        if gain is not None:
            words = ("+" if gain > 0 else "") + number(gain)
            things.append(text(616, y + height / 2 + 4, words, 13, anchor="end", bold=True))
    end = "Over" if first.game_over else f"{short(first.current_turn_agent_id, 24)} chooses"
    if rules.facts:
        things.append(text(616, 424, facts(rules, views[0].table), 12, fill=FAINT, anchor="end"))
    things += [text(24, 424, end, 14, bold=True), *speech(states, 444, 2)]
    return document(f"{rules.title}: {end}", things)


class _Known:
    """What one state tells: the record, and the seat (−1: an observer)."""

    def __init__(self, rules: PhaseGame, load: Load, state: TurnState) -> None:
        tables, seat = load(state)
        self.table, self.seat = tables[0], seat if state.agent_id else -1
        self.order = state.game_state.get("agent_ids")


def _names(rules: PhaseGame, known: Sequence[_Known], state: TurnState) -> list[str]:
    order = known[0].order
    if isinstance(order, list) and len(order) >= rules.seats:
        return [str(one) for one in order[: rules.seats]]
    return [f"player_{seat}" for seat in range(rules.seats)]


def _status(rules: PhaseGame, table: Any, state: TurnState) -> str:
    rounds = f"round {int(table.round_number) + (not state.game_over)} of {rules.rounds} · "
    limit = int(table.limit[int(table.phase)])
    turns = f", turn {min(int(table.cycle) + 1, limit)} of {limit}" if limit > 1 else ""
    standing = ""
    if rules.open is not None:
        none = rules.open.divides and table.owner < 0
        standing = f", no {rules.open.what}" if none else f", {rules.open.what} {number(float(table.standing))}"
    return f"{rounds if rules.rounds > 1 else ''}{_word(state.phase)}{turns}{standing}"


def _columns(rules: PhaseGame) -> list[str]:
    """Return what the seats' rows tell: the private value, if there is one, and the choice of each phase."""
    return [*([_word(rules.private.name)] if rules.private else []), *(phase.name for phase in rules.phases)]


def _word(name: str) -> str:
    return name.removeprefix("my_").replace("_", " ")


def _who(rules: PhaseGame, name: str, seat: int, middle: float, height: float) -> str:
    mark = box(22, middle - 11, 5, 22, COLOURS[seat % len(COLOURS)], round=2)
    role = rules.roles[seat] if rules.roles else ""
    below = text(34, middle + 14, role, 11, fill=FAINT) if role and height > 36 else ""
    return group(mark, text(34, middle + (-2 if below else 4), short(name, 15), 13, bold=True), below)


def _cells(rules: PhaseGame, known: Sequence[_Known], seat: int) -> list[Cell]:
    """Return the cell of each column in a seat's row."""
    cells: list[Cell] = []
    if rules.private is not None:
        own = [one for one in known if one.seat == seat]
        value = float(own[0].table.private[seat]) if own else None
        cells.append(("?", None) if value is None else (value, value * float(own[0].table.per_private)))
    for k in range(len(rules.phases)):
        cells.append(_choice(rules, known, k, seat))
    return cells


def _choice(rules: PhaseGame, known: Sequence[_Known], k: int, seat: int) -> Cell:
    table = known[0].table
    if not (int(table.actors[k]) >> seat) & 1:
        return "", None
    views = [view for view in known if view.table.chosen[k, seat] > 0]
    if not views:
        return None, None
    seen: Any = next((view.table for view in views if is_visible(view.table, k, seat, view.seat)), None)
    if seen is None:
        return "sealed", None
    kind = int(seen.chosen[k, seat]) - 1
    if kind == len(rules.actions):
        return "pass", None
    action_type, value = rules.actions[kind], float(seen.number[k, seat])
    if isinstance(action_type, Named):
        return action_type.label, None
    return value, value * float(seen.per_number[k])


def _bar(x: float, middle: float, width: float, cell: Cell, seat: int) -> str:
    said, share = cell
    words = number(said) if isinstance(said, float) else "–" if said is None else said
    if not words:
        return ""
    if share is None:
        return text(x, middle + 4, words, 12, fill=FAINT if words in ("?", "–", "sealed", "pass") else INK)
    long = width * min(max(share, 0.0), 1.0)
    colour = COLOURS[seat % len(COLOURS)]
    return group(
        line([(x, middle + 9), (x + width, middle + 9)], LINE, 1),
        f'<rect x="{x:g}" y="{middle + 4:.5g}" width="{long:.5g}" height="5" fill="{colour}"/>',
        text(x, middle - 2, words, 12),
    )


def facts(rules: PhaseGame, table: Any) -> str:
    """Return the facts of the round in words."""
    return ", ".join(one.formatted(float(table.fact[place])) for place, one in enumerate(rules.facts))


def render(rules: PhaseGame, load: Load, states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`)."""
    first = states[0]
    views = [_Known(rules, load, state) for state in states]
    table, names, phases = views[0].table, _names(rules, views, first), [phase.name for phase in rules.phases]
    totals = dict(payoffs_in(first)) or first.game_state.get("totals")
    rounds = f" · round {min(int(table.round_number) + 1, rules.rounds)} of {rules.rounds}" if rules.rounds > 1 else ""
    lines = [f"{rules.title} · {first.phase}{rounds}"]
    for seat, name in enumerate(names):
        words = [rules.roles[seat]] if rules.roles else []
        for column, (said, _) in zip(_columns(rules), _cells(rules, views, seat), strict=True):
            if isinstance(said, float):
                words.append(f"{column} {said:{'g' if column in phases else '.2f'}}")
            elif said != "":
                words.append(f"{column} {said or '-'}")
        if totals:
            words.append(f"utility {totals[name]:+.2f}")
        lines.append(f"{'>' if name == first.current_turn_agent_id else ' '} {name:<9} {'  '.join(words)}")
    if rules.open is not None:
        lines.append(f"  {_standing(rules.open, table, names)}")
    if rules.facts:
        lines.append(f"  {facts(rules, table)}")
    if first.outcome is not None:
        late = first.outcome["reason"].startswith(("max_rounds", "timeout"))
        lines.append("over: time is up" if late else "over")
    return "\n".join(lines)


def _standing(opened: Open, table: Any, names: Sequence[str]) -> str:
    """Return the standing number; of a division, whose shares the seats' lines show, who has accepted it."""
    owner = f"by {names[int(table.owner)]}" if table.owner >= 0 else ""
    if not opened.divides:
        return f"{opened.what} {float(table.standing):g}{owner and f', {owner}'}"
    if not owner:
        return f"no {opened.what}"
    accepted = ", ".join(name for seat, name in enumerate(names) if not (int(table.within) >> seat) & 1)
    return f"{opened.what} {owner}{f', accepted by {accepted}' if accepted else ''}"
