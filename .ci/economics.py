"""Train a policy for each game of economics by self-play, and print how close it comes to theory, as a Markdown table.

    .ci/economics.py FOLDER [GAME ...] [--seed 1]

Each game is trained with its preset (`parlour train GAME`), compared with its equilibrium (`parlour evaluate`) and
attacked by all its bots and by a learned best response (`parlour evaluate exploit`). The runs and results are kept
in FOLDER: a second call continues where the first one ended.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from parlour.training.evaluation.games import packages

BIN = Path(sys.executable).parent
MATCHES = 10_000
HEAD = (
    "| game | minutes | utilities: theory | reached | choices: theory, reached | learned best response gains | worst "
    "known opponent |\n|---|---|---|---|---|---|---|"
)


def games() -> list[str]:
    """Return the games of economics."""
    return [game for game, package in packages().items() if package == "economics"]


def command(*words: object) -> str:
    """Run a command of Parlour and return what it prints."""
    line = [str(BIN / "parlour"), *map(str, words)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def results(game: str, folder: Path, seed: int) -> dict[str, Any]:
    """Train and measure one game, unless the folder has its results."""
    run = folder / f"{game}-{seed}"
    kept = run / "results.json"
    figures: dict[str, Any] = json.loads(kept.read_text()) if kept.is_file() else {"game": game}
    if "minutes" not in figures:
        began = time.monotonic()
        command("train", game, "--run", run, "--seed", seed)
        figures["minutes"] = (time.monotonic() - began) / 60
        kept.write_text(json.dumps(figures))
    if "evaluated" not in figures:
        figures["evaluated"] = json.loads(command("evaluate", run, "--deals", MATCHES, "--seed", seed + 100, "--json"))
        kept.write_text(json.dumps(figures))
    if "exploited" not in figures:
        learner = ("--algorithm", "selfplay", "--seed", seed + 200)
        figures["exploited"] = json.loads(command("evaluate", "exploit", run, "--deals", MATCHES, *learner, "--json"))
        kept.write_text(json.dumps(figures))
    return figures


def row(figures: dict[str, Any]) -> str:
    """Return one row of the table."""
    lines: dict[str, Any] = figures["evaluated"]["theory"] or {}
    reached, theory = (
        ", ".join(_short(one[side]) for name, one in lines.items() if name.startswith("utility_"))
        for side in ("learned", "theory")
    )
    choices = "; ".join(
        f"{one['what'].partition(':')[0]} {_short(one['theory'])}, {_short(one['learned'])}"
        for name, one in lines.items()
        if name.startswith("choice_")
    )
    [worst] = figures["exploited"]["worst"]
    learned = next(one for one in figures["exploited"]["opponents"] if one["kind"] == "learned")
    cells = (
        f"`{figures['game']}`",
        f"{figures['minutes']:.1f}",
        theory or "—",
        reached or "—",
        choices or "—",
        _interval(learned),
        "the same" if worst == learned else f"`{worst['opponent']}` {_interval(worst)}",
    )
    return f"| {' | '.join(cells)} |"


def _interval(win: dict[str, Any]) -> str:
    return f"{_short(win['mean'])} [{_short(win['low'])}, {_short(win['high'])}]"


def _short(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}".replace("-", "−")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs and results are kept")
    parser.add_argument("games", nargs="*", metavar="GAME", help="the games; none: all")
    parser.add_argument("--seed", type=int, default=1, help="the seed of training (default: 1)")
    given = parser.parse_args()
    print(HEAD)
    for game in given.games or games():
        print(row(results(game, given.folder, given.seed)), flush=True)


if __name__ == "__main__":
    main()
