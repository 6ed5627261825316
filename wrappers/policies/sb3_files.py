"""Model files of Stable-Baselines3 and sb3-contrib, also those written by earlier versions of Parlour."""

import base64
import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

from ...envs.core.installed import install
from .npz_files import read_part

RENAMED = {("parlour.wrappers.sb3", "Parts"): ("parlour.wrappers.rl.sb3", "ColumnSelector")}
"""Renamed classes: module and name in earlier versions, and the current ones."""


def load_model(file: Path) -> Any:
    """Return the model in a ``.zip``, on the CPU.

    Raises:
        ValueError: if there is none, if it is damaged, or if its actions are not discrete.
        ImportError: if the package that saved it is not installed.
    """
    data = read_data(file)
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
        return algorithm.load(file, device="cpu", custom_objects=renamed_objects(data))
    except Exception as error:  # pickle, torch and the library fail in many ways
        raise ValueError(f"{file} is damaged: {name}.load ends with {type(error).__name__}") from error


def read_data(file: Path) -> dict[str, Any]:
    """Return the settings in a saved model, as JSON values.

    Raises:
        ValueError: if the file is not a saved model.
    """
    try:
        data = json.loads(read_part(file, "data"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{file} is no model saved by Stable-Baselines3 or sb3-contrib: {error}") from None
    return data if isinstance(data, dict) else {}


def renamed_objects(data: dict[str, Any]) -> dict[str, Any]:
    """Return the objects of a model's settings that use an old class name, for ``load(custom_objects=…)``."""
    objects = {}
    for name, value in data.items():
        pickled = base64.b64decode(value.get(":serialized:", "")) if isinstance(value, dict) else b""
        if any(module.encode() in pickled for module, _ in RENAMED):
            objects[name] = _Unpickler(io.BytesIO(pickled)).load()
    return objects


class _Unpickler(pickle.Unpickler):
    """An unpickler that also finds classes by their old names."""

    def find_class(self, module: str, name: str) -> Any:
        module, name = RENAMED.get((module, name), (module, name))
        return super().find_class(module, name)


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
