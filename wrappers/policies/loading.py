"""Policies by name and from files: bots, run folders, saved models, the zoo."""

from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import cast

from ...envs.core.game import Game
from ...envs.core.options import did_you_mean
from ...envs.core.rollout import RandomPolicy as RandomPolicy
from .base import DAMAGES, LearnedPolicy, Policy, TabularPolicy, TrainedFor, of_settings, read_arrays, read_settings
from .elsewhere import at_table, misfit
from .mlp import MlpPolicy
from .sb3 import SB3Policy, load_model
from .solved import SolvedPolicy

ZOO = "zoo:"
"""With it begins the name of a policy of `parlour.zoo`."""
CHECKPOINTS = "checkpoints"
"""The folder of a run's checkpoints."""


def load_policy(
    path: str | PathLike[str], *, deterministic: bool = False, seed: int | None = None
) -> MlpPolicy | SB3Policy | SolvedPolicy | TabularPolicy:
    """Load a model that Stable-Baselines3 or sb3-contrib saved (``.zip``), or a saved `MlpPolicy`,
    `TabularPolicy` or `SolvedPolicy` (``.npz``).

    A plain MLP is loaded as an `MlpPolicy`, which does not need torch; any other model as an `SB3Policy`. A ``.npz``
    holds what the policy was trained for; for a ``.zip`` it is read from the run folder of the file, if there is one. A
    zip of Stable-Baselines3 contains pickled code: load only files that you trust.

    Args:
        path: the file; ``.zip`` may be left out.
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it is not such a model, or if its encoder shows hidden information.
        ImportError: if the package that saved it is not installed.
    """
    file = policy_file(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder; load_run() loads a run folder")
    if not file.exists():
        raise FileNotFoundError(f"there is no policy at {file}")
    policy: MlpPolicy | SB3Policy | SolvedPolicy | TabularPolicy
    try:
        if file.suffix == ".npz":
            policy = MlpPolicy.load(file, deterministic, seed, {"table": TabularPolicy, "solved_for": SolvedPolicy})
        else:
            model = load_model(file)
    except ValueError as error:
        raise ValueError(f"{error}{newest_whole(_run_of(file))}") from None
    if file.suffix != ".npz":
        try:
            policy = MlpPolicy.from_model(model, deterministic, seed)
        except ValueError:
            policy = SB3Policy(model, deterministic, seed)
    config = _run_of(file) / "config.toml"
    if policy.trained_for is None and config.is_file() and "game" in (settings := read_settings(config)):
        policy.set_trained_for(of_settings(settings))
    return policy


def _run_of(file: Path) -> Path:
    return file.parent.parent if file.parent.name == CHECKPOINTS else file.parent


def newest_whole(run: Path) -> str:
    """Return words that name the newest checkpoint of a run that can be read; "" if none can."""
    files = [file for file in (run / CHECKPOINTS).glob("*.npz") if file.stem.isdecimal()]
    for one in sorted(files, key=lambda file: int(file.stem), reverse=True):
        with suppress(OSError, *DAMAGES):
            read_arrays(one)
            return f"; the newest whole checkpoint is {one}"
    return ""


def policy_file(path: str | PathLike[str], seats: int | None = None) -> Path:
    """Return the path of a policy file: that of ``zoo:<name>``, or `path`, with ``.zip`` added if it was left out.

    Args:
        path: the name or path.
        seats: the number of seats of the table, for which the zoo may have another file; None: it is not known.

    Raises:
        ValueError: for an empty name, and one that the zoo does not have.
    """
    _require_name(path)
    if str(path).startswith(ZOO):
        from ...zoo import weights

        return weights(str(path), seats=seats)
    file = Path(path)
    zipped = file.with_name(file.name + ".zip")
    return zipped if not file.is_file() and zipped.is_file() else file


def load_run(path: str | PathLike[str], *, deterministic: bool = False, seed: int | None = None) -> tuple[Game, Policy]:
    """Load the folder of a training run: its game with the options of the training, and its policy.

    ``policy.npz`` is loaded if it exists (it does not need torch), else ``model.zip``.

    Raises:
        FileNotFoundError: if the folder, its ``config.toml`` or the policy is missing.
        ValueError: if `path` is empty, a file cannot be read, the game's observation or actions have changed since, or
            the encoder shows hidden information.
    """
    _require_name(path)
    folder = Path(path)
    trained_for = run_settings(folder)
    game = trained_for.make_game()
    saved = next((folder / name for name in ("policy.npz", "model.zip") if (folder / name).is_file()), None)
    if saved is None:
        raise FileNotFoundError(f"{folder} has no policy: neither policy.npz nor model.zip")
    policy = load_policy(saved, deterministic=deterministic, seed=seed)
    policy.set_trained_for(trained_for)
    if problem := misfit(policy, game):
        raise ValueError(f"the policy in {folder} {problem}")
    return game, policy


def run_settings(folder: Path) -> TrainedFor:
    """Return the game and options of the run in a folder.

    Raises:
        FileNotFoundError: if it is not a run folder.
        ValueError: if its ``config.toml`` names no game.
    """
    config = folder / "config.toml"
    if not config.is_file():
        raise FileNotFoundError(f"{folder} is not a run folder: it has no config.toml")
    try:
        return of_settings(read_settings(config))
    except ValueError as error:
        raise ValueError(f"{config}: {error}") from None


def make_policy(spec: str | Policy, game: Game, *, deterministic: bool = False, seed: int | None = None) -> Policy:
    """Return the policy that `spec` names: ``"random"``, a bot of the game, a run folder, a policy file,
    or a policy of the zoo such as ``"zoo:holdem"``.

    A policy for another version of the game can play if `game` still has its encoder, and one for other options, such
    as another number of seats, if its own game can read the table (see `elsewhere.reason_against`).

    Args:
        spec: the name or path; a policy is returned as it is.
        game: the game it will play.
        deterministic: whether a learned policy plays its most likely action.
        seed: seed of the policy's random stream; None takes entropy from the operating system.

    Raises:
        ValueError: for an unknown name (with the most similar one), or a policy that cannot play `game`.
    """
    if not isinstance(spec, str):
        if not hasattr(spec, "act"):
            raise ValueError(f"{spec!r} is not a policy: it has no act(observations, masks)")
        return spec
    _require_name(spec)
    if spec in game.bots:
        return cast(Policy, game.bots[spec](game, seed))
    if spec == "random":
        return RandomPolicy(seed)
    if Path(spec).is_dir():
        policy: LearnedPolicy = cast(LearnedPolicy, load_run(spec, deterministic=deterministic, seed=seed)[1])
    elif (file := policy_file(spec, game.seats)).exists():
        policy = load_policy(file, deterministic=deterministic, seed=seed)
    else:
        hint = did_you_mean(spec, sorted({"random", *game.bots}))
        raise ValueError(f"{spec!r} is neither a bot of {game.name} nor a file or run folder; {hint}")
    try:
        return at_table(policy, game)
    except ValueError as error:
        raise ValueError(f"{spec} {error}") from None


def _require_name(spec: str | PathLike[str]) -> None:
    """Raise ValueError for an empty name, which as a path would be the folder where one is."""
    if spec == "":
        raise ValueError("a name is missing: give a bot, a run folder, a policy file or a policy of the zoo")
