"""Settings of training runs in files: Parlour's own presets, users' files, and the ``config.toml`` of a run.

A file is TOML and begins with ``format = 3``. TOML has no None: options of the game that are None are named in
``options_none``.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import tomli_w

from ...envs.core.game import Game
from ...envs.core.options import named
from ...envs.core.registry import TYPED, own_name, packages
from ...envs.core.registry import game as make_game
from ...wrappers.policies.base import read_settings
from ..algorithms import find
from ..learning.settings import ALGORITHM, Schedule, TrainConfig
from .version_0_2 import current

FORMAT = 3
"""The format of the files that this version writes."""
FORMAT_OF_0_2 = 2
"""The format of the files of version 0.2."""
_OF_ANY_ALGORITHM = ("game", "options", "encoder", "preset", "format")
PRESETS = Path(__file__).parents[1] / "configs"
"""Parlour's own settings, by game."""
SHARED = PRESETS / "packages"
"""Parlour's own settings for all games of a package of `parlour.envs`, by its name."""


def load_config(source: str | Path, **overrides: Any) -> TrainConfig:
    """Return the settings of a preset or of a file, as the config of their algorithm.

    If `overrides` names another algorithm, only the game and its options are kept, and the settings are those of the
    table ``[by_algorithm.NAME]``, if there is one.

    Args:
        source: see `settings_from`.
        overrides: settings that replace those.

    Raises:
        FileNotFoundError: if the path does not exist.
        ValueError: for an unknown setting or algorithm, with the most similar one; for a value of another type or out
            of range; or for a file that cannot be read.
    """
    settings = settings_from(source, overrides.get("algorithm"))
    kind = find(overrides.get("algorithm", settings.get("algorithm", ALGORITHM))).Config
    for name in (settings := settings | overrides):
        named(f"setting of {source}", name, [field.name for field in fields(kind)])
    return convert(settings, kind)


def settings_from(source: str | Path, algorithm: str | None = None) -> dict[str, Any]:
    """Return the settings of a preset or of a file for a learning algorithm, by their current names.

    Args:
        source: a game's name (its preset, if it has one), the name of another preset (``"bargaining-public"``), or the
            path of a ``.toml``.
        algorithm: the learning algorithm, by name; None: that of the settings. For another one than theirs, only the
            game, its options and the encoder are kept, beside the table ``[by_algorithm.NAME]``, if there is one.

    Raises:
        FileNotFoundError: if the path does not exist.
        ValueError: for a file that is not TOML, or has an unknown format.
    """
    if str(source).endswith(".toml"):
        settings = _read(Path(source))
    else:  # holdem-v0 has the settings of holdem
        preset = next((name for name in (str(source), own_name(str(source))) if name in presets()), None)
        settings = {"game": str(source)} | ({} if preset is None else _preset(preset))
    by_algorithm = settings.pop("by_algorithm", {})
    if algorithm not in (None, settings.get("algorithm", ALGORITHM)):
        settings = {name: settings[name] for name in _OF_ANY_ALGORITHM if name in settings}
        settings |= by_algorithm.get(algorithm, {})
    if "preset" not in settings and not str(source).endswith(".toml") and own_name(str(source)) not in packages():
        with suppress(TypeError, ValueError):  # no game, or one with an option that must be given
            settings = {"reward_scale": scale_of(make_game(str(source)))} | settings
    if settings.pop("format", FORMAT) == FORMAT_OF_0_2:
        return current(settings, algorithm or settings.get("algorithm", ALGORITHM), str(source))
    return settings


def source_of(game: Game) -> str | None:
    """Return the module:function by which the command line has named a game of one's own; None: it has not."""
    return next((source for source, known in TYPED.items() if known.partition("-")[0] == game.name), None)


def scale_of(game: Game) -> float:
    """Return the factor that brings a game's returns, in its unit, between -1 and 1."""
    return float(game.payoffs.unit / max(abs(game.payoffs.low), abs(game.payoffs.high), 1e-9))


def _preset(name: str) -> dict[str, Any]:
    """Return the settings of a preset; those that it does not have are the settings of its ``base``."""
    file = PRESETS / f"{name}.toml"
    if file.is_file():
        own = _read(file)
    else:  # of a game whose package has one file for all its games
        own = _read(SHARED / f"{packages()[name]}.toml")
        own |= own.pop("by_game", {}).get(name, {})
    base, _ = own.pop("base", None), own.pop("platform", None)
    below: dict[str, Any] = {} if base is None else {"game": base} | _preset(base)
    options: dict[str, Any] = below.get("options", {}) | own.get("options", {})
    return below | own | {"preset": name} | ({"options": options} if options else {})


def _read(file: Path) -> dict[str, Any]:
    settings = read_settings(file)
    version = settings.get("format")
    if version is None:
        raise ValueError(f"{file} has no format: write format = {FORMAT}; a file of version 0.1 needs Parlour 0.2")
    if version not in (FORMAT, FORMAT_OF_0_2):
        raise ValueError(f"{file} has format = {version!r}; this version of Parlour reads format {FORMAT}, and 2")
    unset = settings.pop("options_none", [])
    return settings | {"options": {**settings.get("options", {}), **dict.fromkeys(unset)}} if unset else settings


def presets() -> list[str]:
    """Return the names of Parlour's own settings."""
    shared = {file.stem for file in SHARED.glob("*.toml")}
    games = {game for game, package in packages().items() if package in shared}
    return sorted(games | {file.stem for file in PRESETS.glob("*.toml")})


@dataclass(frozen=True)
class PlatformPreset:
    """A preset with the options of a platform.

    Attributes:
        platform: the name of the platform, such as ``"moltpoker"``.
        game: the name of the game.
        preset: the name of the preset.
    """

    platform: str
    game: str
    preset: str

    @property
    def command(self) -> str:
        """The command that trains for the platform."""
        only = sum(one.platform == self.platform for one in platform_presets()) == 1
        return f"parlour train --for {self.platform}" if only else f"parlour train {self.game} --for {self.platform}"


def platform_presets() -> list[PlatformPreset]:
    """Return the presets with the options of platforms."""
    platforms = [(file.stem, read_settings(file).get("platform")) for file in sorted(PRESETS.glob("*.toml"))]
    return [
        PlatformPreset(platform, str(settings_from(name)["game"]), name) for name, platform in platforms if platform
    ]


def preset_for(platform: str, game: str | None = None) -> str:
    """Return the name of the preset for a platform.

    Args:
        platform: the platform's name.
        game: the game's name; None: the platform's only game.

    Raises:
        ValueError: for an unknown platform, with the most similar one; or if no game, or another one, must be named.
    """
    platforms = platform_presets()
    named("platform", platform, dict.fromkeys(one.platform for one in platforms))
    here = {one.game: one.preset for one in platforms if one.platform == platform}
    if game is None and len(here) > 1:
        raise ValueError(
            f"{platform} has {' and '.join(here)}: name the game, as in parlour train GAME --for {platform}"
        )
    return here[named(f"game of {platform}", own_name(game) if game else next(iter(here)), here)]


def preset_options(game: str) -> dict[str, Any]:
    """Return the game's options in its preset; empty for a game without a preset."""
    return dict(settings_from(game).get("options", {}))


Kind = TypeVar("Kind")

NEEDED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "array": "a list, such as [64, 64]",
    "object": "name = value pairs",
}
"""A description of each type, by the name that `msgspec` uses."""


def convert(settings: Mapping[str, Any], kind: type[Kind]) -> Kind:
    """Return settings as a dataclass, each converted to its type.

    Args:
        settings: the settings by name.
        kind: the dataclass.

    Raises:
        ValueError: for a value of another type or out of range, naming the setting.
    """
    try:
        return msgspec.convert(_plain(settings), kind, dec_hook=_converted)
    except msgspec.ValidationError as error:
        raise ValueError(_explained(error, settings)) from None


def _plain(value: Any) -> Any:
    """Return settings with Python's numbers in place of NumPy's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _converted(kind: type, value: Any) -> Any:
    if kind is Schedule or (kind is Path and isinstance(value, str | Path)):
        return kind(value)
    raise ValueError(f"{value!r}: need a {kind.__name__}")


def _explained(error: msgspec.ValidationError, settings: Mapping[str, Any]) -> str:
    """Return a sentence about a value that does not convert: its name, and the type that is needed."""
    problem, _, place = str(error).partition(" - at ")
    match = re.fullmatch(r"`\$\.(\w+)(?:\[(\d+|\.\.\.)\])?`", place)
    if isinstance(error.__cause__, ValueError):  # raised by `_converted`, or by the dataclass itself
        return f"{match[1]}={error.__cause__}" if match else str(error.__cause__)
    if match is None:
        return str(error)
    name, index = match.groups()
    value, where = settings[name], name
    if index is not None and index.isdecimal():
        value, where = value[int(index)], f"{name}[{index}]"
    kind = re.match(r"Expected `(\w+)", problem)
    needed = problem if kind is None else f"need {NEEDED.get(kind[1], kind[1])}"
    return f"{where}={value!r}: {needed}"


def to_toml(config: TrainConfig) -> str:
    """Return the settings as TOML; `settings_from` reads it back."""
    settings = {name: value for name, value in asdict(config).items() if value is not None}
    unset = [name for name, value in config.options.items() if value is None]
    settings["options"] = {name: value for name, value in config.options.items() if value is not None}
    plain = msgspec.to_builtins(settings, enc_hook=str)
    return tomli_w.dumps({"format": FORMAT, **({"options_none": unset} if unset else {}), **plain})
