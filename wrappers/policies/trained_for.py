"""TrainedFor: what a policy was trained for. It is saved with the policy, and compared with the game to play."""

import json
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...envs import game as make_game
from ...envs.core.files import no_files, parsed, read_text
from ...envs.core.game import Game
from ...envs.core.registry import own_name


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
        options = msgspec.to_builtins(dict(game.options))
        return cls(
            game=game.id, options=options, encoder=encoder or game.encoder, preset=preset, reward_scale=reward_scale
        )

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
        """Return how version and options of `game` differ from the training, as text; empty: no difference.

        >>> TrainedFor.of(make_game("holdem", seats=2)).difference(make_game("holdem", seats=3, ante=1))
        'holdem-v0 with seats=2, ante=0; it plays with seats=3, ante=1'
        """
        theirs = msgspec.to_builtins(dict(game.options))
        names = [name for name, value in self.options.items() if name in theirs and theirs[name] != value]
        if self.game == game.id and not names:
            return ""
        before, now = (
            ", ".join(f"{name}={_short(options[name])}" for name in names) for options in (self.options, theirs)
        )
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
    """Return what a run with these settings was trained for.

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
