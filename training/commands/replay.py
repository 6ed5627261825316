"""`parlour replay`: a match log as a page to step through, or as a film."""

import webbrowser
from pathlib import Path

import tyro
from rich.console import Console

from ...wrappers.replay.film import film
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.moment import ALL
from ...wrappers.replay.page import page


def write(log: Path, out: Path, title: str, view: str = ALL, fps: float = 1.5) -> None:
    """Write what a log tells to `out`: a page (``.html``) or a film of one view (``.gif``, ``.mp4``).

    Raises:
        ValueError: for another ending, or a log that does not replay.
    """
    check_out(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".html":
        out.write_text(page(moments(log), title), "utf-8")
    else:
        film(moments(log), out, view, fps)


def check_out(out: Path) -> None:
    """Refuse what is neither a page nor a film."""
    if out.suffix not in (".html", ".gif", ".mp4"):
        raise ValueError(f"{out}: write to a .html, .gif or .mp4")


def command(
    log: tyro.conf.Positional[Path],
    *,
    out: Path | None = None,
    view: str = ALL,
    fps: float = 1.5,
    browse: bool = False,
) -> None:
    """Make a match log one HTML page that needs no network: step, play, every player's view and an observer's.

    The page holds every seat's secrets, as the log does. Logs are written by `--log` of play, watch, record, table,
    host and deploy.

    Args:
        log: the match log (JSON Lines).
        out: where to write: .html, .gif or .mp4; default: the log's name with .html.
        view: whose eyes a film has: a player, or all.
        fps: actions a second in a film.
        browse: open the page in the browser.
    """
    target = out or log.with_suffix(".html")
    if target.resolve() == log.resolve():
        raise ValueError(f"{log} is the log itself; say with --out where the page is to be written")
    write(log, target, log.stem, view, fps)
    Console(highlight=False).print(f"written: {target}", markup=False, soft_wrap=True)
    if browse:
        webbrowser.open(target.resolve().as_uri())
