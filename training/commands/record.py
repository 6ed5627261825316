"""`parlour record`: records a match as a film or as a page to step through."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import MatchLog
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from .arguments import AgentsArguments, FilmArguments, GameArguments, MatchArguments, SessionArguments
from .matches import check, finish, seated
from .replay import check_out, write


def command(
    *,
    game: GameArguments,
    players: AgentsArguments,
    out: Path,
    match: MatchArguments,
    film: FilmArguments,
    session: SessionArguments,
) -> None:
    """Play a match and write it as a film or a page.

    Args:
        out: File to write: .gif, .mp4, or .html (a page with every view, which needs no network).
    """
    check(match.matches, 0)
    check_out(out)
    chosen, agents = seated(game, players, session.seed)
    console = Console(quiet=not any(isinstance(one, HumanAgent) for one in agents))
    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory())) / "match.jsonl"
        with MatchLog(file) as moves:
            finish(TerminalMatch(chosen, agents, players.agents, console, 0.0, moves), match.matches, session.seed)
        if session.log is not None:
            session.log.parent.mkdir(parents=True, exist_ok=True)
            with session.log.open("ab") as kept:
                kept.write(file.read_bytes())
        write(file, out, f"{chosen.id}: {', '.join(players.agents)}", film)
    Console().print(f"written: {out}", markup=False, soft_wrap=True)
