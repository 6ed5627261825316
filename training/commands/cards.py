"""The policies of the zoo and their cards, as `parlour list` shows them."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from ...zoo import PREFIX, Card, Measure, card, names, seats_of, span, variants, weights
from ..evaluation.exploit import LOST, is_lucky

HELD_OUT = "held out"
"""The kind of a measure on held-out tasks. All others are what an opponent wins from the policy."""


def zoo_rows() -> list[dict[str, Any]]:
    """Return for each policy of the zoo: its name, its numbers of seats, what it cost, and its worst measure."""
    rows = []
    for name in names():
        about = card(name)
        worst = _worst(about.measures)
        figure = f"{_number(worst.mean, worst.unit)} {worst.unit}"
        about_it = {"budget": about.budget, "worst measure": _what(worst), "figure": figure}
        rows.append({"policy": f"{PREFIX}{name}", "seats": seats_of(name), **about_it})
    return rows


def _what(measure: Measure) -> str:
    if measure.kind == HELD_OUT:
        return measure.name
    return f"{measure.name} wins from {f'its {measure.team}' if measure.team else 'it'}"


def _number(value: float, unit: str) -> str:
    """Return a figure; shares of matches have no sign."""
    return f"{value:{'' if unit == LOST else '+'}.4g}"


def _worst(measures: Sequence[Measure]) -> Measure:
    exact = next((measure.mean for measure in measures if measure.kind == "exact"), None)
    return next(measure for measure in measures if not is_lucky(measure.kind, measure.low, exact))


def card_page(name: str, about: Card) -> list[Any]:
    """Return all of a policy's card, to be printed line by line."""
    table = Table("measure", "figure", "95 % interval", "unit", title=f"{PREFIX}{name}, {about.game}")
    for measure in about.measures:
        mean, low, high = (_number(value, measure.unit) for value in (measure.mean, measure.low, measure.high))
        table.add_row(_what(measure), mean, f"{low} to {high}", measure.unit)
    for column in table.columns[1:3]:
        column.justify = "right"
    files = {count: weights(name, seats=count).stem for count in seats_of(name)}
    where = {file: [count for count in files if files[count] == file] for file in variants(name)}
    others = [f"{PREFIX}{file} in its place at {span(where[file])}" for file in where if file != name and where[file]]
    plays = f"plays at tables of {'; '.join([f'{span(where[name])} seats', *others])}"
    made_by = f"made by: {about.command} (seed {about.seed}; {about.budget}; licence {about.licence})"
    return [table, plays, made_by, f"measured by: {about.measured_by}"]
