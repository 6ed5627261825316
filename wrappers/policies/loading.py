"""Policy: what plays from observations, in batches. Random, scripted, learned; by name or from a file."""

import json
import tomllib
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any, cast

from ...envs import game as make_game
from ...envs.core.game import Game
from ...envs.core.options import did_you_mean
from ...envs.core.random_policy import RandomPolicy as RandomPolicy
from .base import Policy
from .mlp import MlpPolicy
from .sb3 import SB3Policy

# From names and files.


def load_policy(
    path: str | PathLike[str], *, deterministic: bool = False, seed: int | None = None
) -> MlpPolicy | SB3Policy:
    """Load a model that Stable-Baselines3 or sb3-contrib saved (``.zip``), or a saved `MlpPolicy` (``.npz``).

    A plain MLP comes back as an `MlpPolicy`, which acts without torch; any other model as an `SB3Policy`. A zip of
    Stable-Baselines3 holds pickled code: load only files that you trust.

    Args:
        path: the file; ``.zip`` may be left out.
        deterministic: play the most likely action instead of sampling.
        seed: of the policy's own random stream; None for fresh entropy.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no such model.
        ImportError: if the package that saved it is not installed.
    """
    file = Path(path)
    if not file.is_file() and file.with_name(file.name + ".zip").is_file():
        file = file.with_name(file.name + ".zip")
    if file.is_dir():
        raise ValueError(f"{file} is a folder; load_run() loads a run folder")
    if not file.exists():
        raise FileNotFoundError(f"there is no policy at {file}")
    if file.suffix == ".npz":
        return MlpPolicy.load(file, deterministic, seed)
    model = _load_model(file)
    try:
        return MlpPolicy.from_model(model, deterministic, seed)
    except ValueError:
        return SB3Policy(model, deterministic, seed)


def _load_model(file: Path) -> Any:
    try:
        with zipfile.ZipFile(file) as archive:
            data = json.loads(archive.read("data"))
            module = data["policy_class"]["__module__"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is no model saved by Stable-Baselines3 or sb3-contrib: {error}") from None
    name = _algorithm(module, data)
    try:
        import sb3_contrib
        import stable_baselines3
    except ImportError as error:
        raise ImportError(f"{file} is a {name} model and needs {error.name}: pip install 'parlour[train]'") from None
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    return algorithm.load(file, device="cpu")


def _algorithm(module: str, data: dict[str, Any]) -> str:
    """Return the class that saved a model. The file does not name it; its policy's module and its settings tell."""
    if "recurrent" in module:
        return "RecurrentPPO"
    if "maskable" in module:
        return "MaskablePPO"
    if "qrdqn" in module:
        return "QRDQN"
    if "dqn" in module:
        return "DQN"
    if "stable_baselines3.common" in module or "clip_range" in data:
        return "PPO" if "clip_range" in data else "TRPO" if "cg_max_steps" in data else "A2C"
    raise ValueError(
        f"a policy of {module} has no discrete actions; known are PPO, MaskablePPO, A2C, TRPO, DQN, QR-DQN"
    )


def load_run(path: str | PathLike[str], *, deterministic: bool = False, seed: int | None = None) -> tuple[Game, Policy]:
    """Load the folder of a training run: its game with the options it was trained with, and its policy.

    ``policy.npz`` is taken where the run has it (no torch is needed then), else ``model.zip``.

    Raises:
        FileNotFoundError: if the folder, its ``config.toml`` or the policy is missing.
        ValueError: if a file cannot be read, or the game's observation or actions have changed since.
    """
    folder = Path(path)
    config = folder / "config.toml"
    if not config.is_file():
        raise FileNotFoundError(f"{folder} is no run folder: it has no config.toml")
    try:
        settings = tomllib.loads(config.read_text())
        game = make_game(settings["game"], **settings.get("options", {}))
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{config} does not name a game with its options: {error!r}") from None
    saved = folder / "policy.npz"
    policy = load_policy(saved if saved.is_file() else folder / "model.zip", deterministic=deterministic, seed=seed)
    policy.reward_scale = float(settings.get("reward_scale", 1.0))
    trained, now = (policy.inputs, policy.outputs), (game.layout.size, game.num_actions)
    if trained != now:
        raise ValueError(
            f"{folder} was trained on observations of {trained[0]} numbers and {trained[1]} actions; {game.id} now has "
            f"{now[0]} and {now[1]}"
        )
    return game, policy


def make_policy(spec: str | Policy, game: Game, *, deterministic: bool = False, seed: int | None = None) -> Policy:
    """Return the policy that `spec` names: ``"random"``, a bot of the game, a run folder, or a policy file.

    Args:
        spec: the name or path; a policy is returned as it is.
        game: the game it will play.
        deterministic: whether a learned policy plays its most likely action.
        seed: of the policy's own random stream; None for fresh entropy.

    Raises:
        ValueError: if it names nothing (with the nearest name), or a policy of another game.
    """
    if not isinstance(spec, str):
        if not hasattr(spec, "act"):
            raise ValueError(f"{spec!r} is no policy: it has no act(observations, masks)")
        return spec
    if spec in game.bots:
        return cast(Policy, game.bots[spec](game, seed))
    if spec == "random":
        return RandomPolicy(seed)
    path = Path(spec)
    if path.is_dir():
        other, policy = load_run(path, deterministic=deterministic, seed=seed)
        if (other.id, other.layout.size, other.num_actions) != (game.id, game.layout.size, game.num_actions):
            theirs, ours = (_unshared(one, two) for one, two in ((other, game), (game, other)))
            raise ValueError(f"{spec} plays {other.id} with {theirs}, not {game.id} with {ours}")
        return policy
    if path.exists() or path.with_name(path.name + ".zip").exists():
        return load_policy(path, deterministic=deterministic, seed=seed)
    hint = did_you_mean(spec, sorted({"random", *game.bots}))
    raise ValueError(f"{spec!r} is neither a bot of {game.name} nor a file or run folder; {hint}")


def _unshared(game: Game, other: Game) -> str:
    """Write the options in which `game` differs from `other`."""
    return ", ".join(f"{key}={value}" for key, value in game.options.items() if other.options.get(key) != value)
