"""The page of a ladder: ratings, the matrix of results, and sample games to step through."""

import html
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.render.svg import escape
from .meta_game import PolicyStanding
from .result_page import document, table
from .scores import in_two_lines

COLUMNS = {
    "share": "the policy's part of the mixture of policies against which none of them wins (the Nash equilibrium of "
    "the matrix below). A policy with a share above 0 is among the best.",
    "mean": "the mean of its results against all policies; 95 % interval.",
}
NASH = "what the policy wins from that mixture; 95 % interval. 0 is the most."


def ladder_page(
    title: str,
    places: Sequence[PolicyStanding],
    names: Sequence[str],
    payoffs: NDArray[np.float64],
    unit: str,
    replay: str | None = None,
    about: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Return the HTML of a ladder, in one file that needs no network.

    Args:
        title: the page's title.
        places: the policies, the best first.
        names: the policies in the order of `payoffs`.
        payoffs: float64[N, N], what the row's policy wins from the column's.
        unit: the unit of the payoffs.
        replay: the HTML of sample games; None: none.
        about: how the results were made.
    """
    games = (
        "" if replay is None else f'<h2>Sample games</h2><iframe title="games" srcdoc="{html.escape(replay)}"></iframe>'
    )
    return document(title, f"{_ratings(places, unit)}{_matrix(places, names, payoffs, unit)}{games}", about)


def columns_of(places: Sequence[PolicyStanding], unit: str) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table of ratings."""
    heads = ["policy", f"Nash average ({unit})", "share", "mean"]
    rows = [
        [
            place.name,
            in_two_lines(place.nash_average, *place.nash_interval),
            f"{place.share:.3f}",
            in_two_lines(place.mean, *place.mean_interval),
        ]
        for place in places
    ]
    return heads, rows


def _ratings(places: Sequence[PolicyStanding], unit: str) -> str:
    heads, rows = columns_of(places, unit)
    meanings = {**COLUMNS, heads[1]: NASH}
    return table("Ratings", heads, [[escape(cell) for cell in row] for row in rows], heads[1], meanings)


def _matrix(places: Sequence[PolicyStanding], names: Sequence[str], payoffs: NDArray[np.float64], unit: str) -> str:
    order = [list(names).index(one.name) for one in places]
    most = max(float(np.abs(payoffs).max()), 1e-12)
    rows = [[escape(names[i]), *(_cell(float(payoffs[i, j]), most, i == j) for j in order)] for i in order]
    return table(f"What the row wins from the column ({unit})", ["policy", *(names[j] for j in order)], rows)


def _cell(value: float, most: float, same: bool) -> str:
    if same:
        return "–"
    colour = "46 160 67" if value > 0 else "218 54 51"
    strength = 0.5 * abs(value) / most  # text on it must stand out
    return f'<span style="background: rgb({colour} / {strength:.2f}); padding: .2rem .4rem">{value:+.3f}</span>'
