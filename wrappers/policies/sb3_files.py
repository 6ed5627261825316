"""Model files of Stable-Baselines3 and sb3-contrib."""

import zipfile
from pathlib import Path
from typing import Any

from ...envs.core.files import parsed
from ...envs.core.installed import install
from .npz_files import read_part


def load_model(file: Path) -> Any:
    """Return the model in a ``.zip``, on the CPU.

    Raises:
        ValueError: if there is none, if it is damaged, or if its actions are not discrete.
        ImportError: if the package that saved it is not installed.
    """
    data = _read_data(file)
    try:
        module = data["policy_class"]["__module__"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} is no model saved by Stable-Baselines3 or sb3-contrib: {error}") from None
    name = _algorithm(module, data)
    try:
        import sb3_contrib
        import stable_baselines3
    except ImportError as error:
        raise ImportError(f"{file} is a {name} model and needs {error.name}: {install('train')}") from None
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    try:
        return algorithm.load(file, device="cpu")
    except Exception as error:  # pickle, torch and the library fail in many ways
        raise ValueError(f"{file} is damaged: {name}.load ends with {type(error).__name__}") from error


def _read_data(file: Path) -> dict[str, Any]:
    """Return the settings in a saved model, as JSON values.

    Raises:
        ValueError: if the file is not a saved model.
    """
    try:
        data = parsed(read_part(file, "data"), "its part data")
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{file} is no model saved by Stable-Baselines3 or sb3-contrib: {error}") from None
    return data if isinstance(data, dict) else {}


def _algorithm(module: str, data: dict[str, Any]) -> str:
    """Return the name of the class that saved a model. It follows from the policy's module and the settings."""
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
        f"a policy of {module} has no discrete actions; supported are PPO, MaskablePPO, A2C, TRPO, DQN, QR-DQN"
    )
