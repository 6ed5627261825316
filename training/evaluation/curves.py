"""Learning curves of runs: read from ``metrics.jsonl``, runs with the same settings pooled over their seeds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ...wrappers.policies.loading import run_settings
from ...wrappers.policies.trained_for import read_settings
from .scores import student_quantile

Floats = NDArray[np.float64]
POINTS = 200
"""The most points of a curve that is pooled over seeds."""
NOT_COMPARED = ("seed", "run", "name", "runs", "progress", "track", "threads")
"""Settings that may differ between pooled runs."""


@dataclass(frozen=True)
class Curve:
    """A metric of one run.

    Attributes:
        steps: float64[K], the timesteps.
        values: float64[K], the metric there.
    """

    steps: Floats
    values: Floats


@dataclass(frozen=True)
class Group:
    """Runs with the same settings.

    Attributes:
        label: what distinguishes its settings from those of the other groups.
        curves: a metric of each run.
        theory: the metric's value in theory; None if the runs have none.
        names: the runs' names.
    """

    label: str
    curves: Sequence[Curve]
    theory: float | None = None
    names: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The names of its runs; of more than two the first one, and how many more there are."""
        first, *more = self.names
        return f"{first} and {len(more)} more" if len(more) > 1 else " and ".join(self.names)

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Return timesteps, interquartile means and half widths of their 95 % intervals, float64[K] each.

        The curves are interpolated at the timesteps of all, or at `POINTS` where there are more, as far as all of
        them go. The half width is nan for a single run.
        """
        first, last = max(one.steps[0] for one in self.curves), min(one.steps[-1] for one in self.curves)
        steps = np.unique(np.concatenate([one.steps for one in self.curves]).clip(first, last))
        steps = steps if len(steps) <= POINTS else np.linspace(first, last, POINTS)
        values = np.stack([np.interp(steps, one.steps, one.values) for one in self.curves])
        return steps, *interquartile(values)

    def ends(self, share: float) -> Floats:
        """Return each run's mean over the last `share` of its timesteps, float64[runs]."""
        return np.array([one.values[one.steps >= (1 - share) * one.steps[-1]].mean() for one in self.curves])


def half_width(values: Floats) -> Floats:
    """Return half the width of Student's 95 % interval of the mean over the first axis; nan for a single value."""
    count = len(values)
    if count < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(student_quantile(count - 1) * values.std(axis=0, ddof=1) / sqrt(count))


def interquartile(values: Floats) -> tuple[Floats, Floats]:
    """Return the interquartile mean over the first axis, and half the width of its 95 % interval.

    Of five and more values a quarter, rounded down, is left out at each end; fewer give their mean and `half_width`.
    The interval is that of Tukey and McLaughlin, by the winsorised deviation; of few values it covers 92 to 94 %.
    """
    count = len(values)
    cut = count // 4 if count > 4 else 0  # of four, two would be left, whose interval says nothing
    ordered = np.sort(values, axis=0)
    kept = ordered[cut : count - cut]
    if not cut:
        return kept.mean(axis=0), half_width(kept)
    deviation = np.clip(ordered, kept[0], kept[-1]).std(axis=0, ddof=1)
    half = student_quantile(len(kept) - 1) * deviation / (len(kept) / count * sqrt(count))
    return kept.mean(axis=0), np.asarray(half)


def bootstrapped(values: Sequence[float], draws: int = 10_000) -> tuple[float, float, float]:
    """Return the interquartile mean, and the ends of its 95 % interval by the percentile bootstrap over runs.

    The mean is nan without values; the ends are nan with less than two.
    """
    if len(values) < 2:
        return values[0] if values else float("nan"), float("nan"), float("nan")
    ends = np.array(values, np.float64)
    drawn = np.random.default_rng(0).choice(ends, (len(ends), draws))
    low, high = np.quantile(interquartile(drawn)[0], [0.025, 0.975])
    return float(interquartile(ends)[0]), float(low), float(high)


def difference(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the mean of `second` minus that of `first`, and half the width of Welch's 95 % interval.

    The half width is nan if one of them has a single value.
    """
    gap = float(second.mean() - first.mean())
    if min(len(first), len(second)) < 2:
        return gap, float("nan")
    parts = [one.var(ddof=1) / len(one) for one in (first, second)]
    if sum(parts) == 0:
        return gap, 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (first, second), strict=True))
    return gap, student_quantile(max(1, int(freedom))) * float(sqrt(sum(parts)))


def _theory(runs: Sequence[Path], metric: str) -> float | None:
    """Return the mean of a metric's value in theory over the runs; None if there is none."""
    curves = [_values(run, f"{metric}_theory") for run in runs]
    values = [value for curve in curves for _, value in curve]
    return float(np.mean(values)) if values else None


def _values(run: Path, metric: str) -> list[tuple[float, float]]:
    """Return timesteps and values of a metric; empty if the run does not have it."""
    return [(line["steps"], line[metric]) for line in read_metrics(run) if metric in line]


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's ``metrics.jsonl``, without a last one that was cut off by a crash.

    Raises:
        FileNotFoundError: if the run has no metrics.
        ValueError: if another line is not JSON.
    """
    file = run / "metrics.jsonl"
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: {run} has not been trained")
    try:
        return [json.loads(line) for line in file.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
    except json.JSONDecodeError as error:
        raise ValueError(f"{file} has a line that is not JSON: {error}") from None


def read_curve(run: Path, metric: str) -> Curve:
    """Return a metric of a run.

    Raises:
        FileNotFoundError: if the run has no metrics.
        ValueError: if it does not have this one, with those that it has.
    """
    points = _values(run, metric)
    if not points:
        names = ", ".join(sorted({name for line in read_metrics(run) for name in line} - {"steps"}))
        raise ValueError(f"{run} has no metric {metric!r}; it has {names}")
    steps, values = np.array(points, np.float64).T
    return Curve(steps, values)


def grouped(runs: Sequence[Path], metric: str) -> list[Group]:
    """Return runs pooled by their settings, in the order of their first runs.

    Raises:
        FileNotFoundError: if a run has no settings or no metrics.
        ValueError: if a run does not have the metric, or plays another game than the others.
    """
    settings = [_compared(run) for run in runs]
    _require_one_game(runs)
    names = {name for one in settings for name in one if any(one[name] != other.get(name) for other in settings)}
    names |= {name for one in settings for other in settings for name in other if name not in one}
    groups: dict[str, list[Path]] = {}
    for run, values in zip(runs, settings, strict=True):
        label = " ".join(f"{name}={values[name]}" for name in sorted(names) if name in values) or str(values["game"])
        groups.setdefault(label, []).append(run)
    return [
        Group(
            label,
            [read_curve(run, metric) for run in members],
            _theory(members, metric),
            [run.resolve().name for run in members],
        )
        for label, members in groups.items()
    ]


def _require_one_game(runs: Sequence[Path]) -> None:
    """Raise ValueError for runs of different games, whose figures have nothing to do with each other."""
    games = {run_settings(run).name: run.resolve().name for run in reversed(runs)}
    if len(games) > 1:
        plays = ", ".join(f"{run} plays {game}" for game, run in reversed(games.items()))
        raise ValueError(f"{plays}: figures of different games cannot be compared; name runs of one game")


def _compared(run: Path) -> dict[str, Any]:
    """Return the settings that are compared, those of nested tables by their full names."""
    flat: dict[str, Any] = {}
    settings = read_settings(run / "config.toml")
    if "game" not in settings:
        raise ValueError(f"{run / 'config.toml'} names no game")
    for name, value in settings.items():
        if name not in NOT_COMPARED:
            flat |= {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def comparison(groups: Sequence[Group], share: float) -> list[dict[str, Any]]:
    """Return for each group: the number of runs, the mean over the end of the runs, and what it gains on the first.

    Args:
        groups: the groups.
        share: the share of a run, at its end, over which the metric is averaged, above 0 to 1.
    """
    ends = [group.ends(share) for group in groups]
    rows = []
    for group, values in zip(groups, ends, strict=True):
        gap, gap_half = difference(ends[0], values)
        numbers = {"mean": float(values.mean()), "interval": float(half_width(values)), "gain": gap}
        rows.append({"settings": group.label, "runs": len(values), **numbers, "gain_interval": gap_half})
    return rows


def comparison_table(rows: Sequence[dict[str, Any]], metric: str) -> Table:
    """Return the rows of `comparison` as a table."""
    table = Table("settings", "runs", metric, "gain on the first", title="mean ± 95 % interval over runs")
    for column in table.columns[1:]:
        column.justify = "right"
    for number, row in enumerate(rows):
        gain = _with_interval(row["gain"], row["gain_interval"]) if number else ""
        table.add_row(row["settings"], str(row["runs"]), _with_interval(row["mean"], row["interval"]), gain)
    return table


def _with_interval(mean: float, half: float) -> str:
    return f"{mean:+.3f}" if np.isnan(half) else f"{mean:+.3f} ± {half:.3f}"


def plot(
    groups: Mapping[str, Sequence[Group]],
    path: str | PathLike[str],
    baselines: Mapping[str, Mapping[str, float]] | None = None,
) -> None:
    """Draw a panel per metric with a curve per group; the extension of `path` decides the format.

    Args:
        groups: the groups by metric.
        path: the file, such as ``curves.png`` or ``curves.svg``.
        baselines: metrics of other policies, by their names and then by metric; each is a dotted line in its panel.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * len(groups), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (metric, members) in zip(np.atleast_1d(figure.subplots(1, len(groups))), groups.items(), strict=True):
        for group in members:
            steps, means, half = group.pooled()
            (line,) = axes.plot(steps, means, label=group.name)
            if len(group.curves) > 1:
                axes.fill_between(steps, means - half, means + half, alpha=0.2, color=line.get_color())
            if group.theory is not None:
                axes.axhline(group.theory, linestyle="--", color=line.get_color(), label="theory")
        for number, (name, metrics) in enumerate((baselines or {}).items()):
            if metric in metrics:
                axes.axhline(metrics[metric], linestyle=":", color=str(0.2 + 0.2 * (number % 3)), label=name)
        axes.set(xlabel="timesteps", ylabel=metric)
        axes.legend(frameon=False, fontsize="small").set_in_layout(False)  # else a long name leaves no room
        axes.grid(alpha=0.3)
    with rc_context({"svg.fonttype": "none"}):  # text as text: a tenth of the size, and words can be found
        figure.savefig(path, dpi=120, metadata={"Date": None} if Path(path).suffix == ".svg" else None)
