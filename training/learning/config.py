"""Settings of training runs in files: Parlour's own presets, users' files, and the ``config.toml`` of a run.

A file is TOML and begins with ``format = 2``. A file without that line is read as a file of version 0.1, whose
settings had other names. TOML has no None: options of the game that are None are named in ``options_none``.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from ...envs.core.options import named
from ...wrappers.policies.trained_for import read_settings
from ..algorithms import find
from .conversion import convert
from .settings import ALGORITHM, TrainConfig
from .version_0_1 import renamed

FORMAT = 2
"""The format of the files that this version writes. Files of version 0.1 have no format."""
_OF_ANY_ALGORITHM = ("game", "options", "encoder", "preset", "format")
PRESETS = Path(__file__).parents[1] / "configs"
"""Parlour's own settings, by game."""

Config = TypeVar("Config", bound=TrainConfig)


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
    settings = settings_from(source)
    by_algorithm = settings.pop("by_algorithm", {})
    algorithm = settings.get("algorithm", ALGORITHM)
    chosen = overrides.get("algorithm", algorithm)
    if chosen != algorithm:  # the settings are those of another algorithm
        settings = {name: settings[name] for name in _OF_ANY_ALGORITHM if name in settings}
        settings |= by_algorithm.get(chosen, {})
    return to_config(find(chosen).Config, settings | overrides, str(source))


def settings_from(source: str | Path) -> dict[str, Any]:
    """Return the settings of a preset or of a file, by their current names.

    Args:
        source: a game's name (its preset, if it has one), the name of another preset (``"bargaining-public"``), or the
            path of a ``.toml``.

    Raises:
        FileNotFoundError: if the path does not exist.
        ValueError: for a file that is not TOML, or has an unknown format.
    """
    if str(source).endswith(".toml"):
        return _read(Path(source))
    names = (str(source), str(source).partition("-")[0])  # holdem-v0 has the settings of holdem
    preset = next((name for name in names if (PRESETS / f"{name}.toml").is_file()), None)
    settings = {} if preset is None else _read(PRESETS / f"{preset}.toml") | {"preset": preset}
    return {"game": str(source)} | settings


def _read(file: Path) -> dict[str, Any]:
    settings = read_settings(file)
    version = settings.pop("format", None)
    if version is None:
        return renamed(settings, str(file))
    if version != FORMAT:
        raise ValueError(f"{file} has format = {version!r}; this version of Parlour reads format {FORMAT} and 0.1's")
    unset = settings.pop("options_none", [])
    return settings | {"options": {**settings.get("options", {}), **dict.fromkeys(unset)}} if unset else settings


def presets() -> list[str]:
    """Return the names of Parlour's own settings."""
    return sorted(file.stem for file in PRESETS.glob("*.toml"))


def preset_options(game: str) -> dict[str, Any]:
    """Return the game's options in its preset; empty for a game without a preset."""
    options: dict[str, Any] = settings_from(game).get("options", {})
    return options


def to_config(kind: type[Config], settings: Mapping[str, Any], source: str) -> Config:
    """Return settings as a dataclass, each converted to its type.

    Args:
        kind: the dataclass, `TrainConfig` or the config of an algorithm.
        settings: the settings by name, as TOML values.
        source: the source of the settings, for error messages.

    Raises:
        ValueError: for an unknown setting, with the most similar one, or for a value of another type or out of range.
    """
    for name in settings:
        named(f"setting of {source}", name, [field.name for field in fields(kind)])
    return convert(settings, kind)


def to_toml(config: TrainConfig) -> str:
    """Return the settings as TOML; `settings_from` reads it back."""
    settings = {name: value for name, value in asdict(config).items() if value is not None}
    unset = [name for name, value in config.options.items() if value is None]
    settings["options"] = {name: value for name, value in config.options.items() if value is not None}
    plain = msgspec.to_builtins(settings, enc_hook=str)
    return tomli_w.dumps({"format": FORMAT, **({"options_none": unset} if unset else {}), **plain})


def write_config(config: TrainConfig, folder: Path) -> None:
    """Write the settings of a run into its folder."""
    (folder / "config.toml").write_text(to_toml(config), "utf-8")
