"""`parlour replay`: turns a match log into a page to step through, or a film."""

import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from ...wrappers.replay.film import film as write_film
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.moment import Moment
from ...wrappers.replay.page import page
from ..progress import STDERR
from .arguments import FilmArguments


def command(
    *,
    log: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="LOG")],
    out: Path | None = None,
    film: FilmArguments,
    browse: bool = False,
) -> None:
    """Turn a match log into one HTML page with the views of all players and of an observer. It needs no network.

    The page contains hidden information, as the log does. Logs are written by `--log` of play, watch, record, table,
    host and deploy. Hand histories of no-limit hold'em in PHH (.phh, .phhs) are read too; this needs pokerkit.

    Args:
        log: The match log (JSON Lines), or a hand history (.phh, .phhs).
        out: File to write: .html, .gif or .mp4. Default: the log's name with .html.
        browse: Open the page in the browser.
    """
    target = out or log.with_suffix(".html")
    if target.resolve() == log.resolve():
        raise ValueError(f"{log} is the log itself; give another file for the page with --out")
    write(log, target, log.stem, film)
    Console(highlight=False).print(f"written: {target}", markup=False, soft_wrap=True)
    if browse:
        webbrowser.open(target.resolve().as_uri())


PHH = (".phh", ".phhs")
"""Hand histories by the ending of their file."""
PAGE = FilmArguments()


def write(log: Path, out: Path, title: str, film: FilmArguments = PAGE) -> None:
    """Write a log to `out` as a page (``.html``) or as a film of one view (``.gif``, ``.mp4``).

    Raises:
        ValueError: for another file name extension, or a log that cannot be replayed.
    """
    check_out(out)
    if not out.parent.is_dir():
        out.parent.mkdir(parents=True)
        STDERR.print(f"new folder: {out.parent}", markup=False, soft_wrap=True)
    if out.suffix == ".html":
        out.write_text(page(_moments(log), title), "utf-8")
    else:
        write_film(_moments(log), out, film.view, film.fps)


def _moments(log: Path) -> Iterator[Moment]:
    """Return the moments of a match log, or of a hand history in PHH."""
    if log.suffix.lower() in PHH:
        from ...wrappers.replay import phh  # PokerKit, which not everybody has

        return phh.moments(log)
    return moments(log)


def check_out(out: Path) -> None:
    """Raise ValueError for a file name that is neither a page nor a film."""
    if out.suffix not in (".html", ".gif", ".mp4"):
        raise ValueError(f"{out}: write to a .html, .gif or .mp4")
