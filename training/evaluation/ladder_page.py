"""The page of a ladder: ratings, the matrix of results, and sample games to step through."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...envs.render.svg import escape
from .meta_game import PolicyStanding
from .scores import in_two_lines

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border: 1px solid #8886; }
th:first-child, td:first-child { text-align: left; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
iframe { width: 100%; height: 48rem; border: 1px solid #8886; }
"""


def ladder_page(
    title: str,
    places: Sequence[PolicyStanding],
    names: Sequence[str],
    payoffs: NDArray[np.float64],
    unit: str,
    replay: str | None = None,
) -> str:
    """Return the HTML of a ladder, in one file that needs no network.

    Args:
        title: the page's title.
        places: the policies, the best first.
        names: the policies in the order of `payoffs`.
        payoffs: float64[N, N], what the row's policy wins from the column's.
        unit: the unit of the payoffs.
        replay: the HTML of sample games; None: none.
    """
    games = (
        "" if replay is None else f'<h2>Sample games</h2><iframe title="games" srcdoc="{html.escape(replay)}"></iframe>'
    )
    return document(title, f"{_ratings(places, unit)}{_matrix(places, names, payoffs, unit)}{games}")


def document(title: str, body: str) -> str:
    """Return an HTML page in one file that needs no network; `body` is HTML, `title` is text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"{body}</body></html>\n"
    )


def columns_of(places: Sequence[PolicyStanding], unit: str) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table of ratings; ratings that were not computed are left out."""
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
    if places[0].openskill is not None:
        heads.append("openskill")
        for row, place in zip(rows, places, strict=True):
            row.append(f"{place.openskill:.1f} ± {place.deviation:.1f}")
    if places[0].alpha_rank is not None:
        heads.append("α-rank")
        for row, place in zip(rows, places, strict=True):
            row.append(f"{place.alpha_rank:.3f}")
    return heads, rows


def _ratings(places: Sequence[PolicyStanding], unit: str) -> str:
    heads, rows = columns_of(places, unit)
    return table("Ratings", heads, [[escape(cell) for cell in row] for row in rows])


def _matrix(places: Sequence[PolicyStanding], names: Sequence[str], payoffs: NDArray[np.float64], unit: str) -> str:
    order = [list(names).index(one.name) for one in places]
    most = max(float(np.abs(payoffs).max()), 1e-12)
    rows = [[escape(names[i]), *(_cell(float(payoffs[i, j]), most, i == j) for j in order)] for i in order]
    return table(f"What the row wins from the column ({unit})", ["", *(names[j] for j in order)], rows)


def _cell(value: float, most: float, same: bool) -> str:
    if same:
        return "–"
    colour = "46 160 67" if value > 0 else "218 54 51"
    return (
        f'<span style="background: rgb({colour} / {abs(value) / most:.2f}); padding: .2rem .4rem">{value:+.3f}</span>'
    )


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; the cells are HTML, the caption and the headings are text."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
