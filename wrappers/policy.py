"""Policy: what plays from observations, in batches. Random, scripted, learned; by name or from a file."""

import json
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..envs import game as make_game
from ..envs.core.compiled import compiled
from ..envs.core.game import Game
from ..envs.core.options import did_you_mean
from ..envs.core.random_policy import RandomPolicy as RandomPolicy  # public here too
from ..envs.core.rng import GOLDEN, mix, streams

Floats = NDArray[np.float32]
Layers = Sequence[tuple[Floats, Floats]]
"""Weights float32[in, out] and biases float32[out], layer by layer."""


@runtime_checkable
class Policy(Protocol):
    """Plays any number of seats at once."""

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action number per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        ...


@compiled
def _softmax(logits: Any, masks: Any, out: Any) -> None:
    """Write the probabilities of the legal numbers; illegal ones get 0."""
    for i in range(len(logits)):
        top = -np.inf
        for number in range(masks.shape[1]):
            if masks[i, number] and logits[i, number] > top:
                top = logits[i, number]
        total = 0.0
        for number in range(masks.shape[1]):
            out[i, number] = np.exp(logits[i, number] - top) if masks[i, number] else 0.0
            total += out[i, number]
        for number in range(masks.shape[1]):
            out[i, number] /= total


@compiled
def _draw(probabilities: Any, words: Any, out: Any) -> None:
    """Draw a number per row; rounding can never choose one of probability 0."""
    for i in range(len(probabilities)):
        words[0] += GOLDEN
        left = np.float64(mix(words[0]) >> np.uint64(11)) * 2.0**-53
        for number in range(probabilities.shape[1]):
            if probabilities[i, number] > 0:
                out[i] = number
                left -= probabilities[i, number]
                if left < 0:
                    break


class _Learned:
    """What learned policies share: a distribution over action numbers, sampled or its mode."""

    def __init__(self, inputs: int, outputs: int, deterministic: bool, seed: int | None) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.deterministic = deterministic
        self.reward_scale = 1.0  # of the rewards it was trained on
        self._words = streams(seed, 1)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        raise NotImplementedError

    def _value(self, observations: Floats) -> Floats | None:
        raise NotImplementedError

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return what the policy expects to win from here on, float32[N] in `Game.unit`; None if it has no critic."""
        values = self._value(observations)
        return None if values is None else values / np.float32(self.reward_scale)

    def probabilities(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return how likely each action number is, 0 where masked: float32[N, A].

        Raises:
            ValueError: if observations or masks do not have the length that the policy was trained on.
        """
        trained, got = (self.inputs, self.outputs), (observations.shape[1], masks.shape[1])
        if trained != got:
            raise ValueError(
                f"the policy was trained on observations of {trained[0]} numbers and {trained[1]} actions, and got "
                f"{got[0]} and {got[1]}: give it the game and the options that it was trained with"
            )
        return self._distribution(observations, masks)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action number per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        probabilities = self.probabilities(observations, masks)
        if self.deterministic:
            return np.asarray(probabilities.argmax(axis=1), np.int64)
        actions = np.zeros(len(masks), np.int64)
        _draw(probabilities, self._words, actions)
        return actions


def _relu(values: Floats) -> Floats:
    return cast(Floats, np.maximum(values, 0, out=values))


def _tanh(values: Floats) -> Floats:
    return cast(Floats, np.tanh(values, out=values))


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"ReLU": _relu, "Tanh": _tanh}


class MlpPolicy(_Learned):
    """A frozen multilayer perceptron in NumPy: acts without torch, as the torch model it was copied from would.

    Args:
        layers: (weights float32[in, out], biases float32[out]) from the observation to the logits.
        activation: between the layers: ``"Tanh"`` or ``"ReLU"``.
        deterministic: play the most likely action instead of sampling.
        seed: of the policy's own random stream; None for fresh entropy.
        critic: the layers from the observation to the value, if it is to be told (see `values`).
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
            raise ValueError(f"activation {activation!r}: known are {', '.join(_ACTIVATIONS)}")
        super().__init__(len(layers[0][0]), len(layers[-1][1]), deterministic, seed)
        self.layers = [(np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in layers]
        self.critic = [(np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in critic]
        self.activation = activation

    @classmethod
    def from_model(cls, model: Any, deterministic: bool = False, seed: int | None = None) -> "MlpPolicy":
        """Copy the network of a Stable-Baselines3 actor-critic model (PPO, MaskablePPO, A2C, TRPO).

        Raises:
            ValueError: if it is anything but linear layers with one kind of Tanh or ReLU between them, on all of the
                observation or on `columns` of it.
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
            raise ValueError(f"the network {extractor}, {', '.join(kinds)} is no plain MLP; use SB3Policy")
        values = [*model.policy.mlp_extractor.value_net, model.policy.value_net]
        layers, critic = (
            [(m.weight.detach().cpu().numpy().T, m.bias.detach().cpu().numpy()) for m in modules[::2]]
            for modules in ([*hidden, last], values)
        )
        if columns is not None:  # what it does not see has no weight
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
        """Write the weights to `path` (``.npz``)."""
        arrays: dict[str, Any] = {"activation": np.array(self.activation)}
        for prefix, layers in (("", self.layers), ("critic_", self.critic)):
            for i, (weights, biases) in enumerate(layers):
                arrays |= {f"{prefix}w{i}": weights, f"{prefix}b{i}": biases}
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str], deterministic: bool = False, seed: int | None = None) -> "MlpPolicy":
        """Read what `save` wrote.

        Raises:
            ValueError: if the file is nothing that `save` wrote.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                layers, critic = (
                    [(file[f"{prefix}w{i}"], file[f"{prefix}b{i}"]) for i in range(_count(file.files, f"{prefix}w"))]
                    for prefix in ("", "critic_")
                )
                policy = cls(layers, str(file["activation"]), deterministic, critic=critic)
        except (KeyError, IndexError, AttributeError, EOFError, zipfile.BadZipFile, ValueError) as error:
            raise ValueError(f"{path} is no saved MlpPolicy: {error}") from None
        policy._words = streams(seed, 1)  # here, so that a bad seed is not blamed on the file
        return policy


def _count(names: Sequence[str], prefix: str) -> int:
    return sum(name.startswith(prefix) for name in names)


class SB3Policy(_Learned):
    """A Stable-Baselines3 or sb3-contrib model with discrete actions as a policy. Illegal actions get no chance, also
    where the model itself knows no masks.

    Args:
        model: actor-critic (PPO, MaskablePPO, A2C, TRPO) or value-based (DQN, QR-DQN; always plays its best action).
        deterministic: play the most likely action instead of sampling.
        seed: of the policy's own random stream; None for fresh entropy.

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
