"""`parlour watch`: a match on one screen of the terminal, redrawn after every action."""

from rich.live import Live

from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import opened
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from ..terminal.screen import Screen
from .arguments import AgentsArguments, GameArguments, SessionArguments, ShownMatchArguments
from .matches import check, finish, seated

TEN_MATCHES = ShownMatchArguments(matches=10)


def command(
    *,
    game: GameArguments,
    players: AgentsArguments,
    match: ShownMatchArguments = TEN_MATCHES,
    session: SessionArguments,
) -> None:
    """Watch a match on one screen of the terminal, with all cards open. Ctrl-C ends it."""
    check(match.matches, match.delay)
    chosen, agents = seated(game, players, session.seed)
    if any(isinstance(one, HumanAgent) for one in agents):
        raise ValueError("watch has no seat for a person; use parlour play, or parlour table in the browser")
    console = Console()
    with opened(session.log) as file, Live(console=console, auto_refresh=False) as live:
        shown = TerminalMatch(chosen, agents, players.agents, console, match.delay, file)
        shown.show = Screen(shown, live).show
        finish(shown, match.matches, session.seed)
