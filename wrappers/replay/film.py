"""Moments as a film: GIF or MP4, one frame per moment. Needs the extra ``render``."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from ...envs.render.svg import HEIGHT, WIDTH
from ...envs.render.window import pixels, png
from .log_reader import Moment, picture

STILL = 3
"""The number of frames of the end of a match."""


def frames(moments: Iterable[Moment], view: str) -> Iterator[str]:
    """Yield the pictures of a view, as SVG. Moments without this view are left out.

    Raises:
        ValueError: if no moment has this view.
    """
    seen: dict[str, None] = {}
    for moment in moments:
        views = moment.views
        seen |= dict.fromkeys(views)
        if view in views:
            for _ in range(1 if moment.agent else STILL):
                yield picture(views[view], moment.names, moment.game)
    if view not in seen:
        raise ValueError(f"there is no view {view!r}; there are {', '.join(map(repr, seen))}")


def film(moments: Iterable[Moment], out: Path, view: str, fps: float) -> int:
    """Write the film of a view to `out`, and return the number of frames.

    Args:
        moments: see `moments`.
        out: ``.gif`` or ``.mp4``.
        view: an agent's name, or ``"all"``.
        fps: moments per second, 0.1 to 60.

    Raises:
        ValueError: for another file name extension, a wrong `fps`, or a view that the moments do not have.
        ImportError: if a package of the extra ``render`` is missing.
    """
    if not 0.1 <= fps <= 60:
        raise ValueError(f"fps={fps}: need a number from 0.1 to 60")
    if out.suffix not in (".gif", ".mp4"):
        raise ValueError(f"{out.name}: the file name of a film ends in .gif or .mp4")
    shown = frames(moments, view)
    shown = chain([next(shown)], shown)  # a wrong view is an error before anything is written
    return _gif(shown, out, fps) if out.suffix == ".gif" else _mp4(shown, out, fps)


def _gif(shown: Iterable[str], out: Path, fps: float) -> int:
    from PIL import Image

    count = 0

    def images() -> Iterator[Any]:
        nonlocal count
        for drawing in shown:
            count += 1
            yield Image.open(BytesIO(png(drawing))).convert("RGB").quantize(128, dither=Image.Dither.NONE)

    drawn = images()
    next(drawn).save(out, save_all=True, append_images=drawn, duration=round(1000 / fps), loop=0)
    return count


def _mp4(shown: Iterable[str], out: Path, fps: float) -> int:
    import imageio_ffmpeg

    writer = imageio_ffmpeg.write_frames(str(out), (WIDTH, HEIGHT), fps=fps, quality=8, macro_block_size=16)
    writer.send(None)
    count = 0
    try:
        for drawing in shown:
            writer.send(pixels(drawing).tobytes())
            count += 1
    finally:
        writer.close()
    return count
