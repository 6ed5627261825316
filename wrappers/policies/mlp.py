"""MlpPolicy: a multilayer perceptron in NumPy, copied from a trained model; saved as ``.npz``.

The network may have skip connections, or a layer that is shared over the seats.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .base import Floats, LearnedPolicy, TrainedFor, _softmax, write_arrays

Layers = Sequence[tuple[Floats, Floats]]
"""Weights float32[in, out] and biases float32[out], layer by layer."""


ACTIVATIONS: dict[str, Callable[[Floats], Any]] = {
    "ReLU": lambda values: np.maximum(values, 0, out=values),
    "Tanh": lambda values: np.tanh(values, out=values),
}
"""The activation functions, by the names of PyTorch. They overwrite their argument."""


@dataclass(frozen=True)
class SeatLayer:
    """A first layer that is applied with the same weights to what the observation says about every seat.

    Its results are followed by the columns that belong to no seat.

    Attributes:
        columns: int64[seats, K], the columns of the observation that belong to each seat.
        others: int64[R], the columns that belong to no seat.
        weights: float32[K, out].
        biases: float32[out].
    """

    columns: NDArray[np.int64]
    others: NDArray[np.int64]
    weights: Floats
    biases: Floats

    def forward(self, values: Floats, activation: str) -> Floats:
        """Return float32[N, seats * out + R] for observations float32[N, D]."""
        rows = values[:, self.columns] @ self.weights
        rows += self.biases
        rows = ACTIVATIONS[activation](rows)
        return np.concatenate([rows.reshape(len(values), -1), values[:, self.others]], axis=1)


class Network:
    """A network from observations to logits or to a value.

    Args:
        layers: (weights float32[in, out], biases float32[out]), layer by layer.
        activation: the activation function, ``"Tanh"`` or ``"ReLU"``.
        residual: whether the input of a hidden layer is added to its output, if they have the same length.
        seat_layer: a layer before the others that is shared over the seats; None: there is none.

    Raises:
        ValueError: for an unknown activation function.
    """

    def __init__(
        self, layers: Layers, activation: str, residual: bool = False, seat_layer: SeatLayer | None = None
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation {activation!r}: choose from {', '.join(ACTIVATIONS)}")
        self.layers = [(np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in layers]
        self.activation = activation
        self.residual = residual
        self.seat_layer = seat_layer

    @property
    def inputs(self) -> int:
        """The length of the observations."""
        layer = self.seat_layer
        return len(self.layers[0][0]) if layer is None else layer.columns.size + layer.others.size

    def forward(self, values: Floats) -> Floats:
        """Return the outputs float32[N, out] for observations float32[N, D]."""
        if self.seat_layer is not None:
            values = self.seat_layer.forward(values, self.activation)
        for number, (weights, biases) in enumerate(self.layers[:-1]):
            given, values = values, values @ weights
            values += biases
            values = ACTIVATIONS[self.activation](values)
            if self.residual and number > 0 and given.shape == values.shape:
                values += given
        weights, biases = self.layers[-1]
        last = values @ weights
        last += biases
        return last

    def divided(self, divisor: float) -> "Network":
        """Return a network with the same outputs, divided by a number: of logits, its temperature."""
        *before, (weights, biases) = self.layers
        factor = np.float32(1 / divisor)
        return Network([*before, (weights * factor, biases * factor)], self.activation, self.residual, self.seat_layer)

    def arrays(self, prefix: str = "") -> dict[str, Any]:
        """Return the weights as arrays by name, for a file."""
        named: dict[str, Any] = {}
        for i, (weights, biases) in enumerate(self.layers):
            named |= {f"{prefix}w{i}": weights, f"{prefix}b{i}": biases}
        if self.residual:
            named[f"{prefix}residual"] = np.array(True)
        if self.seat_layer is not None:
            named |= {f"{prefix}seat_{name}": getattr(self.seat_layer, name) for name in _SEAT_ARRAYS}
        return named

    @classmethod
    def from_arrays(cls, file: Mapping[str, Any], activation: str, prefix: str = "") -> "Network | None":
        """Return the network of the arrays that `arrays` returned; None if there is none with this prefix.

        Raises:
            ValueError: if an array is missing, is not of finite numbers, or has another size than the others need.
        """
        read = {name: file[name] for name in file if name.startswith((f"{prefix}w", f"{prefix}b", f"{prefix}seat_"))}
        if not read:
            return None
        count = len({name.removeprefix(prefix)[1:] for name in read if not name.startswith(f"{prefix}seat_")})
        shared = any(name.startswith(f"{prefix}seat_") for name in read)
        needed = [f"{prefix}{letter}{i}" for i in range(count) for letter in "wb"]
        needed += [f"{prefix}seat_{name}" for name in _SEAT_ARRAYS] if shared else []
        if missing := [name for name in needed if name not in read]:
            raise ValueError(f"the weights {', '.join(missing)} are missing")
        for name, values in read.items():
            with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, and is refused
                finite = values.dtype.kind in "iuf" and np.isfinite(values.astype(np.float32)).all()
            if not finite:
                raise ValueError(f"the weights {name} are not all finite numbers")
        layers = [(read[f"{prefix}w{i}"], read[f"{prefix}b{i}"]) for i in range(count)]
        for i, (weights, biases) in enumerate(layers):
            if weights.ndim != 2 or biases.shape != weights.shape[1:] or (i and len(weights) != len(layers[i - 1][1])):
                raise ValueError(f"the weights {prefix}w{i} and {prefix}b{i} have other sizes than the layer before")
        parts = [read[name] for name in needed[2 * count :]]
        seat_layer = _seat_layer(parts, len(layers[0][0])) if shared else None
        return cls(layers, activation, f"{prefix}residual" in file, seat_layer)


def _seat_layer(parts: list[Any], outputs: int) -> SeatLayer:
    """Return a seat layer of the arrays `_SEAT_ARRAYS` from a file, with this many results.

    Raises:
        ValueError: if the sizes do not fit, or the columns are not those of an observation, each once.
    """
    columns, others, weights, biases = parts
    dimensions = [array.ndim for array in parts]
    if dimensions != [2, 1, 2, 1] or weights.shape != (columns.shape[1], len(biases)):
        raise ValueError("the layer that is shared over the seats has weights of other sizes than its columns")
    if len(columns) * len(biases) + len(others) != outputs:
        raise ValueError(f"the layer that is shared over the seats does not have the {outputs} results that w0 takes")
    seen = np.concatenate([columns.ravel(), others])
    if seen.dtype.kind not in "iu" or sorted(seen.tolist()) != list(range(seen.size)):
        raise ValueError("the columns of the seats and the others are not those of an observation, each once")
    return SeatLayer(columns, others, weights, biases)


_SEAT_ARRAYS = ("columns", "others", "weights", "biases")


class MlpPolicy(LearnedPolicy):
    """A multilayer perceptron in NumPy, copied from a torch model. It acts like the model and does not need torch.

    Args:
        layers: (weights float32[in, out], biases float32[out]) from the observation to the logits; or a `Network`.
        activation: the activation function, ``"Tanh"`` or ``"ReLU"``; of a `Network`, its own.
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.
        critic: the layers, or the network, from the observation to the value; empty: no critic (see `values`).

    Attributes:
        network: the network from the observation to the logits.
        critic_network: the network from the observation to the value; None: no critic.
    """

    def __init__(
        self,
        layers: Layers | Network,
        activation: str = "Tanh",
        deterministic: bool = False,
        seed: int | None = None,
        critic: Layers | Network = (),
    ) -> None:
        self.network = layers if isinstance(layers, Network) else Network(layers, activation)
        self.critic_network: Network | None = None
        if critic:
            self.critic_network = critic if isinstance(critic, Network) else Network(critic, self.network.activation)
        super().__init__(self.network.inputs, len(self.network.layers[-1][1]), deterministic, seed)

    @property
    def layers(self) -> list[tuple[Floats, Floats]]:
        """The layers from the observation to the logits, without the layer that is shared over seats."""
        return self.network.layers

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
        plain = (extractor == "FlattenExtractor" or columns is not None) and activation in ACTIVATIONS
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
        logits = self.network.forward(observations)
        _softmax(logits, masks, logits)
        return logits

    def _value(self, observations: Floats) -> Floats | None:
        return None if self.critic_network is None else self.critic_network.forward(observations)[:, 0]

    def save(self, path: str | PathLike[str], half: bool = False) -> None:
        """Write the weights, and what it was trained for, to `path` (``.npz``).

        Args:
            path: the file.
            half: whether to write the actor alone, as float16 and compressed.
        """
        arrays = {"activation": np.array(self.network.activation), **self._arrays(), **self.network.arrays()}
        if half:
            arrays = {k: a.astype(np.float16) if a.dtype == np.float32 else a for k, a in arrays.items()}
        elif self.critic_network is not None:
            arrays |= self.critic_network.arrays("critic_")
        write_arrays(path, arrays, compress=half)

    @classmethod
    def _of_arrays(cls, file: dict[str, Any], trained_for: TrainedFor | None, deterministic: bool) -> Self:
        network, critic = (Network.from_arrays(file, str(file["activation"]), prefix) for prefix in ("", "critic_"))
        if network is None:
            raise KeyError("w0")
        if critic is not None and critic.inputs != network.inputs:
            raise ValueError(f"its critic takes {critic.inputs} numbers, its actor {network.inputs}")
        return cls(network, deterministic=deterministic, critic=critic or ())
