"""SB3Policy: a model of Stable-Baselines3 or sb3-contrib as a policy, and its files."""

import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...envs.core.files import parsed
from ...envs.core.installed import install
from .base import Floats, LearnedPolicy, _softmax, read_part


def load_model(file: Path) -> Any:
    """Return the model in a ``.zip``, on the CPU.

    Raises:
        ValueError: if there is none, if it is damaged, or if its actions are not discrete.
        ImportError: if the package that saved it is not installed.
    """
    try:
        data = parsed(read_part(file, "data"), "its part data")
        module = data["policy_class"]["__module__"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
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


def _algorithm(module: str, data: dict[str, Any]) -> str:
    """Return the name of the class that saved a model. It follows from the policy's module and the settings."""
    policies = {"recurrent": "RecurrentPPO", "maskable": "MaskablePPO", "qrdqn": "QRDQN", "dqn": "DQN"}
    for part, name in policies.items():
        if part in module:
            return name
    if "stable_baselines3.common" in module or "clip_range" in data:
        return "PPO" if "clip_range" in data else "TRPO" if "cg_max_steps" in data else "A2C"
    known = "PPO, MaskablePPO, A2C, TRPO, DQN, QR-DQN"
    raise ValueError(f"a policy of {module} has no discrete actions; supported are {known}")


class SB3Policy(LearnedPolicy):
    """A Stable-Baselines3 or sb3-contrib model with discrete actions as a policy. Illegal actions get
    probability 0, also if the model itself has no masks.

    Args:
        model: actor-critic (PPO, MaskablePPO, A2C, TRPO) or value-based (DQN, QR-DQN; always plays its best action).
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.

    Raises:
        ValueError: if the model's spaces are not a flat observation and Discrete actions, or it is recurrent.
    """

    def __init__(self, model: Any, deterministic: bool = False, seed: int | None = None) -> None:
        from gymnasium import spaces

        seen, acts = model.observation_space, model.action_space
        if not isinstance(seen, spaces.Box) or len(seen.shape) != 1 or not isinstance(acts, spaces.Discrete):
            raise ValueError(f"need a flat Box observation and Discrete actions; the model has {seen} and {acts}")
        if hasattr(model.policy, "lstm_actor"):
            raise ValueError(f"{type(model).__name__} is recurrent; a Policy acts on observations alone")
        super().__init__(seen.shape[0], int(acts.n), deterministic, seed)
        self.model = model
        model.policy.set_training_mode(False)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        import torch

        policy = self.model.policy
        with torch.no_grad():
            tensor = torch.as_tensor(observations, device=self.model.device)
            values = hasattr(policy, "quantile_net") or hasattr(policy, "q_net")
            if hasattr(policy, "quantile_net"):
                scores = policy.quantile_net(tensor).mean(dim=1)
            elif values:
                scores = policy.q_net(tensor)
            else:
                scores = policy.get_distribution(tensor).distribution.logits
        logits = scores.float().cpu().numpy()
        out = np.zeros(logits.shape, np.float32)
        if values:
            out[np.arange(len(out)), np.where(masks, logits, -np.inf).argmax(axis=1)] = 1
        else:
            _softmax(logits, masks, out)
        return out

    def _value(self, observations: Floats) -> Floats | None:
        import torch

        policy = self.model.policy
        if not hasattr(policy, "predict_values"):
            return None
        with torch.no_grad():
            values = policy.predict_values(torch.as_tensor(observations, device=self.model.device))
        return cast(Floats, values.float().cpu().numpy()[:, 0])
