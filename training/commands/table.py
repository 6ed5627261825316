"""`parlour table`: a page where people play against policies and bots."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, gethostname, socket
from typing import Any
from urllib.parse import quote

from rich.console import Console

from ...wrappers.agents.base import Agent
from ...wrappers.agents.delayed import DelayedAgent
from ...wrappers.live.table.host import TableHost
from ...wrappers.logs.match_log import opened
from ..games import specifics
from ..learning.settings import pair
from ..stopping import until_done
from .arguments import AgentsArguments, GameArguments, SessionArguments, TlsServerArguments
from .lookup import HUMAN, agent, game_with, has_seats, names_seats, warn_about_differences

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
    session: SessionArguments,
) -> None:
    """Serve a page where people play in the browser and others can watch, until Ctrl-C or SIGTERM.

    Seats without an agent are for people. If there is an access token, it is part of the printed link.

    Args:
        seats: Number of seats. Default: one per agent, and one for a person if no agent is named.
        names: Further host names under which browsers reach this server, such as a proxy's.
        timeout: Seconds for a turn; then the safe action is played.
        delay: The least time of policies and bots for an answer, in seconds.
        hands: Number of hands after which a poker table ends and a new one opens. Default: no limit.
    """
    if delay < 0 or timeout <= 0:
        raise ValueError(f"timeout={timeout:g}, delay={delay:g}: need some seconds for a turn, and a delay from 0 up")
    chosen = game_with(game.game, game.options, seats=_seats(game, players.agents, seats))
    specs = [*players.agents, *[HUMAN] * (chosen.seats - len(players.agents))]
    seeds = [None if session.seed is None else session.seed + 1 + seat for seat in range(len(specs))]
    model = players.language_model(timeout)
    agents = [
        None if spec == HUMAN else agent(spec, chosen, one, model) for spec, one in zip(specs, seeds, strict=True)
    ]
    warn_about_differences(zip(specs, agents, strict=True), chosen)
    seated = [None if one is None else DelayedAgent(one, delay) for one in agents]
    common: dict[str, Any] = {
        "timeout": timeout,
        "seed": session.seed,
        "address": server.address,
        "port": server.port,
        "names": names,
        "access_token": server.token,
    }
    with opened(session.log) as file:
        special = specifics(chosen.name).table
        if special is None:
            table = TableHost(chosen, _named(specs, seated), log=file, **common)
        else:
            given = dict(map(pair, game.options))
            table = special(chosen, given, _named(specs, seated), hands=hands, log=file, **common)
        table.tls = server.tls
        until_done(_serve(table, server.token, Console(highlight=False)))


def _seats(game: GameArguments, agents: Sequence[str], seats: int | None) -> int | None:
    """Return the number of seats; None: that of the game or its options."""
    if not has_seats(game.game) or (seats is None and names_seats(game.options)):
        return seats
    return seats or max(2, len(agents) + (HUMAN not in agents))


def _named(specs: Sequence[str], players: Sequence[Agent | None]) -> list[tuple[str, Agent] | None]:
    """Return the programs with different names."""
    taken: set[str] = set()
    named: list[tuple[str, Agent] | None] = []
    for spec, player in zip(specs, players, strict=True):
        name = label = Path(spec).stem[:28] or spec[:28]
        count = 1
        while name in taken:
            count += 1
            name = f"{label} {count}"
        named.append(None if player is None else (name, player))
        if player is not None:
            taken.add(name)
    return named


async def _serve(table: Any, access_token: str | None, console: Console) -> None:
    async with table:
        key = "" if access_token is None else f"#{quote(access_token, safe='')}"
        console.print(f"play at {_link(table.url)}/{key}   (Ctrl-C ends it)", markup=False, soft_wrap=True)
        await asyncio.Event().wait()


def _link(url: str) -> str:
    """Return the URL with this machine's own address in place of 0.0.0.0 or ::."""
    every = next((one for one in ("//0.0.0.0:", "//[::]:") if one in url), None)
    if every is None:
        return url
    with socket(AF_INET, SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # UDP connect sends nothing; it only selects the local address
            own = way.getsockname()[0]
        except OSError:  # no network
            own = gethostname()
    return url.replace(every, f"//{own}:")
