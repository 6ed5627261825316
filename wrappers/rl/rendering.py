"""Rendering of single-agent environments."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import TurnState
from ...envs.render.display import Display
from ...envs.render.window import MODES
from .single_agent import SingleAgentTables

STILL_MODES = tuple(mode for mode in MODES if mode != "human")
"""The render modes for many tables; a window shows only one."""


def check_view(game: Game, view: str) -> None:
    """Raise ValueError for a `render_view` that the game does not have.

    Raises:
        ValueError: for an unknown view; the error names the known ones.
    """
    public = game.public_view is not None
    if view not in ("own", "public", "all") or (view == "public" and not public):
        named = ', "public"' if public else ""
        raise ValueError(f'render_view={view!r} is unknown; choose from "own"{named}, "all"')


def show(display: Display, game: Game, table: Any, seat: int, view: str) -> NDArray[np.uint8] | str | None:
    """Show a table as `view` sees it: ``"own"`` (of `seat`), ``"public"`` or ``"all"``."""

    def states() -> list[TurnState]:
        if view == "public":
            return [game.public_turn_state(table)]
        return [game.turn_state(table, viewer) for viewer in (range(game.seats) if view == "all" else [seat])]

    return display.show(table, {"own": seat, "public": -1, "all": None}[view], states)


def show_all(display: Display, seats: SingleAgentTables, view: str) -> tuple[NDArray[np.uint8] | str, ...]:
    """Show every table as `view` sees it, in a mode other than ``"human"``."""
    shown = (
        show(display, seats.game, seats.tables.tables[i], seat, view) for i, seat in enumerate(seats.seat.tolist())
    )
    return tuple(drawing for drawing in shown if drawing is not None)
