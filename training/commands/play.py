"""`parlour play`: a match in the terminal, to watch or to play; also as a film or a page."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cyclopts.types import PositiveInt
from rich.live import Live

from ...envs import GameEnv, how_to_play
from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import MatchLog, opened
from ..parallel.tasks import interruptible
from ..runs.config import preset_options
from ..terminal.console import STDERR, Console
from ..terminal.match import QUESTION, Screen, TerminalMatch, hidden_typing, rules_of
from . import lookup
from .arguments import FilmArguments, GameArguments, Pause, PlayersArguments, SessionArguments
from .replay import check_out, write

COLUMNS = 80
"""The least columns of a terminal for one screen."""
AROUND = 8
"""The least lines there around the table: its frame, the latest action and the results."""


def command(
    game: GameArguments,
    *,
    players: PlayersArguments,
    matches: PositiveInt | None = None,
    delay: Pause = 0.5,
    screen: bool = False,
    plain: bool = False,
    out: Path | None = None,
    film: FilmArguments,
    session: SessionArguments,
) -> None:
    """Play in the terminal, and see only your own cards; or, with --agents, watch a match with all cards open.

    Args:
        matches: Number of hands in poker, of games in all else. Default: 3; 10 with --screen; 1 with
            --out.
        delay: Pause after every action, in seconds.
        screen: Watch on one screen, redrawn after every action. Ctrl-C ends it.
        plain: Print the table anew after every action, as in a pipe. Default: you play on one screen if the terminal is
            large enough.
        out: Write the match to this file: .gif, .mp4, or .html (a page with every view, which needs no network).
    """
    if screen and out is not None:
        raise ValueError("--screen or --out: choose one")
    count = matches if matches is not None else 1 if out is not None else 10 if screen else 3
    if out is not None:
        check_out(out)
    alone = not players.agents
    players = _with_you(game, players) if alone else players
    seats = len(players.agents) if lookup.has_seats(game.game) else None
    chosen = lookup.game_with(game.game, game.options, seats=seats)
    agents = lookup.seated(players, chosen, session.seed)
    people = any(isinstance(one, HumanAgent) for one in agents)
    headed = how_to_play(chosen, fields=False).lstrip().startswith("#")
    aim = (": " if headed else " ").join(rules_of(chosen).strip().split("\n\n")[:2])  # its name, and a sentence or two
    opening = [" ".join([*aim.split(), *([f"Options: {', '.join(game.options)}."] if game.options else [])])]
    if alone and chosen.seats > 1:
        others = chosen.agents[1] if chosen.seats == 2 else "the others"
        opening.append(f"You are {chosen.agents[0]}; {players.agents[1]} plays {others}. Type rules to read the rules.")
    match = TerminalMatch(chosen, agents, players.agents, Console(), delay, opening=opening)
    if screen and people and not _has_room(match):
        raise ValueError("this terminal has no room to play on one screen: leave --screen out, or use parlour table")
    if screen and not people:
        with (
            _alone_on_screen(),
            opened(session.log) as match.log,
            Live(console=match.console, auto_refresh=False) as live,
        ):
            match.show = Screen(match, live).show
            _finish(match, count, session.seed)
    elif out is not None:
        match = replace(match, console=Console(quiet=not people), delay=0.0)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "match.jsonl"
            with MatchLog(file) as match.log:
                _finish(match, count, session.seed)
            if session.log is not None:
                session.log.parent.mkdir(parents=True, exist_ok=True)
                with session.log.open("ab") as kept:
                    kept.write(file.read_bytes())
            write(file, out, f"{match.game.id}: {', '.join(match.names)}", film)
        Console().say(f"written: {out}")
    else:
        drawn = None if plain or not people or not _has_room(match) else Screen(match, None)
        with ExitStack() as stack:
            if drawn is not None:
                match.show = drawn.show
                stack.enter_context(_alone_on_screen())
            stack.enter_context(interruptible())  # where a signal ends the match, too, what is typed is shown again
            match.log = stack.enter_context(opened(session.log))
            asking = stack.enter_context(hidden_typing())
            for person in (one for one in agents if isinstance(one, HumanAgent)):
                person.asking, person.hears_all = asking, drawn is None
                person.redraw = None if drawn is None else drawn.draw
            try:
                _finish(match, count, session.seed)
            except KeyboardInterrupt:
                if match.eyes is None:
                    raise
                match.console.print()
        match.console.print(match.table() if match.eyes is None else match.result(match.eyes))


@contextmanager
def _alone_on_screen() -> Iterator[None]:
    """Show no progress on stderr: it would stand in the table."""
    STDERR.quiet = True
    try:
        yield
    finally:
        STDERR.quiet = False


def _has_room(match: TerminalMatch) -> bool:
    """Tell whether a person can play on one screen: the terminal holds the table, the question, and some more."""
    console, env = match.console, GameEnv(match.game)
    if not (console.is_terminal and sys.stdin.isatty()):
        return False
    env.reset(seed=0)
    lines = match.text(env.table).count("\n")
    return console.width >= COLUMNS and console.height >= lines + QUESTION + AROUND


def _with_you(game: GameArguments, players: PlayersArguments) -> PlayersArguments:
    """Return the players of a match without named ones: a person, and the zoo's policy or a bot in all other seats."""
    open_seats = lookup.has_seats(game.game) and not lookup.names_seats(game.options)
    seats = preset_options(game.game).get("seats") if open_seats else None
    chosen = lookup.game_with(game.game, game.options, seats=seats)
    rival = next(iter((*lookup.of_the_zoo(chosen), *lookup.rivals(chosen))))
    return replace(players, agents=(lookup.HUMAN, *[rival] * (chosen.seats - 1)))


def _finish(match: TerminalMatch, matches: int, seed: int | None) -> None:
    """Play the match to its end; then, or where it is stopped, tell what the answers of language models came to.

    Raises:
        ValueError: if a person's input ends before the match.
    """
    try:
        match.play(matches, seed)
    except EOFError:
        raise ValueError("the input ended before the match") from None
    finally:
        if (models := match.models()) is not None:
            (Console() if match.console.quiet else match.console).print(models)
