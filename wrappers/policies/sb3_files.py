"""The files in which Stable-Baselines3 and sb3-contrib save their models, those of earlier versions of Parlour too."""

import base64
import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

RENAMED = {("parlour.wrappers.sb3", "Parts"): ("parlour.wrappers.rl.sb3", "ColumnSelector")}
"""Classes by module and name in earlier versions, and what they are called now."""


def load_model(file: Path) -> Any:
    """Return the model that a ``.zip`` holds, on the CPU.

    Raises:
        ValueError: if it holds none, or one without discrete actions.
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
        raise ImportError(f"{file} is a {name} model and needs {error.name}: pip install 'parlour[train]'") from None
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    return algorithm.load(file, device="cpu", custom_objects=renamed_objects(data))


def read_data(file: Path) -> dict[str, Any]:
    """Return the settings in a saved model, as JSON has them.

    Raises:
        ValueError: if the file is no saved model.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            data = json.loads(archive.read("data"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{file} is no model saved by Stable-Baselines3 or sb3-contrib: {error}") from None
    return data if isinstance(data, dict) else {}


def renamed_objects(data: dict[str, Any]) -> dict[str, Any]:
    """Return the objects among a model's settings that name a class by its old name, for ``load(custom_objects=…)``."""
    found = {}
    for name, value in data.items():
        pickled = base64.b64decode(value.get(":serialized:", "")) if isinstance(value, dict) else b""
        if any(module.encode() in pickled for module, _ in RENAMED):
            found[name] = _Unpickler(io.BytesIO(pickled)).load()
    return found


class _Unpickler(pickle.Unpickler):
    """Finds classes by their old names too."""

    def find_class(self, module: str, name: str) -> Any:
        module, name = RENAMED.get((module, name), (module, name))
        return super().find_class(module, name)


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
        f"a policy of {module} has no discrete actions; supported are PPO, MaskablePPO, A2C, TRPO, DQN, QR-DQN"
    )
