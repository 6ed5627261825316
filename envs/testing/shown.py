"""What the default view shows a seat and no encoder does: probably a field that should be hidden."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.default_view import default_parts
from .arrays import GUARD
from .trial import Trial

RECORDS = 200
"""The most records that are looked at."""
TRIES = 20
"""The most records in which an entry of a field is replaced, for each of its values."""


def warn_of_fields(trial: Trial) -> None:
    """Add a warning for every field with entries that the default view shows to a seat and no encoder for players does.

    An encoder shows an entry if another value of it, from another record, changes an observation of the seat.
    """
    view = default_parts(trial.game.view)
    if view is None:
        return
    records = [table.copy() for _, (table, _) in zip(range(RECORDS), trial.views(), strict=False) if not table.done]
    own = () if isinstance(view.hidden, Mapping) else view.hidden  # of them a seat is shown what is its own
    for name in [one for one in view.fields if one not in own]:
        for seat, agent in enumerate(trial.game.agents):
            hidden = [view.hidden_from(record, seat, name) for record in records]
            entry = next(_unseen(trial, records, hidden, name, seat), None)
            if entry is not None:
                trial.warnings.append(
                    f"the view shows {name}{list(entry) if entry else ''} to {agent}, and no encoder does: "
                    f"if a seat may not know it, make the Game with hidden=({name!r},)"
                )
                break


def _unseen(
    trial: Trial, records: list[Any], hidden: list[NDArray[np.bool_]], name: str, seat: int
) -> Iterator[tuple[int, ...]]:
    """Yield the entries of a field that a seat is shown, that have several values, and change no observation of it."""
    for entry in np.ndindex(trial.game.rules.blank.dtype[name].shape):
        shown = [record for record, hides in zip(records, hidden, strict=True) if not hides[entry]]
        values = np.unique([record[name][entry] for record in shown])
        if len(values) > 1 and not _seen(trial, shown, values, name, entry, seat):
            yield entry


def _seen(trial: Trial, records: list[Any], values: NDArray[Any], name: str, entry: tuple[int, ...], seat: int) -> bool:
    for record in records[:: max(1, len(records) // TRIES)]:
        before = _observations(trial, record, seat)
        for value in values[:TRIES]:
            other = record.copy()
            np.asarray(other)[name][entry] = value
            if _observations(trial, other, seat) != before:
                return True
    return False


def _observations(trial: Trial, record: Any, seat: int) -> list[bytes]:
    """Return a seat's observations by every version, with room around them for writes by a record that cannot be."""
    seen = []
    for encoder in trial.game.versions.values():
        buffer = np.zeros(GUARD + encoder.layout.size + GUARD, np.float32)
        encoder.observe(record, seat, encoder.layout.offsets[0], buffer[GUARD:-GUARD])
        seen.append(buffer.tobytes())
    return seen
