"""SVG to pixels, and a window. Needs the extra ``render``, whose packages are imported at first use."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..core.checks import require_choice
from ..core.game import Game
from ..core.installed import install
from ..core.loops import require_process
from ..core.turn_state import TurnState
from .svg import FONT, HEIGHT, WIDTH

MODES = ("human", "rgb_array", "svg", "ansi")
"""The render modes: a window, uint8[480, 640, 3], SVG, text."""
FPS = 4
"""Frames per second of a window or a film."""

_NEEDS = {"human": ("resvg_py", "ttf_opensans", "pygame"), "rgb_array": ("resvg_py", "ttf_opensans", "PIL")}


def warn_unshown() -> None:
    """Warn about `render()` without a render mode, as Gymnasium and PettingZoo do."""
    gymnasium.logger.warn("render() without a render_mode shows nothing: give one when the environment is made")


def png(svg: str, zoom: float = 1.0) -> bytes:
    """Return a picture as PNG, `zoom` times `WIDTH` × `HEIGHT` pixels.

    The font comes with the extra; characters that it lacks are drawn with the system's fonts, if there are any.
    """
    import resvg_py

    # Loading the system's fonts takes longer than drawing, so only pictures that need them load them.
    beyond = any(ord(letter) > 0x52F and not 0x2000 <= ord(letter) <= 0x22FF for letter in svg)
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, zoom=zoom, font_files=_fonts(), font_family=FONT, skip_system_fonts=not beyond
        )
    )


@cache
def _fonts() -> list[str]:
    import ttf_opensans

    folder = Path(ttf_opensans.__file__).parent / "ttf"
    return [str(folder / f"OpenSans-{weight}.ttf") for weight in ("Regular", "Bold")]


def pixels(svg: str) -> NDArray[np.uint8]:
    """Return a picture as uint8[480, 640, 3]."""
    from PIL import Image

    return np.array(Image.open(BytesIO(png(svg))).convert("RGB"), np.uint8)


class Window:
    """A window that shows pictures, at most `FPS` per second. On a machine without a screen, set
    ``SDL_VIDEODRIVER=dummy``.

    pygame has one window per process. Two environments share it, and it shows the last picture. After the user closes
    the window, this object shows nothing more, and the environment continues.

    Args:
        title: the window's title.
    """

    def __init__(self, title: str) -> None:
        import pygame

        self._pygame: Any = pygame
        self._title = title
        self._clock: Any = pygame.time.Clock()
        self._shut = False  # by the user
        self._process = os.getpid()

    def show(self, svg: str) -> None:
        """Show a picture.

        Raises:
            RuntimeError: in a process that was forked from the one with the window.
        """
        require_process(self._process, "the window")
        if self._shut:
            return
        display = self._pygame.display
        if display.get_surface() is None:  # the first picture, or another environment has closed it
            display.init()
            display.set_mode((WIDTH, HEIGHT))
        if display.get_caption()[0] != self._title:
            display.set_caption(self._title)
        display.get_surface().blit(self._pygame.image.load(BytesIO(png(svg))), (0, 0))
        display.flip()
        self._clock.tick(FPS)
        if self._pygame.event.get(self._pygame.QUIT):
            self._shut = True
            display.quit()

    def close(self) -> None:
        """Close the window; one of another process stays."""
        if os.getpid() == self._process:
            self._pygame.display.quit()


class Display:
    """Shows tables of a game in one render mode.

    Args:
        game: the game with its options.
        mode: ``"human"``, ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None.
        modes: the allowed modes.

    Raises:
        ValueError: for an unknown mode; the error names the modes.
        ImportError: if a package of the extra ``render`` is missing; the error names it.
    """

    def __init__(self, game: Game, mode: str | None, modes: Sequence[str] = MODES) -> None:
        require_choice("render_mode", mode, (None, *modes))
        for name in _NEEDS.get(mode or "", ()):
            if find_spec(name) is None:
                need = f"render_mode={mode!r} needs {name}, which is not installed: {install('render')}"
                raise ImportError(need, name=name)
        self.mode = mode
        self._game = game
        self._window: Window | None = None

    def show(self, view: str, states: Callable[[str], Sequence[TurnState]]) -> NDArray[np.uint8] | str | None:
        """Draw a table: return uint8[480, 640, 3], SVG or text, by the mode; else None.

        Args:
            view: ``"all"``, ``"public"`` or an agent's name.
            states: returns the TurnStates of a view, as `Match.turn_states` does.
        """
        renderer = self._game.renderer
        if self.mode is None:
            warn_unshown()
            return None
        if self.mode == "ansi":
            return renderer.text(states(view))
        drawn = renderer.picture(states(view))
        if self.mode == "svg":
            return drawn
        if self.mode == "rgb_array":
            return pixels(drawn)
        self._window = self._window or Window(self._game.id)
        self._window.show(drawn)
        return None

    def close(self) -> None:
        """Close the window of the mode ``"human"``."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "Display":
        """Return a display of the same mode with a window of its own."""
        return Display(self._game, self.mode, MODES)

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
