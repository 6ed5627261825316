"""Pages of reference results: one for each result, and the leaderboard of all results in a folder."""

import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...envs.core.files import parsed
from ...envs.render.svg import escape
from ...wrappers.agents.language_model import COLUMNS as MODEL_COLUMNS
from ...wrappers.agents.language_model import ModelStatistics, columns
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.pages import document, provenance, table, without_empty
from .reference import paired

Result = Mapping[str, Any]
SETTINGS = (
    *("options", "llm_url", "temperature", "max_tokens", "state_view", "legal_actions", "conversation", "skin"),
    "prompts",
)
"""The settings of a model that its exploitability and its rating have in common, those that both files hold."""
MADE = ("date", "seed", "version", "command", "model", "run", "digest", *SETTINGS)
"""What the page of a result says of how it was made."""
COLUMNS = {
    "rating": "0 is random play, 100 the best member of the pool; 95 % interval. The table is sorted by it.",
    "skill": "the rating of the games in which no decision of a language model was replaced.",
    "exploitability": "how much a best response wins from the player, in units of the game.",
    "replaced / 100 decisions": "decisions without a usable answer of a language model; the game's safe action was "
    "played. In brackets: answers that were illegal, unparsable, late, refused or missing, the corrected ones too.",
    "tokens in, out": "tokens that a language model read and wrote, as its endpoint counts them.",
    "s": "seconds of a decision of a language model.",
    "deals": "the number of deals; each is played in every role against every member.",
}

MEANING = """
<section>
<h2>What the numbers mean</h2>
<p><b>Rating.</b> The player played the same deals in every role against every member of a frozen pool of opponents.
Its rating is its mean return on a scale with two marks: 0 is random play, 100 is the member of the pool with the
greatest mean. A player may be below 0 or above 100. The brackets hold a 95 % interval over the deals; the marks are
fixed numbers of the pool. Ratings are comparable where game, pool version and pool digest are the same.</p>
<p><b>What it is not.</b> It tells how much a player wins from these opponents, weak ones among them. It does not tell
how much a new opponent wins from the player: that is the exploitability, which is exact in small games (an
exact best response wins so much more than the player itself, on average over the seats; an equilibrium has 0).</p>
<p><b>Skill.</b> Where a language model's answer is illegal, unparsable, late, refused or missing, also when it is asked
again, the game's safe action is played, and the rating is with it. The skill is the rating of the games in which no
decision was replaced so. These are not a random part of the games: in long games more is replaced.</p>
</section>
"""


def read_results(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Return the results of `parlour evaluate reference` in a folder, and of `parlour evaluate exploit-model --json`.

    Other JSON files are left out. Of those that are no JSON, or lack something of a result, there is a sentence.
    """
    rated, exploited, problems = [], [], []
    for file in sorted(folder.glob("*.json")):
        if file.name.endswith(".tmp.json"):  # another process is writing it
            continue
        try:
            read = parsed(file.read_bytes(), "it")
            if not isinstance(read, dict):
                continue
            if {"player", "pool", "rating", "results"} <= read.keys():
                rated.append({**_checked(read), "file": file.stem, "replay": _replay(read)})
            elif {"nash_conv", "model", "game"} <= read.keys():
                exploited.append({**read, "wins": float(read["wins"])})
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{file.name} is left out: {error if isinstance(error, ValueError) else repr(error)}")
    return rated, exploited, problems


def read_result(file: Path) -> dict[str, Any]:
    """Return a result of `parlour evaluate reference`.

    Raises:
        ValueError: if the file holds none.
    """
    try:
        return _checked(parsed(file.read_bytes(), "it"))
    except ValueError as error:
        raise ValueError(f"{file} is no result of parlour evaluate reference: {error}") from None


def _checked(read: Any) -> dict[str, Any]:
    """Return a result of which a page can be made, and from which a rating can go on.

    Raises:
        ValueError: if it lacks something, or its parts do not fit together.
    """
    try:
        shape = len(read["members"]), read["deals"], len(read["roles"])
        for numbers in (read["results"], read["faulty"] or read["results"]):
            if np.shape(numbers) != shape:  # NumPy raises ValueError for rows of several lengths
                raise ValueError("its results are not one for every member, deal and role")
        for row in read["counts"].values():
            ModelStatistics.of(row)
        for figure in (read["return"], *read["members"].values()):  # with their intervals, which the command prints
            interval(figure)
        result_page({**read, "file": "", "replay": ""})
        return {**read}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def write_pages(folder: Path) -> tuple[Path, list[str]]:
    """Write a page for every result in a folder, and ``index.html``, the leaderboard.

    Returns:
        The path of the leaderboard, and a sentence for every file that is left out because it is broken.
    """
    results, exploited, problems = read_results(folder)
    for one in results:
        measured = [other["wins"] for other in exploited if _same_model(one, other)]
        one["exploitability"] = [one["exploitability"], *measured][-1]
        text = document(f"{one['player']} in {one['game']}", result_page(one), {name: one.get(name) for name in MADE})
        (folder / f"{one['file']}.html").write_text(text, "utf-8")
    pools = sorted({_pool(one) for one in results})
    body = "".join(board([one for one in results if _pool(one) == pool]) for pool in pools)
    index = folder / "index.html"
    body = (body or "<p>There are no results.</p>") + MEANING
    index.write_text(document("Leaderboard", body, provenance()), "utf-8")
    return index, problems


def _same_model(rated: Result, exploited: Result) -> bool:
    if any(rated.get(name) != exploited[name] for name in ("game", "model")):
        return False
    return all(rated[name] == exploited[name] for name in SETTINGS if name in rated and name in exploited)


def _pool(one: Result) -> tuple[str, int, str, tuple[str, ...], tuple[str, ...]]:
    pool = one["pool"]
    return one["game"], pool["version"], pool["digest"], tuple(one["members"]), tuple(one["roles"])


def result_page(one: Result) -> str:
    """Return the HTML of one result, without the document around it."""
    parts = [board([one])]
    if one["counts"]:
        heads, lines = columns(one["counts"])
        rows = [list(map(escape, line)) for line in lines]
        parts.append(table("Answers of the model, by seat", heads, rows, None, MODEL_COLUMNS))
    return "".join([*parts, MEANING])


def interval(score: Mapping[str, Any] | None, sign: str = "") -> str:
    """Return a mean with its interval, where it has one, to the first digit of its half; a dash for None.

    >>> interval({"mean": -96.83, "low": -120.4, "high": -73.2})
    '-97 [-120, -73]'
    >>> interval({"mean": 0.12345, "low": 0.1, "high": 0.147}, "+")
    '+0.12 [+0.10, +0.15]'
    >>> interval({"mean": -0.2, "low": -1.3, "high": 0.9})
    '0 [-1, 1]'
    """
    if score is None or score["mean"] is None:
        return "—"
    mean, low, high = (score[name] for name in ("mean", "low", "high"))
    exact = abs(mean) / 10 if low is None else (high - low) / 2
    form = f"{sign}z.{max(0, -math.floor(math.log10(exact))) if exact else 0}f"
    return f"{mean:{form}}" + ("" if low is None else f" [{low:{form}}, {high:{form}}]")


def caveats(one: Result) -> str:
    """Return what the line of a rating says behind it: what was not played, and how many answers were replaced."""
    unplayed = np.isnan(np.array(one["results"], np.float64)).all(axis=1)
    pairs = f", without {unplayed.sum()} of {unplayed.size} pairs of opponent and role" if unplayed.any() else ""
    asked, replaced = (sum(int(row[name]) for row in one["counts"].values()) for name in ("decisions", "replaced"))
    return pairs + (f", of {asked:,} decisions {replaced:,} were replaced" if replaced else "")


def board(results: Sequence[Result]) -> str:
    """Return the leaderboard of one pool as HTML: ratings, results by member, and differences on the same deals."""
    order = sorted(results, key=lambda one: -one["return"]["mean"])
    first = order[0]
    pool, roles = first["pool"], list(first["roles"])
    rating, *others = COLUMNS
    heads = ["player", rating, *roles, *others]
    title = f"{first['game']}, pool {pool['version']} ({pool['digest']})"
    heads, rows = without_empty(heads, [_row(one, roles) for one in order])
    members = list(first["members"])
    against = [
        [escape(one["player"]), *(interval({**one["members"][name], "low": None}, "+") for name in members)]
        for one in order
    ]
    unit = first["return"]["unit"]
    parts = [
        table(title, heads, rows, "rating", COLUMNS | {role: f"the rating in the role {role}." for role in roles}),
        table(f"Mean against each member of the pool ({unit})", ["player", *members], against),
    ]
    if len(order) > 1:
        more = [[escape(one["player"]), *(_difference(one, other) for other in order)] for one in order]
        caption = f"What the row has more than the column, from the same opponents on the same deals ({unit})"
        parts.append(table(caption, ["player", *(one["player"] for one in order)], more))
    games = "".join(f"<details><summary>{escape(one['player'])}</summary>{one['replay']}</details>" for one in order)
    return f"<h2>{escape(first['game'])}</h2>{''.join(parts)}{games}"


def _row(one: Result, roles: Sequence[str]) -> list[str]:
    link = f'<a href="{html.escape(one["file"])}.html">{escape(one["player"])}</a>'
    worth = "—" if one["exploitability"] is None else f"{one['exploitability']:.4f}"
    by_role = [interval(one["roles"][role]["rating"]) for role in roles]
    return [
        link, interval(one["rating"]) + caveats(one), *by_role, interval(one["skill"]), worth, *_costs(one),
        f"{one['deals']:,}",
    ]  # fmt: skip


def _costs(one: Result) -> list[str]:
    """Return replaced decisions, tokens, and seconds per decision of a language model, of all seats together."""
    counts = one["counts"].values()
    asked = sum(row["decisions"] for row in counts)
    if not asked:
        return ["—"] * 3

    def total(name: str) -> float:
        return sum(float(row[name]) for row in counts)

    kinds = ("illegal", "unparsable", "late", "refused", "failed")
    faults = ", ".join(f"{100 * total(kind) / asked:.1f} {kind}" for kind in kinds if total(kind))
    replaced = f"{100 * total('replaced') / asked:.1f}" + (f" ({faults})" if faults else "")
    seconds = sum(row["decisions"] * row["s/decision"] for row in counts) / asked
    return [replaced, f"{total('tokens in'):,.0f}, {total('tokens out'):,.0f}", f"{seconds:.2f}"]


def _difference(one: Result, other: Result) -> str:
    score = None if one is other else paired(one, other)
    return "–" if score is None else escape(score.in_two_lines())


def _replay(one: Result) -> str:
    """Return the sample games of a result as a frame with their replay; empty: there are none."""
    if not one["samples"]:
        return ""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in one["samples"]), "utf-8")
        shown = page(moments(file), f"{one['game']}: sample games")
    return f'<iframe title="sample games" loading="lazy" srcdoc="{html.escape(shown)}"></iframe>'
