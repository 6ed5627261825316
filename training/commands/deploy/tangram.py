"""`parlour deploy tangram`: serves a policy or a bot to live tangram games."""

import logging
from pathlib import Path

from rich.console import Console

from ....envs.tangram.completion import useful_moves
from ....wrappers.agents.policy import PolicyAgent
from ....wrappers.live.tangram.agent import TangramAgentServer
from ....wrappers.logs.match_log import opened
from ...stopping import until_done
from ..arguments import AddressArguments, PolicyName, SessionArguments
from ..lookup import agent, game_with, warn_about_differences

PORT = AddressArguments(port=5000)


def command(
    *,
    run: PolicyName,
    listening: AddressArguments = PORT,
    options: tuple[str, ...] = (),
    deadline: float = 10.0,
    games: int | None = None,
    session: SessionArguments,
) -> None:
    """Serve a policy or a bot to live tangram games, which connect to it by WebSocket.

    Args:
        options: Options of the game that a policy file was trained for, as name=value, if the file does not have them.
        deadline: Seconds for a decision; then the turn is finished.
        games: Number of connections after which the command ends. Default: until Ctrl-C.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    game = game_with("tangram", options, seats=2, aspect="godot")
    player = agent(run, game, session.seed)
    warn_about_differences([(run, player)], game)
    seen = player.game if isinstance(player, PolicyAgent) else game
    with opened(session.log) as match_log:
        server = TangramAgentServer(
            player,
            seen,
            address=listening.address,
            port=listening.port,
            deadline=deadline,
            useful=useful_moves,
            log=match_log,
        )
        until_done(_serve(server, Path(run).stem, games, Console(highlight=False)))


async def _serve(server: TangramAgentServer, name: str, games: int | None, console: Console) -> None:
    async with server:
        console.print(f"{name} waits for games at {server.url}; Ctrl-C ends it", markup=False)
        console.print(f"try it with: parlour host tangram --url {server.url}", markup=False)
        await server.played(games)
    console.print(
        f"{server.games} games, {server.turns} turns, {server.plays} plays ({server.helped} in the policy's place), "
        f"{server.statistics.replaced} replaced by finish"
    )
