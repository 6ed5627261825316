"""Parlour's environments.

A game is made by name (``parlour.envs.make("holdem", seats=2)``), from its version module
(``parlour.envs.holdem_v0.env(seats=2)``), by PettingZoo (``pettingzoo.make("aec", "parlour/holdem-v0")``) or by
Gymnasium, as one learner's seat (``gymnasium.make("parlour/Holdem-v0")``, ``gymnasium.make_vec(…)``). Importing this
package registers the names and loads no game.
"""

import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, cast

import gymnasium
import pettingzoo

from .core.aec import GameEnv
from .core.game import Game
from .core.layout import Layout, Slice
from .core.options import named, with_options
from .core.turn_state import (
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    Message,
    MessageIntent,
    MessageScope,
    TurnState,
)
from .core.vector import VectorGame

__all__ = [
    "GAMES",
    "Action",
    "ActionResult",
    "AgentResponse",
    "AllowedAction",
    "Game",
    "GameEnv",
    "Layout",
    "Message",
    "MessageIntent",
    "MessageScope",
    "Slice",
    "TurnState",
    "VectorGame",
    "auction_v0",
    "bargaining_v0",
    "find",
    "game",
    "holdem_v0",
    "mafia_v0",
    "make",
    "register",
    "tangram_v0",
]

GAMES: dict[str, str | Callable[..., Game]] = {}
"""Every registered game: its id to the version module of this package, or to a function from options to `Game`."""


def register(game_id: str, source: str | Callable[..., Game]) -> None:
    """Register a game here, with PettingZoo and with Gymnasium.

    Args:
        game_id: name and version, such as ``"holdem-v0"``.
        source: a version module of this package by name, or a function from options to `Game`.

    Raises:
        ValueError: if the id is no name (letters, digits, ``_``) with a version (``-v`` and a number).
    """
    if not re.fullmatch(r"[A-Za-z]\w*-v(0|[1-9]\d*)", game_id, re.ASCII):
        raise ValueError(f"{game_id!r} is no game's id: write a name and its version, such as my_game-v0")
    GAMES[game_id] = source
    name, _, version = game_id.partition("-")
    if isinstance(source, str):  # by name, so that nothing is loaded before it is wanted
        pettingzoo.register("aec", f"parlour/{game_id}", f"parlour.envs.{source}:env")
    else:
        from .core.expose import expose

        pettingzoo.register("aec", f"parlour/{game_id}", expose(source)[0])
    gymnasium.register(
        f"parlour/{name.capitalize()}-{version}",
        entry_point="parlour.wrappers.seat:make_seat",
        vector_entry_point="parlour.wrappers.seat:make_seats",
        kwargs={"game": game_id},
        disable_env_checker=True,
    )


def _version(game_id: str) -> int:
    return int(game_id.rpartition("-v")[2])


def _id(name: str) -> str:
    """Return the id by which a game is registered."""
    newest = {game_id.partition("-")[0]: game_id for game_id in sorted(GAMES, key=_version)}
    known = {**newest, **{game_id: game_id for game_id in GAMES}}
    return known[named("game", name, known)]


def find(name: str) -> Callable[..., Game]:
    """Return the function from options to `Game` by the game's name (``"holdem"``: its newest version).

    Raises:
        ValueError: for an unknown name, with the nearest known one.
    """
    source = GAMES[_id(name)]
    if isinstance(source, str):
        source = cast(Callable[..., Game], import_module(f".{source}", __name__).game)
    return source


def game(name: str, **options: Any) -> Game:
    """Return a game by name (``"holdem"``: its newest version; ``"holdem-v0"``) with its options.

    Raises:
        ValueError: for an unknown name or option, with the nearest known one, a value that the option does not take, or
            a game that calls itself otherwise than it is registered.
    """
    game_id = _id(name)
    made = with_options(find(game_id), options)
    if not isinstance(made, Game):
        raise ValueError(f"{game_id} is registered for a function that returns {made!r}, which is no Game")
    if made.id != game_id:
        raise ValueError(f"{game_id} is registered for a Game that is {made.id}: give both one name and version")
    return made


def make(
    name: str,
    *,
    observation: str = "dict",
    action: str = "discrete",
    render_mode: str | None = None,
    render_view: str | None = None,
    **options: Any,
) -> GameEnv:
    """Return one table of a game by name, as a `GameEnv` without wrappers.

    >>> make("holdem", seats=3).possible_agents
    ['player_0', 'player_1', 'player_2']
    """
    return GameEnv(game(name, **options), observation, action, render_mode, render_view)


def __getattr__(name: str) -> ModuleType:
    if name in GAMES.values():
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


register("holdem-v0", "holdem_v0")
register("auction-v0", "auction_v0")
register("bargaining-v0", "bargaining_v0")
register("mafia-v0", "mafia_v0")
register("tangram-v0", "tangram_v0")
