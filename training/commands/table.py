"""`parlour table`: a page where people play against policies and bots."""

import sys
from collections.abc import Sequence

from ...wrappers.logs.match_log import opened
from .arguments import AgentsArguments, GameArguments, SessionArguments, TlsServerArguments
from .browser_tables import browser_table, serve
from .lookup import HUMAN, game_with, has_seats, names_seats, of_the_zoo
from .stopping import until_done

NOBODY = AgentsArguments(agents=())
PORT = TlsServerArguments(port=8000)


def command(
    *,
    game: GameArguments,
    players: AgentsArguments = NOBODY,
    seats: int | None = None,
    server: TlsServerArguments = PORT,
    names: tuple[str, ...] = (),
    timeout: float = 60.0,
    delay: float = 1.0,
    hands: int | None = None,
    rebuy: bool = False,
    session: SessionArguments,
) -> None:
    """Serve a page where people play in the browser and others can watch, until Ctrl-C or SIGTERM.

    Seats without an agent are for people; zoo:GAME, such as zoo:holdem, is a strong opponent. If there is an access
    token, it is part of the printed link.

    Args:
        seats: Number of seats. Default: one per agent, and one for a person if no agent is named.
        names: Further host names under which browsers reach this server, such as a proxy's.
        timeout: Seconds for a turn; then the safe action is played.
        delay: The least time of policies and bots for an answer, in seconds.
        rebuy: Whether a poker player without chips gets a new stack before the next hand.
        hands: Number of hands after which a poker table ends and a new one opens. Default: no limit.
    """
    if delay < 0 or timeout <= 0:
        raise ValueError(f"timeout={timeout:g}, delay={delay:g}: need some seconds for a turn, and a delay from 0 up")
    chosen = game_with(game.game, game.options, seats=_seats(game, players.agents, seats))
    specs = [*players.agents, *[HUMAN] * (chosen.seats - len(players.agents))]
    with opened(session.log) as file:
        table = browser_table(
            chosen,
            specs,
            settings=game.options,
            seed=session.seed,
            model=players.language_model(timeout),
            delay=delay,
            hands=hands,
            rebuy=rebuy,
            log=file,
            timeout=timeout,
            address=server.address,
            port=server.port,
            names=names,
            access_token=server.token,
        )
        if not players.agents and (strong := of_the_zoo(chosen)):
            print(f"a strong opponent: --agents {strong[0]}", file=sys.stderr)
        table.tls = server.tls
        until_done(serve(table, server.token, "play"))


def _seats(game: GameArguments, agents: Sequence[str], seats: int | None) -> int | None:
    """Return the number of seats; None: that of the game or its options."""
    if not has_seats(game.game) or (seats is None and names_seats(game.options)):
        return seats
    return seats or max(2, len(agents) + (HUMAN not in agents))
