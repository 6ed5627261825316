"""`parlour zoo`: the trained policies that come with Parlour, and how one is replaced by a better one."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tomli_w
import tyro
from rich.console import Console
from rich.table import Table

from ...envs import Game
from ...wrappers.policies.loading import load_policy, load_run, policy_file, run_settings
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.policies.tabular import TabularPolicy
from ...wrappers.policies.trained_for import read_settings
from ...zoo import FOLDER, LARGEST, PREFIX, Card, Measure, card, names
from ..evaluation.scores import Score
from ..games import specifics
from ..learning import run_folder
from ..learning.settings import TrainConfig
from .arguments import AsJson
from .exploit import LearnerArguments, battery
from .lookup import game_with, policy

LICENCE = "MIT"


def command(
    *,
    which: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="[NAME]")] = None,
    take: str | None = None,
    made_by: str = "",
    budget: str = "",
    deals: int = 2_000,
    hands: int = 500,
    decisions: int = 200_000,
    learner: tuple[str, ...] = (),
    against: tuple[str, ...] = (),
    folder: Path = FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the policies of the zoo and their cards. zoo:NAME stands wherever a run does.

    With --take, a run or a policy file replaces the policy of its game: the weights are written in half precision and
    without the critic, they are measured, and a new card is written.

    Args:
        which: A name, such as holdem: show all of its card.
        take: A run folder, its name below runs/, or a policy file.
        made_by: The command that made a policy file, with its `--seed`; a run knows its own.
        budget: What a policy file cost; a run knows its own.
        deals: Deals per opponent where the policy is measured; games per held-out set.
        hands: Hands of each local best response there.
        decisions: Decisions of the learned best response there; 0: none.
        learner: Settings of that learner as name=value, such as net_arch=[256,256].
        against: Runs and policy files that are opponents too, such as runs of other seeds (cross-play).
        folder: The folder of the zoo.
    """
    if take is not None:
        learned = LearnerArguments(decisions=decisions, learner=learner)
        which = _take(take, made_by, budget, deals, hands, learned, against, folder)
    chosen = names() if which is None else [which.removeprefix(PREFIX)]
    cards = {name: card(name) for name in chosen} if folder == FOLDER else {}
    if as_json:
        print(json.dumps(msgspec.to_builtins(cards), indent=2))
    elif which is None:
        Console(highlight=False).print(_overview(cards))
    else:
        for name, found in cards.items():
            Console(highlight=False).print(*_whole(name, found), sep="\n", soft_wrap=True)


def _overview(cards: dict[str, Card]) -> Table:
    table = Table("policy", "budget", "worst measure", "", "unit", title="the zoo")
    table.columns[0].no_wrap = True
    table.columns[0].min_width = max((len(f"{PREFIX}{name}") for name in cards), default=0)
    for name, found in cards.items():
        worst = found.measures[0]
        table.add_row(f"{PREFIX}{name}", found.budget, worst.name, f"{worst.mean:+.3g}", worst.unit)
    return table


def _whole(name: str, found: Card) -> list[Any]:
    table = Table("measure", "team", "", "95 % interval", "unit", title=f"{PREFIX}{name}, {found.game}")
    for one in found.measures:
        table.add_row(one.name, one.team, f"{one.mean:+.4g}", f"{one.low:+.4g} to {one.high:+.4g}", one.unit)
    made = f"made by: {found.command} (seed {found.seed}; {found.budget}; licence {found.licence})"
    return [table, made, f"measured by: {found.measured_by}"]


# Taking a policy.


def _take(
    spec: str,
    made_by: str,
    budget: str,
    deals: int,
    hands: int,
    learned: LearnerArguments,
    against: tuple[str, ...],
    folder: Path,
) -> str:
    """Write weights and card of the policy that `spec` names; return its name in the zoo."""
    run = run_folder.existing(spec)
    seed = _seed_of(made_by)
    if run is not None:
        loaded = load_run(run)[1]
        settings = read_settings(run / "config.toml")
        made_by = made_by or shlex.join(_without(shlex.split((run / "command.txt").read_text().splitlines()[0])))
        budget, seed = budget or _cost(run, settings), int(settings.get("seed", 0))
        trained_for = run_settings(run)
    else:
        loaded = load_policy(policy_file(spec))
        if loaded.trained_for is None or not (made_by and budget):
            raise ValueError(
                f"{spec}: a policy file needs --made-by and --budget, and to hold the game it was made for"
            )
        trained_for = loaded.trained_for
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{trained_for.name}.npz"
    _write(loaded, file)
    game = trained_for.make_game()
    measured_by, measures = _measures(str(file), game, deals, hands, learned, against)
    about = Card(
        game=game.id,
        encoder=trained_for.encoder or game.encoder,
        command=made_by,
        seed=seed,
        budget=budget,
        licence=LICENCE,
        measured_by=measured_by.replace(str(file), f"{PREFIX}{trained_for.name}"),
        measures=measures,
    )
    file.with_suffix(".toml").write_text(tomli_w.dumps(msgspec.to_builtins(about)), "utf-8")
    return trained_for.name


def _seed_of(command: str) -> int:
    """Return the seed in a command line; without one, the default of `parlour train`.

    Raises:
        ValueError: if it is not a whole number.
    """
    words = shlex.split(command.replace("--seed=", "--seed "))
    if "--seed" not in words:
        return TrainConfig.seed
    at = words.index("--seed") + 1
    if at == len(words) or not words[at].isdecimal():
        raise ValueError(f"--made-by {command!r}: after --seed comes a whole number")
    return int(words[at])


def _without(words: list[str]) -> list[str]:
    """Return a command line without the name of the run, which says nothing about the policy."""
    kept = [word for word in words if word != "--no-progress"]
    if "--name" in kept:
        at = kept.index("--name")
        kept = kept[:at] + kept[at + 2 :]
    return kept


def _cost(run: Path, settings: dict[str, Any]) -> str:
    """Return what a run cost, as text."""
    last = json.loads((run / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
    minutes = sum(float(settings.get(name) or 0) for name in ("cloning_minutes", "minutes"))
    spent = f"at most {minutes:g} minutes" if minutes else "no time limit"
    return f"{spent}, {int(last['steps']):,} decisions"


def _write(loaded: Any, file: Path) -> None:
    """Write the weights of a policy: of a network in half precision and without the critic.

    Raises:
        ValueError: if the policy is not plain NumPy, or the file is too large; then no file is left.
    """
    if isinstance(loaded, TabularPolicy):
        loaded.save(file)
    elif isinstance(loaded, MlpPolicy):
        loaded.save(file, half=True)
    else:
        raise ValueError(
            f"a {type(loaded).__name__} does not play without torch: the zoo takes plain networks and tables"
        )
    if file.stat().st_size > LARGEST:
        size = file.stat().st_size
        file.unlink()
        raise ValueError(f"the weights have {size:,} bytes; {LARGEST:,} are allowed: train a smaller network")


def _measures(
    spec: str, game: Game, deals: int, hands: int, learned: LearnerArguments, against: tuple[str, ...]
) -> tuple[str, list[Measure]]:
    """Return the command that measures a policy, and what was measured, the worst first."""
    held_out = specifics(game.name).held_out
    if held_out is not None:
        found: list[Measure] = []
        for name, settings in held_out.sets(game).items():
            this = game_with(game.id, (), **{**game.options, **settings})
            scores = held_out.score(this, policy(spec, this, 1), games=deals, seed=0)
            found += [
                _measure(f"{name}: {what}", "held out", score)
                for what, score in scores.items()
                if isinstance(score, Score)
            ]
        return f"parlour figures {spec} --games {deals}", sorted(found, key=lambda one: one.mean)
    wins = sorted(battery(spec, game, against, deals, hands, learned, zoo=False), key=lambda win: -win.score.mean)
    measured = [
        _measure("itself" if win.kind == "itself" else win.opponent, win.kind, win.score, win.team) for win in wins
    ]
    words = f"parlour exploit {spec} --deals {deals} --hands {hands} --decisions {learned.decisions}"
    words += f" --against {shlex.join(against)}" if against else ""
    return words + (f" --learner {shlex.join(learned.learner)}" if learned.learner else ""), measured


def _measure(name: str, kind: str, score: Score, team: str | None = None) -> Measure:
    mean, low, high = (float(f"{value:.6g}") for value in (score.mean, score.low, score.high))
    return Measure(name=name, kind=kind, mean=mean, low=low, high=high, unit=score.unit, team=team or "")
