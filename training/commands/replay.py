"""`parlour replay`: turns a match log into a page to step through, or a film."""

import webbrowser
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ...envs.core.counted import counted
from ...envs.core.files import opened
from ...envs.core.registry import find
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import MatchPages, PageServer, page
from ...wrappers.replay.page import film as write_film
from ..evaluation.pages import provenance
from ..parallel.tasks import interruptible
from ..terminal.console import STDERR, Console
from .arguments import FilmArguments

if TYPE_CHECKING:
    from ...wrappers.replay.phh import HandFile


def command(
    log: Annotated[Path, Parameter(name="LOG")],
    *,
    out: Path | None = None,
    film: FilmArguments,
    browse: bool = False,
    serve: bool = False,
    strict: bool = False,
    game: str | None = None,
) -> None:
    """Turn a match log into one HTML page with the views of all players and of an observer. It needs no network.

    Of a long log, `--serve` shows the results at once and draws each match when it is opened.

    The page contains hidden information, as the log does. Logs are written by `--log` of play, table, host and
    deploy. Hand histories of no-limit hold'em are read too, in PHH (.phh, .phhs) or as the text of a site
    (PokerStars, Full Tilt, PartyPoker, iPoker, Ongame, Absolute Poker); this needs pokerkit. Hands that cannot be read
    are left out, and counted.

    Args:
        log: The match log (JSON Lines), or hand histories (.phh, .phhs, or a site's text).
        out: File to write: .html, .gif or .mp4. Default: the log's name with .html.
        browse: Open the page in the browser.
        serve: Write no file: serve a page for each match of a log, on this machine, until Ctrl-C.
        strict: Stop at the first hand of a hand history that cannot be read.
        game: The game of the log, if it is your own, as module:function.
    """
    if game is not None:
        find(game)  # registers it
    if serve:
        with PageServer(MatchPages(log, log.stem, provenance())) as server, interruptible():
            Console().say(f"{counted(len(server.pages.matches), 'matches')}: {server.url}")
            if browse:
                webbrowser.open(server.url)
            server.serve_forever()
        return
    target = out or log.with_suffix(".html")
    if target.resolve() == log.resolve():
        raise ValueError(f"{log} is the log itself; give another file for the page with --out")
    write(log, target, log.stem, film, strict=strict)
    hint = "" if browse or target.suffix != ".html" else "   (open it in a browser, or add --browse)"
    Console().say(f"written: {target}{hint}")
    if browse:
        webbrowser.open(target.resolve().as_uri())


PHH = (".phh", ".phhs")
"""Hand histories by the ending of their file."""
PAGE = FilmArguments()


def write(log: Path, out: Path, title: str, film: FilmArguments = PAGE, *, strict: bool = False) -> None:
    """Write a log to `out` as a page (``.html``) or as a film of one view (``.gif``, ``.mp4``).

    Hands of a hand history that cannot be read are left out, and counted on the standard error; with `strict` the first
    is an error.

    Raises:
        ValueError: for another file name extension, or a log that cannot be replayed.
    """
    check_out(out)
    if not out.parent.is_dir():
        out.parent.mkdir(parents=True)
        STDERR.say(f"new folder: {out.parent}")
    hands = _hand_file(log, strict=strict)
    steps = moments(log) if hands is None else hands.moments()
    if out.suffix == ".html":
        out.write_text(page(steps, title, str if hands is None else hands.summary, provenance()), "utf-8")
    else:
        write_film(steps, out, film.view, film.fps)
    if hands is not None and hands.left_out:
        STDERR.say("\n".join([hands.summary(), *hands.problems.values()]))


def _hand_file(log: Path, *, strict: bool) -> "HandFile | None":
    """Return a file of hand histories; None for a log of ours.

    Raises:
        ValueError: if it is neither.
    """
    is_phh = log.suffix.lower() in PHH
    with opened(log) as file:
        if not is_phh and file.read(64).removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b""):
            return None
    from ...wrappers.replay import phh  # PokerKit, which not everybody has

    if not is_phh and not phh.is_site_text(log):
        raise ValueError(
            f"{log} is neither a match log (JSON Lines) nor a hand history that is read: PHH (.phh, .phhs), or a text "
            "of PokerStars, Full Tilt, PartyPoker, iPoker, Ongame or Absolute Poker"
        )
    return phh.HandFile(log, strict=strict)


def check_out(out: Path) -> None:
    """Raise ValueError for a file name that is neither a page nor a film."""
    if out.suffix not in (".html", ".gif", ".mp4"):
        raise ValueError(f"{out}: write to a .html, .gif or .mp4")
