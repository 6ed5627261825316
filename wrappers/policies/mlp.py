"""MlpPolicy: a multilayer perceptron in NumPy, copied from a trained model; saved as ``.npz``."""

from os import PathLike
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs.core.rng import streams
from .base import DAMAGES, Floats, LearnedPolicy, _softmax
from .network import ACTIVATIONS, Layers, Network
from .npz_files import read_arrays, write_arrays
from .trained_for import TrainedFor


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
        if not isinstance(critic, Network):
            critic_network = Network(critic, self.network.activation) if critic else None
        else:
            critic_network = critic
        self.critic_network = critic_network
        super().__init__(self.network.inputs, len(self.network.layers[-1][1]), deterministic, seed)

    @property
    def layers(self) -> list[tuple[Floats, Floats]]:
        """The layers from the observation to the logits, without the layer that is shared over seats."""
        return self.network.layers

    @property
    def critic(self) -> list[tuple[Floats, Floats]]:
        """The same of the critic; empty: no critic."""
        return [] if self.critic_network is None else self.critic_network.layers

    @property
    def activation(self) -> str:
        """The activation function."""
        return self.network.activation

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
        arrays: dict[str, Any] = {"activation": np.array(self.activation)}
        if self.trained_for is not None:
            arrays["trained_for"] = np.array(msgspec.json.encode(self.trained_for).decode())
        arrays |= self.network.arrays()
        if half:
            arrays = {k: a.astype(np.float16) if a.dtype == np.float32 else a for k, a in arrays.items()}
        elif self.critic_network is not None:
            arrays |= self.critic_network.arrays("critic_")
        write_arrays(path, arrays, compress=half)

    @classmethod
    def load(cls, path: str | PathLike[str], deterministic: bool = False, seed: int | None = None) -> "MlpPolicy":
        """Load a file that `save` wrote, in this version or an earlier one.

        Raises:
            ValueError: if `save` did not write the file, it is damaged, or the encoder shows hidden information.
        """
        try:
            file = read_arrays(path)
            network, critic = (Network.from_arrays(file, str(file["activation"]), prefix) for prefix in ("", "critic_"))
            if network is None:
                raise KeyError("w0")
            if critic is not None and critic.inputs != network.inputs:
                raise ValueError(f"its critic takes {critic.inputs} numbers, its actor {network.inputs}")
            policy = cls(network, deterministic=deterministic, critic=critic or ())
            about = str(file["trained_for"]) if "trained_for" in file else None
            trained_for = None if about is None else msgspec.json.decode(about, type=TrainedFor)
        except DAMAGES as error:
            raise ValueError(f"{path} is not a saved MlpPolicy: {error}") from None
        if trained_for is not None:
            policy.set_trained_for(trained_for)
        policy._words = streams(seed, 1)  # after the try: the error of a bad seed is not about the file
        return policy
