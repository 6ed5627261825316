"""MlpPolicy: a multilayer perceptron in NumPy, copied from a trained model; saved as ``.npz``."""

import zipfile
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs.core.rng import streams
from .base import Floats, LearnedPolicy, _softmax
from .trained_for import TrainedFor

Layers = Sequence[tuple[Floats, Floats]]
"""Weights float32[in, out] and biases float32[out], layer by layer."""


def _relu(values: Floats) -> Floats:
    return cast(Floats, np.maximum(values, 0, out=values))


def _tanh(values: Floats) -> Floats:
    return cast(Floats, np.tanh(values, out=values))


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"ReLU": _relu, "Tanh": _tanh}


class MlpPolicy(LearnedPolicy):
    """A multilayer perceptron in NumPy, copied from a torch model. It acts like the model and does not need torch.

    Args:
        layers: (weights float32[in, out], biases float32[out]) from the observation to the logits.
        activation: the activation function, ``"Tanh"`` or ``"ReLU"``.
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.
        critic: the layers from the observation to the value; empty: no critic (see `values`).
    """

    def __init__(
        self,
        layers: Layers,
        activation: str,
        deterministic: bool = False,
        seed: int | None = None,
        critic: Layers = (),
    ) -> None:
        if activation not in _ACTIVATIONS:
            raise ValueError(f"activation {activation!r}: choose from {', '.join(_ACTIVATIONS)}")
        super().__init__(len(layers[0][0]), len(layers[-1][1]), deterministic, seed)
        self.layers = [(np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in layers]
        self.critic = [(np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in critic]
        self.activation = activation

    @classmethod
    def from_model(cls, model: Any, deterministic: bool = False, seed: int | None = None) -> "MlpPolicy":
        """Copy the network of a Stable-Baselines3 actor-critic model (PPO, MaskablePPO, A2C, TRPO).

        Raises:
            ValueError: if the network is not linear layers with Tanh or ReLU between all of them, on the whole
                observation or on some columns of it.
        """
        try:
            hidden, last = list(model.policy.mlp_extractor.policy_net), model.policy.action_net
            extractor = type(model.policy.features_extractor).__name__
            columns = getattr(model.policy.features_extractor, "columns", None)
        except AttributeError:
            raise ValueError(f"{type(model).__name__} has no actor network that can be copied; use SB3Policy") from None
        kinds = [type(module).__name__ for module in (*hidden, last)]
        activation = kinds[1] if len(kinds) > 1 else "Tanh"
        plain = (extractor == "FlattenExtractor" or columns is not None) and activation in _ACTIVATIONS
        if not plain or kinds != ["Linear", activation] * (len(hidden) // 2) + ["Linear"]:
            raise ValueError(f"the network {extractor}, {', '.join(kinds)} is not a plain MLP; use SB3Policy")
        values = [*model.policy.mlp_extractor.value_net, model.policy.value_net]
        layers, critic = (
            [(m.weight.detach().cpu().numpy().T, m.bias.detach().cpu().numpy()) for m in modules[::2]]
            for modules in ([*hidden, last], values)
        )
        if columns is not None:  # the other columns have weight 0
            for net in (layers, critic):
                seen = net[0][0]
                whole = np.zeros((model.observation_space.shape[0], seen.shape[1]), np.float32)
                whole[columns] = seen
                net[0] = whole, net[0][1]
        return cls(layers, activation, deterministic, seed, critic)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        logits = self._forward(self.layers, observations)
        _softmax(logits, masks, logits)
        return logits

    def _value(self, observations: Floats) -> Floats | None:
        return self._forward(self.critic, observations)[:, 0] if self.critic else None

    def _forward(self, layers: Layers, values: Floats) -> Floats:
        for weights, biases in layers[:-1]:
            values = values @ weights
            values += biases
            values = _ACTIVATIONS[self.activation](values)
        weights, biases = layers[-1]
        last = values @ weights
        last += biases
        return last

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights, and what it was trained for, to `path` (``.npz``)."""
        arrays: dict[str, Any] = {"activation": np.array(self.activation)}
        if self.trained_for is not None:
            arrays["trained_for"] = np.array(msgspec.json.encode(self.trained_for).decode())
        for prefix, layers in (("", self.layers), ("critic_", self.critic)):
            for i, (weights, biases) in enumerate(layers):
                arrays |= {f"{prefix}w{i}": weights, f"{prefix}b{i}": biases}
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str], deterministic: bool = False, seed: int | None = None) -> "MlpPolicy":
        """Load a file that `save` wrote, in this version or an earlier one.

        Raises:
            ValueError: if `save` did not write the file, or if the encoder shows hidden information.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                layers, critic = (
                    [(file[f"{prefix}w{i}"], file[f"{prefix}b{i}"]) for i in range(_count(file.files, f"{prefix}w"))]
                    for prefix in ("", "critic_")
                )
                policy = cls(layers, str(file["activation"]), deterministic, critic=critic)
                about = str(file["trained_for"]) if "trained_for" in file.files else None
                trained_for = None if about is None else msgspec.json.decode(about, type=TrainedFor)
        except (KeyError, IndexError, AttributeError, EOFError, zipfile.BadZipFile, ValueError) as error:
            raise ValueError(f"{path} is not a saved MlpPolicy: {error}") from None
        if trained_for is not None:
            policy.set_trained_for(trained_for)
        policy._words = streams(seed, 1)  # after the try: the error of a bad seed is not about the file
        return policy


def _count(names: Sequence[str], prefix: str) -> int:
    return sum(name.startswith(prefix) for name in names)
