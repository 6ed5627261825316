"""`parlour play`: a match in the terminal, to watch or to play."""

from ...wrappers.logs.match_log import opened
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from .arguments import AgentsArguments, GameArguments, SessionArguments, ShownMatchArguments
from .matches import check, finish, seated

THREE_HANDS = ShownMatchArguments(hands=3)


def command(
    *,
    game: GameArguments,
    players: AgentsArguments,
    match: ShownMatchArguments = THREE_HANDS,
    session: SessionArguments,
) -> None:
    """Watch a match in the terminal with all cards open, or play in it and see only your own cards."""
    chosen, agents = seated(game, players, session.seed)
    check(match.hands, match.delay)
    console = Console()
    with opened(session.log) as file:
        shown = TerminalMatch(chosen, agents, players.agents, console, match.delay, file)
        finish(shown, match.hands, session.seed)
    console.print(shown.table())
