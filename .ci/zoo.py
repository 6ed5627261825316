#!/usr/bin/env python3
"""Replace a policy of the zoo by that of a run, or add runs of other seeds to its card.

    .ci/zoo.py [NAME] --take RUN [--deals 2000] [--hands 500] [--decisions 200000]
    .ci/zoo.py NAME --against RUN …
    .ci/zoo.py NAME --pool VERSION [--checkpoints FILE …]

With --take, a run or a policy file replaces the policy of its game; with another number of seats than that one, it
becomes NAME-SEATS, which plays in its place where it cannot. With a NAME, such as holdem-blueprint, it gets this one.
The weights are written in half precision and without the critic, they are measured, and a new card is written. Old
weights that a reference pool names move to the folder kept.
With a name and --against, runs of other seeds are measured and added to its card. With --pool the reference pool of a
game is written: its bots, its policy of the zoo, the same policy with half of its decisions at random, the checkpoints
of a run, whose weights are copied to the folder kept, and the marks of the scale. A released pool stays as it is.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tomli_w
from cyclopts import App, CycloptsError, Parameter
from parlour.envs import Game
from parlour.envs.core.rng import streams
from parlour.training.commands.list import HELD_OUT
from parlour.training.commands.lookup import (
    game_of,
    game_with,
    of_the_zoo,
    policies_of,
    policy,
    reason_against,
    require_opponents,
    rivals,
    tables_of,
    warn_about_differences,
)
from parlour.training.commands.measures import BatteryArguments, battery
from parlour.training.evaluation.duplicate import Score
from parlour.training.evaluation.exploit import Win, wins_of
from parlour.training.evaluation.games import compare, measures
from parlour.training.learning import run_folder
from parlour.training.learning.settings import LearnerArguments, TrainConfig
from parlour.training.models.reference import POOLS, Member, Pool, digest_of, play, pools
from parlour.wrappers.policies.base import TabularPolicy, read_settings
from parlour.wrappers.policies.loading import load_policy, load_run, policy_file, run_settings
from parlour.wrappers.policies.mlp import MlpPolicy
from parlour.wrappers.policies.solved import SolvedPolicy
from parlour.zoo import FOLDER, LARGEST, PREFIX, Card, Measure, card, names, weights

LICENCE = "MIT"


def command(
    which: Annotated[str | None, Parameter(name="NAME")] = None,
    *,
    take: str | None = None,
    made_by: str = "",
    budget: str = "",
    deals: int = 2_000,
    hands: int = 500,
    decisions: int = 200_000,
    learner: tuple[str, ...] = (),
    against: tuple[str, ...] = (),
    pool: int | None = None,
    checkpoints: tuple[Path, ...] = (),
    folder: Path = FOLDER,
) -> None:
    """Replace a policy of the zoo, or add runs of other seeds to its card.

    Args:
        which: A name, such as holdem, to whose card the runs of --against are added; with --take, the name that the
            policy gets, such as holdem-blueprint. Default: that of its game.
        take: A run folder, its name below runs/, or a policy file, which replaces the policy of its game.
        made_by: The command that made a policy file, with its `--seed`; a run knows its own.
        budget: What a policy file cost; a run knows its own.
        deals: Deals per opponent where the policy is measured; games per held-out set.
        hands: Hands of each local best response there.
        decisions: Decisions of the learned best response there; 0: none.
        learner: Settings of that learner as name=value, such as net_arch=[256,256].
        against: Runs and policy files that are opponents too, such as runs of other seeds (cross-play). The card
            names a run by the command that made it.
        pool: The version of a reference pool, which is written for the game that is named.
        checkpoints: Checkpoints of runs that the pool has too.
        folder: The folder of the zoo.
    """
    if pool is not None and which is not None and take is None:
        print(f"written: {_pool(which, pool, checkpoints, deals)}")
        return
    if take is not None:
        learned = LearnerArguments(decisions=decisions, learner=learner)
        which = _take(take, which, made_by, budget, deals, hands, learned, against, folder)
    elif which is None or not against:
        raise ValueError("give a run with --take, or a name such as holdem and runs with --against")
    else:
        _add(which, against, deals, folder)
    print(f"written: {weights(which, folder).with_suffix('.toml')}")


def _take(
    spec: str,
    name: str | None,
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
        made_by = made_by or _made_by(run)
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
    game = trained_for.make_game()
    file = folder / f"{name or _name(game, folder)}.npz"
    if not f"{file.stem}-".startswith(f"{game.name}-"):
        raise ValueError(f"{name}: a policy of {game.name} is called {game.name}, or {game.name}- and a word")
    _keep(file)
    _write(loaded, file)
    measured_by, measures = _measures(str(file), game, deals, hands, learned, against)
    about = Card(
        game=game.id,
        encoder=trained_for.encoder or game.encoder,
        command=made_by,
        seed=seed,
        budget=budget,
        licence=LICENCE,
        measured_by=measured_by.replace(str(file), f"{PREFIX}{file.stem}"),
        measures=measures,
        search=file.with_suffix(".toml").exists() and card(file.stem, file.parent).search,
        seats=[count for count, table in tables_of(game.name).items() if not reason_against(str(file), table)],
    )
    _write_card(about, file)
    return file.stem


def _name(game: Game, folder: Path) -> str:
    """Return the name that a policy for `game` gets: that of the game, or of a variant for another number of seats."""
    trained = load_policy(weights(game.name, folder)).trained_for if game.name in names(folder) else None
    is_first = trained is None or trained.make_game().seats == game.seats
    return game.name if is_first else f"{game.name}-{game.seats}"


def _add(which: str, against: tuple[str, ...], deals: int, folder: Path) -> None:
    """Measure what some runs win from a policy of the zoo, and add it to its card."""
    about, file = card(which, folder), weights(which, folder)
    game = game_of(str(file), None)
    require_opponents(game)
    player = policy(str(file), game, 0)
    others = policies_of(against, game, 0)
    warn_about_differences([(which, player), *others.items()], game)
    wins = [win for name, other in others.items() for win in wins_of(other, name, "run", player, game, deals=deals)]
    new = _measured(wins)
    kept = [one for one in about.measures if one.name not in {another.name for another in new}]
    words = f".ci/zoo.py {file.stem} --against {shlex.join(against)} --deals {deals}"
    measured_by = "; ".join(dict.fromkeys([*about.measured_by.split("; "), words]))
    measures = sorted([*kept, *new], key=lambda one: (one.kind == HELD_OUT, -one.mean))
    _write_card(msgspec.structs.replace(about, measured_by=measured_by, measures=measures), file)


def _pool(name: str, version: int, checkpoints: Sequence[Path], deals: int) -> Path:
    """Write a new reference pool and return its file; the marks are measured in so many deals.

    Raises:
        FileExistsError: if there is one of this version.
    """
    game = game_of("random", name)
    members = [
        Member(name=bot, plays=bot, digest=digest_of(policy(bot, game, 0), game))
        for bot in dict.fromkeys(["random", *rivals(game)])
    ]
    for spec in of_the_zoo(game):
        digest = sha256(policy_file(spec, game.seats).read_bytes()).hexdigest()
        members += [
            Member(name=spec, plays=spec, digest=digest),
            Member(name=f"{spec}, half random", plays=spec, digest=digest, random=0.5),
        ]
    members += [_checkpoint(name, file) for file in checkpoints]
    options = msgspec.to_builtins({key: value for key, value in game.options.items() if value is not None})
    made = Pool(game=game.id, version=version, options=options, members=members, best="", low=[], high=[])
    seeds = streams(2**31, deals).tolist()  # no deals of a rating
    players = made.players(game)
    means = [play(one, game, players, seeds).mean(axis=(0, 1)) for one in made.players(game, 1)]
    best = max(range(len(members)), key=lambda number: float(means[number].mean()))
    low, high = ([float(f"{value:.6g}") for value in means[number]] for number in (0, best))
    made = msgspec.structs.replace(made, best=members[best].name, low=low, high=high)
    file = Path(str(POOLS)) / f"{name}-{version}.toml"
    with file.open("x", encoding="utf-8") as new:
        new.write(tomli_w.dumps(msgspec.to_builtins(made)))
    return file


def _checkpoint(name: str, file: Path) -> Member:
    """Return a checkpoint of a run as a member of a pool, with its weights in the folder kept."""
    kept, steps = FOLDER / "kept", int(file.stem)
    kept.mkdir(exist_ok=True)
    new = kept / f"{name}-{steps}.npz"
    _write(load_policy(file), new)
    digest = sha256(new.read_bytes()).hexdigest()
    return Member(name=f"after {steps:,} decisions", plays=f"{PREFIX}{name}", digest=digest)


def _keep(file: Path) -> None:
    """Keep weights that a reference pool names, before they are replaced."""
    digest = sha256(file.read_bytes()).hexdigest() if file.exists() else None
    if any(digest == member.digest for one in pools() for member in one.members):
        (file.parent / "kept").mkdir(exist_ok=True)
        shutil.copy(file, file.parent / "kept" / f"{file.stem}-{digest[:16]}.npz")


def _write_card(about: Card, file: Path) -> None:
    file.with_suffix(".toml").write_text(tomli_w.dumps(msgspec.to_builtins(about)), "utf-8")


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


def _made_by(run: Path) -> str:
    """Return the command that made a run, without the options that name its folder, in this version or 0.2."""
    words = shlex.split((run / "command.txt").read_text("utf-8").splitlines()[0])
    kept = [word for word in words if word != "--no-progress"]
    for option in ("--run", "--name", "--runs"):
        if option in kept:
            at = kept.index(option)
            kept = kept[:at] + kept[at + 2 :]
    return shlex.join(kept)


def _cost(run: Path, settings: dict[str, Any]) -> str:
    """Return what a run cost, as text."""
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    if not lines:
        raise ValueError(f"{run / 'metrics.jsonl'} is empty: give --budget, what the training cost")
    last = json.loads(lines[-1])
    minutes = settings.get("minutes")
    spent = f"at most {minutes + (settings.get('cloning_minutes') or 0):g} minutes" if minutes else "no time limit"
    return f"{spent}, {int(last['steps']):,} decisions"


def _write(loaded: Any, file: Path) -> None:
    """Write the weights of a policy: of a network in half precision and without the critic.

    Raises:
        ValueError: if the policy is not plain NumPy, or the file is too large; then no file is left.
    """
    if isinstance(loaded, TabularPolicy | SolvedPolicy):
        loaded.save(file)
    elif isinstance(loaded, MlpPolicy):
        loaded.save(file, half=True)
    else:
        raise ValueError(
            f"a {type(loaded).__name__} does not play without torch: the zoo takes networks, tables, solved strategies"
        )
    if file.stat().st_size > LARGEST:
        size = file.stat().st_size
        file.unlink()
        raise ValueError(f"the weights have {size:,} bytes; {LARGEST:,} are allowed: train a smaller network")


def _measures(
    spec: str, game: Game, deals: int, hands: int, learned: LearnerArguments, against: tuple[str, ...]
) -> tuple[str, list[Measure]]:
    """Return the command that measures a policy, and what was measured, the worst first."""
    held_out = measures(game.name).held_out
    if held_out is not None:
        results: list[Measure] = []
        for name, settings in held_out.sets(game).items():
            this = game_with(game.id, (), **{**game.options, **settings})
            scores = held_out.score(this, policy(spec, this, 1), games=deals, seed=0)
            results += [
                _measure(f"{name}: {what}", HELD_OUT, score)
                for what, score in scores.items()
                if isinstance(score, Score)
            ]
        return f"parlour evaluate held-out {spec} --deals {deals}", sorted(results, key=lambda one: one.mean)
    opponents = BatteryArguments(against=against, deals=deals, hands=hands)
    measured = _measured(battery(spec, game, opponents, learned, zoo=False))
    measured += _beside_theory(spec, game)
    words = f"parlour evaluate exploit {spec} --deals {deals} --hands {hands} --decisions {learned.decisions}"
    words += f" --against {shlex.join(against)}" if against else ""
    return words + (f" --learner {shlex.join(learned.learner)}" if learned.learner else ""), measured


def _beside_theory(spec: str, game: Game) -> list[Measure]:
    """Return how a policy of hold'em plays before the flop at a full table, by position."""
    if "fewest" not in game.options:
        return []
    full = game_with(game.id, (), **{**game.options, "fewest": None})
    beside = compare(policy(spec, full, 1), full, matches=20_000)
    told = {line.what: (round(line.learned, 2), line.unit) for line in (beside.lines if beside else []) if line.learned}
    return [
        Measure(name=name, kind=HELD_OUT, mean=value, low=value, high=value, unit=unit or "players")
        for name, (value, unit) in told.items()
    ]


def _measured(wins: Sequence[Win]) -> list[Measure]:
    """Return wins as measures, the greatest first. A run has the name of the command that made it."""
    results = []
    for win in sorted(wins, key=lambda win: -win.score.mean):
        run = run_folder.existing(win.opponent) if win.kind == "run" else None
        name = "itself" if win.kind == "itself" else win.opponent if run is None else _made_by(run)
        results.append(_measure(name, win.kind, win.score, win.team))
    return results


def _measure(name: str, kind: str, score: Score, team: str | None = None) -> Measure:
    mean, low, high = (float(f"{value:.6g}") for value in (score.mean, score.low, score.high))
    return Measure(name=name, kind=kind, mean=mean, low=low, high=high, unit=score.unit, team=team or "")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 2 for a mistake, which is explained in a line."""
    try:
        app = App("make replace", default_parameter=Parameter(consume_multiple=True), result_action="return_value")
        app.default(command)
        app(words, exit_on_error=False, print_error=False)
    except (ValueError, OSError, CycloptsError) as error:
        print(f".ci/zoo.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
