"""`parlour play`: a match in the terminal, to watch or to play; also as a film or a page."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.live import Live

from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import MatchLog, opened
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from ..terminal.screen import Screen
from .arguments import FilmArguments, GameArguments, PlayersArguments, SessionArguments
from .matches import check, finish, seated, with_you
from .replay import check_out, write

FIRST = ("agents", "options", "matches", "screen", "out", "delay", "seed", "log", "view", "model")
YOU = PlayersArguments()


def command(
    *,
    game: GameArguments,
    players: PlayersArguments = YOU,
    matches: int | None = None,
    delay: float = 0.5,
    screen: bool = False,
    out: Path | None = None,
    film: FilmArguments,
    session: SessionArguments,
) -> None:
    """Play in the terminal, and see only your own cards; or, with --agents, watch a match with all cards open.

    Args:
        matches: Number of matches: of hands in poker, of episodes in other games. Default: 3; 10 with --screen; 1 with
            --out.
        delay: Pause after every action, in seconds.
        screen: Watch on one screen, redrawn after every action. Ctrl-C ends it.
        out: Write the match to this file: .gif, .mp4, or .html (a page with every view, which needs no network).
    """
    if screen and out is not None:
        raise ValueError("--screen or --out: choose one")
    count = matches if matches is not None else 1 if out is not None else 10 if screen else 3
    check(count, delay)
    if out is not None:
        check_out(out)
    players = players if players.agents else with_you(game, players)
    chosen, agents = seated(game, players, session.seed)
    people = any(isinstance(one, HumanAgent) for one in agents)
    if screen and people:
        raise ValueError("one screen has no seat for a person: leave --screen out, or use parlour table in the browser")
    match = TerminalMatch(chosen, agents, players.agents, Console(), delay)
    if screen:
        with opened(session.log) as match.log, Live(console=match.console, auto_refresh=False) as live:
            match.show = Screen(match, live).show
            finish(match, count, session.seed)
    elif out is not None:
        quiet = replace(match, console=Console(quiet=not people), delay=0.0)
        _record(quiet, out, film, count, session)
    else:
        with opened(session.log) as match.log:
            finish(match, count, session.seed)
        match.console.print(match.table())


def _record(match: TerminalMatch, out: Path, film: FilmArguments, count: int, session: SessionArguments) -> None:
    """Play the match and write it as a film or a page."""
    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory())) / "match.jsonl"
        with MatchLog(file) as match.log:
            finish(match, count, session.seed)
        if session.log is not None:
            session.log.parent.mkdir(parents=True, exist_ok=True)
            with session.log.open("ab") as kept:
                kept.write(file.read_bytes())
        write(file, out, f"{match.game.id}: {', '.join(match.names)}", film)
    Console().print(f"written: {out}", markup=False, soft_wrap=True)
