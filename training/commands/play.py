"""`parlour play`: a match in the terminal, to watch or to play."""

from ...wrappers.logs.match_log import opened
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from .arguments import GameArguments, PlayersArguments, SessionArguments, ShownMatchArguments
from .matches import check, finish, seated, with_you

YOU = PlayersArguments()
THREE_MATCHES = ShownMatchArguments(matches=3)


def command(
    *,
    game: GameArguments,
    players: PlayersArguments = YOU,
    match: ShownMatchArguments = THREE_MATCHES,
    session: SessionArguments,
) -> None:
    """Play in the terminal, and see only your own cards; or, with --agents, watch a match with all cards open."""
    players = players if players.agents else with_you(game, players)
    chosen, agents = seated(game, players, session.seed)
    check(match.matches, match.delay)
    console = Console()
    with opened(session.log) as file:
        shown = TerminalMatch(chosen, agents, players.agents, console, match.delay, file)
        finish(shown, match.matches, session.seed)
    console.print(shown.table())
