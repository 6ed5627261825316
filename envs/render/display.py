"""Display: shows a game's tables in one render mode, for every environment that renders."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import require_choice
from ..core.game import Game
from ..core.match import Match
from ..core.turn_state import TurnState
from .renderer import Renderer
from .window import MODES, Window, check_mode, pixels, warn_unshown


class Display:
    """Shows tables in one render mode.

    Args:
        renderer: the game's renderer.
        title: the window's title.
        mode: ``"human"``, ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None.
        modes: the allowed modes.

    Raises:
        ValueError: for an unknown mode.
        ImportError: if a package of the extra ``render`` is missing.
    """

    def __init__(self, renderer: Renderer, title: str, mode: str | None, modes: Sequence[str] = MODES) -> None:
        check_mode(mode, modes)
        self.mode = mode
        self._renderer = renderer
        self._title = title
        self._window: Window | None = None

    def show(
        self, table: Any, seat: int | None, states: Callable[[], Sequence[TurnState]]
    ) -> NDArray[np.uint8] | str | None:
        """Draw a table: return uint8[480, 640, 3], SVG or text, by the mode; else None.

        Args:
            table: the record.
            seat: the seat whose view the text shows; None: everything; −1: the public view.
            states: returns the TurnStates that the picture shows.
        """
        if self.mode is None:
            warn_unshown()
            return None
        if self.mode == "ansi":
            return self._renderer.text(table, seat)
        drawn = self._renderer.picture(states())
        if self.mode == "svg":
            return drawn
        if self.mode == "rgb_array":
            return pixels(drawn)
        self._window = self._window or Window(self._title)
        self._window.show(drawn)
        return None

    def show_match(self, match: Match, view: str) -> NDArray[np.uint8] | str | None:
        """Draw the table of a match as `view` sees it (see `Match.turn_states`), and return what `show` returns."""
        seat = {"all": None, "public": -1}[view] if view in ("all", "public") else match.game.agents.index(view)
        return self.show(match.table, seat, lambda: match.turn_states(view))

    def close(self) -> None:
        """Close the window of the mode ``"human"``."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "Display":
        """Return a display of the same mode with a window of its own."""
        return Display(self._renderer, self._title, self.mode, MODES)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}


def view_shown(game: Game, view: str | None) -> str:
    """Return a `view` that the game has; for None the public one, or where it has none, the first agent's.

    Raises:
        ValueError: for an unknown view.
    """
    public = ("public",) if game.public_view is not None else ()
    require_choice("render_view", view, (None, *public, *game.agents, "all"))
    return view or (*public, *game.agents)[0]
