"""The registry: games by name, here and with PettingZoo and Gymnasium."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, cast

import gymnasium
import pettingzoo
from pettingzoo import ParallelEnv

from .aec import GameEnv, TurnBasedParallel
from .checks import blaming, require_functions
from .game import Game
from .options import UnexpectedOption, did_you_mean, with_options
from .plain_start import PLAIN_START
from .vector import DEVICES, VectorGame

PACKAGE = __name__.rpartition(".core.")[0]
"""The package that holds the games' packages: ``parlour.envs``."""

GAMES: dict[str, str | Callable[..., Game]] = {}
"""Every registered game by id: the name of its module in ``parlour.envs``, ``module:function``, or its function from
options to `Game`."""

TYPED: dict[str, str] = {}
"""What the command line names as ``module:function``, and the game's id; empty until it is loaded. These are names of
games. A name that a file or a message holds imports no module."""

ENTRY_POINTS = "parlour.games"
"""The group of entry points by which an installed package registers its games: ``my_game-v0 = "my_package:game"``."""


@dataclass(frozen=True)
class PlatformId:
    """What a platform's id of a game means here.

    Attributes:
        game: the game's name.
        options: the options that the platform's game has; they cannot be changed.
    """

    game: str
    options: Mapping[str, Any] = field(default_factory=dict)


PLATFORM_IDS: dict[str, PlatformId] = {}
"""Platforms' ids, written with ``_``, of games that have another name here."""

WORDS: dict[str, str] = {}
"""Words by which people look for a game, and its name. A hint names it; a word is no name."""


class VersionModule(ModuleType):
    """A module with `env`, `raw_env`, `parallel_env` and `vector_env` for one version of a game.

    Args:
        name: the module's name, such as ``"parlour.envs.holdem_v0"``.
        make: the function from options to `Game`.
    """

    def __init__(self, name: str, make: Callable[..., Game]) -> None:
        super().__init__(
            name, f"PettingZoo's version module of {name.rpartition('.')[2]}: env, raw_env, parallel_env, vector_env."
        )
        self.game = make

    def raw_env(
        self,
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        encoder: str | None = None,
        **options: Any,
    ) -> GameEnv:
        """Return one table (see `GameEnv`) without wrappers: an illegal action raises ValueError."""
        return GameEnv(self.game(**options), observation, action, render_mode, render_view, encoder)

    def env(
        self,
        *,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        encoder: str | None = None,
        **options: Any,
    ) -> GameEnv:
        """Return one table (see `GameEnv`): as with PettingZoo's standard wrappers, an illegal action ends the episode
        and costs one unit (`Payoffs.unit`)."""
        game = self.game(**options)
        return GameEnv(game, observation, action, render_mode, render_view, encoder, -game.payoffs.unit)

    def parallel_env(self, **options: Any) -> ParallelEnv[str, Any, Any]:
        """Return the table of `env` as a PettingZoo `ParallelEnv`, by PettingZoo's turn-based conversion.

        Every agent observes every step. The action mask of an agent is all 0 unless it is its turn, and only the action
        of the agent whose turn it is is played; see `TurnBasedParallel`.

        Args:
            options: those of `env`.
        """
        return TurnBasedParallel(self.env(**options))

    def vector_env(
        self, num_envs: int, *, encoder: str | None = None, threads: int = 1, device: str = "cpu", **options: Any
    ) -> VectorGame:
        """Return `num_envs` tables stepped together (see `VectorGame`)."""
        return VectorGame(self.game(**options), num_envs, encoder, threads, device=device)


def register(
    game_id: str, source: str | Callable[..., Game] | None = None, *, words: tuple[str, ...] = ()
) -> VersionModule:
    """Register a game here, with PettingZoo and with Gymnasium. The game's code is loaded at its first use.

    Args:
        game_id: name and version, such as ``"holdem-v0"``. The version names the default encoder.
        source: a function from options to `Game`; the module in ``parlour.envs`` that has such a function `game`; or
            ``module:function`` of any package. None: the package ``parlour.envs.<name>``.
        words: other words for the game, written with ``_``, for the hint where a name is wrong.

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
    WORDS.update(dict.fromkeys(words, name))
    module = VersionModule(f"{PACKAGE}.{name}_{version}", partial(game, game_id))
    sys.modules[module.__name__] = module
    if hasattr(pettingzoo, "register"):  # PettingZoo has a registry since 1.27
        pettingzoo.register("aec", f"parlour/{game_id}", f"{module.__name__}:env")
        pettingzoo.register("parallel", f"parlour/{game_id}", f"{module.__name__}:parallel_env")
    gymnasium.register(
        f"parlour/{name.capitalize()}-{version}",
        entry_point="parlour.wrappers.rl.gymnasium_env:SingleAgentEnv",
        vector_entry_point="parlour.wrappers.rl.gymnasium_env:SingleAgentVectorEnv",
        kwargs={"game": game_id},
        disable_env_checker=True,
    )
    return module


def register_installed() -> None:
    """Register the games that installed packages name as entry points (see `ENTRY_POINTS`).

    One that cannot be registered is left out, with a warning.
    """
    for point in entry_points(group=ENTRY_POINTS):
        try:
            if point.name in GAMES:
                raise ValueError("a game with this id is registered already")
            if ":" not in point.value:
                raise ValueError("name the function too, as in my_package:game")
            register(point.name, point.value)
        except ValueError as error:
            warnings.warn(f"the entry point {point.name} = {point.value} is left out: {error}", stacklevel=2)


def register_platform_id(name: str, game_name: str, **options: Any) -> None:
    """Make a platform's id a name of a registered game, with the options that it stands for."""
    PLATFORM_IDS[with_underscores(name)] = PlatformId(game_name, options)


def register_source(source: str) -> str:
    """Register the game that ``module:function`` makes, and return its id.

    Raises:
        ValueError: see `load_own`; if it makes no game without options, or an installed game has the same id.
    """
    function = load_own(source)
    made: Any = with_options(function, {})
    if not isinstance(made, Game):
        raise ValueError(f"{source} returns {made!r:.80}, which is not a Game")
    if isinstance(GAMES.get(made.id), str):
        raise ValueError(f"{source} makes {made.id}, but an installed game has this id: give it a name of its own")
    register(made.id, function)
    return made.id


def find(name: str) -> Callable[..., Game]:
    """Return the function from options to `Game` by the game's name (``"holdem"``: its newest version).

    Raises:
        ValueError: for an unknown name, with the most similar known one.
    """
    source = GAMES[id_of(name)]
    if isinstance(source, str):
        source = _loaded(source)
    platform = PLATFORM_IDS.get(with_underscores(name))
    return source if platform is None else _with_fixed(source, name, platform.options)


def load_own(source: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names. The module may lie in the current folder.

    Raises:
        ValueError: if `source` has another form, the module cannot be imported, or it has no such function.
    """
    if not all(source.partition(":")) or _path_in(source):
        raise ValueError(f"{source!r}: write module:function, such as {_as_source(source)}")
    if os.getcwd() not in sys.path:  # a console script does not import from the current folder
        sys.path.insert(0, os.getcwd())
    function = _loaded(source)
    if not callable(function):
        raise ValueError(f"{source} is {function!r:.80}, which is no function")
    return function


def _path_in(name: str) -> bool:
    """Return True if a name is the path of a Python file rather than the name of a module."""
    module = name.partition(":")[0]
    return module.endswith(".py") or "/" in module or os.sep in module


def _as_source(name: str) -> str:
    """Return the ``module:function`` that was meant by a module, or the path of its file, with or without a function.

    >>> _as_source("games/nim.py"), _as_source("nim.py:make"), _as_source(":game")
    ('games.nim:game', 'nim:make', 'my_package.my_game:game')
    """
    module, _, function = name.partition(":")
    dotted = ".".join(part for part in re.split(r"[/\\]", module.removesuffix(".py")) if part not in ("", "."))
    return f"{dotted or 'my_package.my_game'}:{function or 'game'}"


def _loaded(source: str) -> Callable[..., Game]:
    """Return the function of a registered game (see `register`).

    Raises:
        ValueError: if the module of another package cannot be imported, or has no such function.
    """
    module, _, function = source.partition(":")
    if not function:
        with PLAIN_START.loading():
            return cast(Callable[..., Game], import_module(f"{PACKAGE}.{source}").game)
    with blaming(f"the game of {source} cannot be loaded"):
        return cast(Callable[..., Game], getattr(import_module(module), function))


def _with_fixed(source: Callable[..., Game], name: str, fixed: Mapping[str, Any]) -> Callable[..., Game]:
    """Return `source` with the options for which a platform's id stands."""

    @wraps(source)
    def platforms_game(**options: Any) -> Game:
        for option, value in fixed.items():
            if options.get(option, value) != value:
                raise ValueError(f"{option}={options[option]!r}: {name} is the game with {option}={value!r}")
        return source(**{**options, **fixed})

    return platforms_game


def game(name: str, **options: Any) -> Game:
    """Return a game by name with its options.

    >>> game("holdem").id, game("holdem-v0").id, game("all-pay-auction").options["rule"]
    ('holdem-v0', 'holdem-v0', 'all-pay')

    Args:
        name: ``"holdem"``, for its newest version; ``"holdem-v0"``; or the id that a platform has for it.
        options: its options.

    Raises:
        UnexpectedOption: for an unknown option, with the most similar one. It is a TypeError and a ValueError.
        ValueError: for an unknown name, with the most similar one; for a value that an option does not take; or if the
            game has another name or version than it is registered with.
    """
    game_id = id_of(name)
    with PLAIN_START.loading():
        result = with_options(find(name), options)
    if not isinstance(result, Game):
        raise ValueError(f"{game_id} is registered with a function that returns {result!r}, which is not a Game")
    own, _, version = game_id.partition("-")
    if result.name != own or version not in result.encoders:
        raise ValueError(
            f"{game_id} is registered with a Game that is {result.id}: give both the same name and version"
        )
    return replace(result, encoder=version, registered=game_id)


def as_game(given: str | Game, options: Mapping[str, Any]) -> Game:
    """Return the game with this name and these options, or the given game.

    Raises:
        UnexpectedOption: for options beside a game that is given: it has its own already.
        ValueError: as `game`.
    """
    if isinstance(given, str):
        return game(given, **options)
    for name in options:
        raise UnexpectedOption(f"unexpected keyword argument {name!r}: the game that is given has its options already")
    return given


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


def id_of(name: str) -> str:
    """Return the id by which the game of this name is registered.

    Raises:
        ValueError: for an unknown name, with the most similar known one.
    """
    if name in TYPED:
        TYPED[name] = TYPED[name] or register_source(name)
        return TYPED[name]
    newest = {game_id.partition("-")[0]: game_id for game_id in sorted(GAMES, key=_version)}
    ids = {**newest, **{game_id: game_id for game_id in GAMES}}
    written = name if name in ids else with_underscores(name)
    if written in PLATFORM_IDS:
        written = PLATFORM_IDS[written].game
    if written not in ids:
        names = [*newest, *(one.replace("_", "-") for one in PLATFORM_IDS)]
        similar = WORDS.get(written.lower())
        hint = f"did you mean {similar!r}?" if similar else did_you_mean(name, names)
        if _path_in(name) or os.path.isfile(f"{name.replace('.', os.sep)}.py"):
            hint = f"for a game of your own write module:function, such as {_as_source(name)}"
        elif hint.startswith("choose") or "-v" in name:
            hint = f"for a game of your own give module:function (a run needs --game), or register it; {hint}"
        raise ValueError(f"no game is called {name!r}; {hint}")
    return ids[written]


def packages() -> dict[str, str]:
    """Return the package of ``parlour.envs`` in which each registered game lies: ``"economics"`` for ``"cournot"``."""
    sources = {
        game_id.partition("-")[0]: source
        for game_id, source in GAMES.items()
        if isinstance(source, str) and ":" not in source
    }
    return {game: source.partition(".")[0] for game, source in sorted(sources.items())}


def game_meant(name: str) -> str | None:
    """Return the name of the game that a name or a word stands for; None if there is none.

    >>> game_meant("poker"), game_meant("holdem-v0"), game_meant("demo")
    ('holdem', 'holdem-v0', None)
    """
    written = with_underscores(name)
    if written in GAMES or written in PLATFORM_IDS or any(one.startswith(f"{written}-v") for one in GAMES):
        return name
    return WORDS.get(written.lower())


def own_name(name: str) -> str:
    """Return the name that a game has here, without its version. An unknown one is returned as it is.

    >>> own_name("public-project-v0"), own_name("unfair-split"), own_name("holdem")
    ('public_project', 'bargaining', 'holdem')
    """
    written = with_underscores(name).partition("-")[0]
    return PLATFORM_IDS[written].game if written in PLATFORM_IDS else written


def with_underscores(name: str) -> str:
    """Return a name with ``_``, as names are here, in place of the ``-`` of a platform's id.

    >>> with_underscores("public-project-v0")
    'public_project-v0'
    """
    parts = re.fullmatch(r"(.*?)(-v\d+)?", str(name))
    return str(name) if parts is None else parts[1].replace("-", "_") + (parts[2] or "")


def _version(game_id: str) -> int:
    return int(game_id.rpartition("-v")[2])


def _cuda() -> type[VectorGame]:
    from .cuda.vector import CudaVectorGame

    return CudaVectorGame


DEVICES["cuda"] = _cuda
