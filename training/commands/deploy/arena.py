"""`parlour deploy arena`: serves a policy or a bot over HTTP to TurnState arenas."""

import logging
from pathlib import Path

from rich.console import Console

from ....wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from ....wrappers.logs.match_log import opened
from ...stopping import until_done
from ..arguments import AccessArguments, AddressArguments, PolicyArguments, SessionArguments
from ..lookup import agent, game_of, warn_about_differences

PORT = AddressArguments(port=8100)


def command(
    *,
    deployed: PolicyArguments,
    name: str | None = None,
    arena: str | None = None,
    endpoint: str | None = None,
    listening: AddressArguments = PORT,
    deadline: float = 24.0,
    access: AccessArguments,
    matches: int | None = None,
    session: SessionArguments,
) -> None:
    """Serve a policy or a bot to TurnState arenas over HTTP: POST /act, /match_start, /match_end.

    Args:
        name: The agent's id. Default: the run's or bot's.
        arena: URL of the arena to register at, http://…. Default: none; register by hand.
        endpoint: URL under which the arena reaches this agent. Default: the address of the server.
        deadline: Seconds for a decision; then the safe action is played. Arenas allow 30.
        matches: Number of matches after which the command ends. Default: until Ctrl-C.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    run = deployed.run
    chosen = game_of(run, deployed.game, deployed.options, deployed.seats)
    player = ArenaAgent(name or Path(run).stem, agent(run, chosen, session.seed))
    warn_about_differences([(run, player.agent)], chosen)
    with opened(session.log) as book:
        server = ArenaAgentServer(
            player, address=listening.address, port=listening.port, deadline=deadline, endpoint=endpoint, log=book
        )
        until_done(_serve(server, arena, access.token, matches, Console(highlight=False)))


async def _serve(
    server: ArenaAgentServer, arena: str | None, access_token: str | None, matches: int | None, console: Console
) -> None:
    try:
        async with server:
            console.print(f"{server.agent.agent_id} answers at {server.endpoint}; Ctrl-C ends it", markup=False)
            if arena is not None:
                await server.register(arena, access_token)
                console.print(f"registered at {arena}", markup=False)
            await server.played(matches)
    finally:
        console.print(
            f"{server.matches} matches, {server.turns} turns, "
            f"{server.agent.statistics.replaced} replaced by the safe action"
        )
