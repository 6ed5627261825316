"""Learned policies: their base class, what they were trained for, and the arrays of their files.

The sizes of arrays are checked before allocation. `TabularPolicy` has a probability of every action for every
observation.
"""

import json
import shlex
import tokenize
import tomllib
import zlib
from collections.abc import Mapping
from math import prod
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Self
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...envs import Game, compiled
from ...envs import Policy as Policy
from ...envs import game as make_game
from ...envs.core.encoder import FULL
from ...envs.core.files import no_files, opened, parsed, read_text, replacing
from ...envs.core.registry import own_name
from ...envs.core.rng import GOLDEN, fraction, mix, streams
from ...envs.core.rollout import RandomPolicy as RandomPolicy


class TrainedFor(msgspec.Struct, frozen=True, kw_only=True):
    """The game that a policy was trained for, and its encoder.

    Attributes:
        game: the game's id, such as ``"holdem-v0"``.
        options: the game's options by name.
        encoder: the name of the encoder whose observations the policy takes; empty: the game's own.
        preset: the preset of the training, such as ``"holdem"`` (see `parlour list presets`); may be empty.
        reward_scale: the factor of the rewards in the training.
    """

    game: str
    options: dict[str, Any] = {}
    encoder: str = ""
    preset: str = ""
    reward_scale: float = 1.0

    @classmethod
    def of(cls, game: Game, encoder: str = "", preset: str = "", reward_scale: float = 1.0) -> "TrainedFor":
        """Return the `TrainedFor` of a policy that is trained on `game`."""
        options, encoder = msgspec.to_builtins(dict(game.options)), encoder or game.encoder
        return cls(game=game.id, options=options, encoder=encoder, preset=preset, reward_scale=reward_scale)

    @property
    def name(self) -> str:
        """The game's name without its version, such as ``"holdem"``.

        >>> TrainedFor(game="public-project-v0").name
        'public_project'
        """
        return own_name(self.game)  # a run may name it by a platform's id

    def make_game(self) -> Game:
        """Return the game with its options.

        Raises:
            ValueError: for an unknown game or option, or if the encoder shows hidden information.
        """
        with no_files():
            game = make_game(self.game, **self.options)
        game.check_encoder(self.encoder or game.encoder)
        return game

    def difference(self, game: Game) -> str:
        """Return the differences of version and options of `game` from the training, as text; empty: no difference.

        >>> TrainedFor.of(make_game("holdem", seats=2)).difference(make_game("holdem", seats=3, ante=1))
        'holdem-v0 with seats=2, ante=0; it plays with seats=3, ante=1'
        """
        theirs = msgspec.to_builtins(dict(game.options))
        names = [name for name, value in self.options.items() if name in theirs and theirs[name] != value]
        if self.game == game.id and not names:
            return ""
        sides = self.options, theirs
        before, now = (", ".join(f"{name}={_short(side[name])}" for name in names) for side in sides)
        trained = f"{self.game} with {before}" if names else self.game
        plays = " ".join([game.id] * (self.game != game.id) + [f"with {now}"] * bool(names))
        preset = f" (preset {self.preset})" if self.preset else ""
        return f"{trained}{preset}; it plays {plays}"


def read_settings(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it is not TOML, or too large.
    """
    if not file.is_file():
        raise FileNotFoundError(f"there is no config file {file}")
    settings: dict[str, Any] = parsed(read_text(file), file, tomllib.loads, "TOML")
    return settings


def of_settings(settings: Mapping[str, Any]) -> TrainedFor:
    """Return the game, options and encoder of a run with these settings.

    Args:
        settings: the content of its ``config.toml``, of this version or an earlier one. TOML has no None: the options
            that are None are listed in ``options_none``.

    Raises:
        ValueError: if there is no game in the settings.
    """
    fields = {name: settings[name] for name in TrainedFor.__struct_fields__ if name in settings}
    try:
        trained_for = msgspec.convert(fields, TrainedFor)
        unset = msgspec.convert(settings.get("options_none", []), list[str])
    except msgspec.ValidationError as error:
        raise ValueError(f"it does not name a game with its options: {error}") from None
    return msgspec.structs.replace(trained_for, options={**trained_for.options, **dict.fromkeys(unset)})


def unshared(game: Game, other: Game) -> dict[str, Any]:
    """Return the options of `game` that differ from those of `other`."""
    return {name: value for name, value in game.options.items() if other.options.get(name) != value}


def command_line(options: Mapping[str, Any]) -> str:
    """Return options as the words of a command line, ``--options name=value …``; empty: there are none."""
    words = shlex.join(f"{name}={json.dumps(value)}" for name, value in options.items())
    return f"--options {words}" if words else ""


def _short(value: Any) -> str:
    """Return an option's value on one line; of a longer text its beginning."""
    first, *more = str(value).split("\n")
    return f"{first}…" if more else first


MOST_NUMBERS = 2**26
"""Numbers that a file may hold: 256 MB of float32."""
LARGEST_MODEL = 2**31
"""Bytes that all parts of a model of another library may have together."""
HEADERS: Mapping[Any, Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""What reads the header of an array, by the version of NumPy's format."""


def read_arrays(path: str | PathLike[str], most: int = MOST_NUMBERS) -> dict[str, Any]:
    """Return the arrays of a ``.npz`` by name, which all together have at most `most` numbers of four bytes.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no regular file or no ``.npz``, an array is not of plain data or has another size than it
            says, or they have more numbers.
        zipfile.BadZipFile, zlib.error: if it is damaged.
    """
    with opened(path) as file, _archive(file, 8 * most) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith(".npy")]
        numbers = sum(_numbers(archive, part) for part in parts)
        if numbers > most:
            raise ValueError(f"its arrays have {numbers:,} numbers; {most:,} are allowed")
        arrays = {}
        for part in parts:
            with archive.open(part) as data:
                arrays[part.filename.removesuffix(".npy")] = npy.read_array(data, allow_pickle=False)
        return arrays


def write_arrays(path: str | PathLike[str], arrays: Mapping[str, Any], *, compress: bool = True) -> None:
    """Write arrays by name to a ``.npz``. On a full disk an old file stays as it was, and no new one is begun."""
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        (np.savez_compressed if compress else np.savez)(file, **arrays)


def read_part(path: str | PathLike[str], name: str) -> bytes:
    """Return a part of a zip file of another library, whose parts together are within `LARGEST_MODEL`.

    Raises:
        KeyError: if there is no such part; for other errors see `read_arrays`.
    """
    with opened(path) as file, _archive(file, LARGEST_MODEL) as archive:
        return archive.read(name)


def _archive(file: BinaryIO, most: int) -> ZipFile:
    """Return the zip file, whose parts take at most `most` bytes; a part never yields more than it says."""
    try:
        archive = ZipFile(file)
    except BadZipFile as error:
        raise ValueError(f"it is not an .npz file of NumPy or another zip file: {error}") from None
    if (size := sum(part.file_size for part in archive.infolist())) > most:
        raise ValueError(f"its parts have {size:,} bytes; {most:,} are allowed")
    return archive


def _numbers(archive: ZipFile, part: ZipInfo) -> int:
    """Return the number of numbers of an array, of at least four bytes each, by its header.

    Raises:
        ValueError: if the array is not as large as the header says, or holds objects.
    """
    with archive.open(part) as file:
        version = npy.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"an array has version {version} of NumPy's format")
        shape, _, dtype = HEADERS[version](file)
        size = prod(shape) * dtype.itemsize
        if dtype.hasobject or file.tell() + size != part.file_size:
            raise ValueError(f"{part.filename} is {dtype} of shape {shape}, in {part.file_size:,} bytes")
    return int(prod(shape) * max(1, dtype.itemsize // 4))


Floats = NDArray[np.float32]

DAMAGES = (LookupError, AttributeError, EOFError, RuntimeError, ValueError, tokenize.TokenError, BadZipFile, zlib.error)
"""What NumPy and the reading of its arrays raise for a damaged ``.npz``."""


@compiled
def _softmax(logits: Any, masks: Any, out: Any) -> None:
    """Write the probabilities of the legal actions; illegal ones get 0."""
    for i in range(len(logits)):
        top = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action] and logits[i, action] > top:
                top = logits[i, action]
        total = 0.0
        for action in range(masks.shape[1]):
            out[i, action] = np.exp(logits[i, action] - top) if masks[i, action] else 0.0
            total += out[i, action]
        for action in range(masks.shape[1]):
            out[i, action] /= total


@compiled
def draw(probabilities: Any, words: Any, out: Any) -> None:
    """Draw an action index per row; an action with probability 0 is never drawn."""
    for i in range(len(probabilities)):
        words[0] += GOLDEN
        left = fraction(mix(words[0]))
        for action in range(probabilities.shape[1]):
            if probabilities[i, action] > 0:
                out[i] = action
                left -= probabilities[i, action]
                if left < 0:
                    break


class LearnedPolicy:
    """Base class of learned policies: it draws an action by its probability, or takes the most likely one.

    Args:
        inputs: the length of its observations.
        outputs: the number of action indices.
        deterministic: whether to play the most likely action instead of drawing one.
        seed: seed of the policy's random stream; None takes entropy from the operating system.

    Attributes:
        trained_for: what it was trained for; None: unknown.
        reward_scale: the factor of the rewards in its training.
    """

    def __init__(self, inputs: int, outputs: int, deterministic: bool, seed: int | None) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.deterministic = deterministic
        self.trained_for: TrainedFor | None = None
        self.reward_scale = 1.0
        self._words = streams(seed, 1)

    @property
    def stream(self) -> int:
        """The state of the policy's random stream. It can be set."""
        return int(self._words[0])

    @stream.setter
    def stream(self, state: int) -> None:
        self._words = np.array([state], np.uint64)

    @property
    def encoder(self) -> str | None:
        """The name of the encoder whose observations it takes; None: the game's own."""
        return (self.trained_for.encoder or None) if self.trained_for is not None else None

    def set_trained_for(self, trained_for: TrainedFor) -> None:
        """Set what it was trained for.

        Raises:
            ValueError: if its encoder shows hidden information.
        """
        if trained_for.encoder.partition("_")[0] == FULL:
            raise ValueError(f"encoder {trained_for.encoder!r} shows hidden information: no policy with it may play")
        self.trained_for = trained_for
        self.reward_scale = trained_for.reward_scale

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        raise NotImplementedError

    def _value(self, observations: Floats) -> Floats | None:
        return None

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the critic's estimates of the returns, float32[N] in `Payoffs.unit`; None without a critic."""
        values = self._value(observations)
        return None if values is None else values / np.float32(self.reward_scale)

    def probabilities(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the probability of each action index, 0 where masked: float32[N, A].

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
        """Return a legal action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        probabilities = self.probabilities(observations, masks)
        if self.deterministic:
            return np.asarray(probabilities.argmax(axis=1), np.int64)
        actions = np.zeros(len(masks), np.int64)
        draw(probabilities, self._words, actions)
        return actions

    def _arrays(self) -> dict[str, Any]:
        """Return the game, options and encoder as arrays by name, for a file."""
        about = self.trained_for
        return {} if about is None else {"trained_for": np.array(msgspec.json.encode(about).decode())}

    @classmethod
    def _of_arrays(cls, file: dict[str, Any], trained_for: TrainedFor | None, deterministic: bool) -> Self:
        """Return the policy of the arrays of a file; the errors are `DAMAGES`."""
        raise NotImplementedError

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        deterministic: bool = False,
        seed: int | None = None,
        kinds: Mapping[str, "type[LearnedPolicy]"] = MappingProxyType({}),
    ) -> Self:
        """Load a file that `save` wrote, in this version or an earlier one.

        Args:
            path: the file.
            deterministic: whether to play the most likely action instead of drawing one.
            seed: seed of the policy's random stream; None takes entropy from the operating system.
            kinds: other kinds of policies that the file may hold, by an array that only these have.

        Raises:
            ValueError: if `save` did not write the file, it is damaged, or the encoder shows hidden information.
        """
        kind: Any = cls
        try:
            file = read_arrays(path)
            kind = next((kinds[name] for name in kinds if name in file), cls)
            about = file.pop("trained_for", file.pop("solved_for", None))
            trained_for = None if about is None else msgspec.json.decode(str(about), type=TrainedFor)
            policy: Self = kind._of_arrays(file, trained_for, deterministic)
        except DAMAGES as error:
            raise ValueError(f"{path} is not a saved {kind.__name__}: {error}") from None
        if trained_for is not None:
            policy.set_trained_for(trained_for)
        policy._words = streams(seed, 1)  # after the try: the error of a bad seed is not about the file
        return policy


class TabularPolicy(LearnedPolicy):
    """A table of strategies, such as the exact solution of a small game.

    Where it has no row for an observation, or all actions that it would play are masked, it plays all legal actions
    with the same probability.

    Args:
        observations: float32[I, D], all different.
        table: float32[I, A], the probability of every action index there.
        trained_for: the game; None: unknown.
        deterministic: play the most likely action instead of drawing one.
        seed: the seed of the policy's own random stream; None: fresh entropy.
    """

    def __init__(
        self,
        observations: NDArray[np.float32],
        table: NDArray[np.float32],
        trained_for: TrainedFor | None = None,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        super().__init__(observations.shape[1], table.shape[1], deterministic, seed)
        self.observations = np.ascontiguousarray(observations, np.float32)
        self.table = np.ascontiguousarray(table, np.float32)
        self._rows = {row.tobytes(): index for index, row in enumerate(self.observations)}
        if trained_for is not None:
            self.set_trained_for(trained_for)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        rows = np.array([self._rows.get(row.tobytes(), -1) for row in np.asarray(observations, np.float32)], np.int64)
        chances = np.where(rows[:, None] >= 0, self.table[rows], np.float32(0)) * masks
        unknown = chances.sum(axis=1) <= 0
        chances[unknown] = masks[unknown]
        return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a ``.npz`` file, with what it was trained for."""
        write_arrays(path, {"observations": self.observations, "table": self.table, **self._arrays()})

    @classmethod
    def _of_arrays(cls, file: dict[str, Any], trained_for: TrainedFor | None, deterministic: bool) -> Self:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, and is refused
            observations, table = (np.asarray(file[name], np.float32) for name in ("observations", "table"))
        if observations.ndim != 2 or table.ndim != 2 or len(observations) != len(table) or not len(table):
            raise ValueError(f"observations {observations.shape} and table {table.shape} do not fit")
        if not np.isfinite(observations).all():
            raise ValueError("its observations are not all finite numbers")
        sums = table.sum(axis=1)
        if not ((table >= 0).all() and (sums > 0).all() and np.isfinite(sums).all()):
            raise ValueError("a row of the table is no probability distribution")
        return cls(observations, table, trained_for, deterministic)
