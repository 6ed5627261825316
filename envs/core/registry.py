"""The registry: games by name, here and with PettingZoo and Gymnasium."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, cast

import gymnasium
import pettingzoo

from .aec import GameEnv
from .checks import require_functions
from .game import Game
from .options import named, with_options
from .version_module import VersionModule

PACKAGE = __name__.rpartition(".core.")[0]
"""The package that holds the games' packages: ``parlour.envs``."""

GAMES: dict[str, str | Callable[..., Game]] = {}
"""Every registered game by id: the name of its module in ``parlour.envs``, or its function from options to `Game`."""


def register(game_id: str, source: str | Callable[..., Game] | None = None) -> VersionModule:
    """Register a game here, with PettingZoo and with Gymnasium. The game's code is loaded at its first use.

    Args:
        game_id: name and version, such as ``"holdem-v0"``. The version names the default encoder.
        source: a function from options to `Game`; or the module in ``parlour.envs`` that has such a function `game`.
            None: the package ``parlour.envs.<name>``.

    Returns:
        The game's version module, such as ``parlour.envs.holdem_v0``.

    Raises:
        ValueError: if the id is not a name (letters, digits, ``_``) with a version (``-v`` and a number), or `source`
            is not a function.
    """
    if not re.fullmatch(r"[A-Za-z]\w*-v(0|[1-9]\d*)", game_id, re.ASCII):
        raise ValueError(f"{game_id!r} is not a game id: write a name and its version, such as my_game-v0")
    if source is not None and not isinstance(source, str):
        require_functions(f"register({game_id!r})", {"source": source})
    name, _, version = game_id.partition("-")
    GAMES[game_id] = source or name
    module = VersionModule(f"{PACKAGE}.{name}_{version}", partial(game, game_id))
    sys.modules[module.__name__] = module
    if hasattr(pettingzoo, "register"):  # PettingZoo has a registry since 1.27
        pettingzoo.register("aec", f"parlour/{game_id}", f"{module.__name__}:env")
        pettingzoo.register("parallel", f"parlour/{game_id}", f"{module.__name__}:parallel_env")
    gymnasium.register(
        f"parlour/{name.capitalize()}-{version}",
        entry_point="parlour.wrappers.rl.gymnasium_env:make_single_agent_env",
        vector_entry_point="parlour.wrappers.rl.gymnasium_env:make_single_agent_vector_env",
        kwargs={"game": game_id},
        disable_env_checker=True,
    )
    return module


def find(name: str) -> Callable[..., Game]:
    """Return the function from options to `Game` by the game's name (``"holdem"``: its newest version).

    Raises:
        ValueError: for an unknown name, with the most similar known one.
    """
    source = GAMES[_id(name)]
    if isinstance(source, str):
        source = cast(Callable[..., Game], import_module(f"{PACKAGE}.{source}").game)
    return source


def game(name: str, **options: Any) -> Game:
    """Return a game by name (``"holdem"``: its newest version; ``"holdem-v0"``) with its options.

    Raises:
        ValueError: for an unknown name or option, with the most similar known one; for a value that the option does not
            take; or if the game has another name or version than it is registered with.
    """
    game_id = _id(name)
    made = with_options(find(game_id), options)
    if not isinstance(made, Game):
        raise ValueError(f"{game_id} is registered with a function that returns {made!r}, which is not a Game")
    own, _, version = game_id.partition("-")
    if made.name != own or version not in made.encoders:
        raise ValueError(f"{game_id} is registered with a Game that is {made.id}: give both the same name and version")
    return made if made.encoder == version else replace(made, encoder=version)


def make(
    name: str,
    *,
    observation: str = "dict",
    action: str = "discrete",
    render_mode: str | None = None,
    render_view: str | None = None,
    encoder: str | None = None,
    **options: Any,
) -> GameEnv:
    """Return one table of a game by name, as a `GameEnv` without wrappers.

    >>> make("holdem", seats=3).possible_agents
    ['player_0', 'player_1', 'player_2']
    """
    return GameEnv(game(name, **options), observation, action, render_mode, render_view, encoder)


def _id(name: str) -> str:
    """Return the id by which a game is registered."""
    newest = {game_id.partition("-")[0]: game_id for game_id in sorted(GAMES, key=_version)}
    known = {**newest, **{game_id: game_id for game_id in GAMES}}
    return known[named("game", name if name in known else with_underscores(name), known)]


def with_underscores(name: str) -> str:
    """Return a name with ``_``, as names are here, in place of the ``-`` of a platform's id.

    >>> with_underscores("public-project-v0")
    'public_project-v0'
    """
    parts = re.fullmatch(r"(.*?)(-v\d+)?", str(name))
    return str(name) if parts is None else parts[1].replace("-", "_") + (parts[2] or "")


def _version(game_id: str) -> int:
    return int(game_id.rpartition("-v")[2])
