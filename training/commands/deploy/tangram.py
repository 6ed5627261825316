"""`parlour deploy tangram`: serves a policy, a bot or a language model to live tangram games."""

import sys
from pathlib import Path

from ....envs.tangram.completion import useful_moves
from ....envs.tangram.figure_sets import own_figures
from ....wrappers.agents.policy import PolicyAgent
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.tangram.agent import TangramAgentServer
from ...terminal.console import Console
from ..arguments import AddressArguments, LiveArguments, PlayerName, PromptArguments, SessionArguments
from ..live_table import counts_of
from ..lookup import agent, game_with, warn_about_differences
from ..searching import searching_agent
from ..supervisor import Supervisor

PORT = AddressArguments(port=5000)


def command(
    run: PlayerName,
    *,
    listening: AddressArguments = PORT,
    options: tuple[str, ...] = (),
    deadline: float = 10.0,
    search: bool = False,
    matches: int | None = None,
    asked: PromptArguments,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Serve a policy, a bot or a language model to live tangram games, which connect to it by WebSocket.

    Args:
        options: Options of the game that a policy file was trained for, as name=value, if the file does not have them.
            figure=FILE and flip=true give figures of your own, which objectives may name, to every policy.
        deadline: Seconds for a decision; then the turn is finished.
        search: Plan before acting: a beam search guided by the policy, for at most half of the deadline.
        matches: Number of games (connections) after which the command ends. Default: until Ctrl-C.
    """
    game = game_with("tangram", options, seats=2, aspect="godot")
    player = agent(run, game, session.seed, asked.language_model([run], deadline), asked.prompting())
    warn_about_differences([(run, player)], game)
    if isinstance(player, PolicyAgent) and player.game.options["aspect"] != game.options["aspect"]:
        print(f"{run} plays better after: parlour train --for tangram-collaborative-ai", file=sys.stderr)
    if search:
        player = searching_agent(run, player, session.seed)
    seen = player.game if isinstance(player, PolicyAgent) else game
    if own_figures(game.options):
        seen = game_with("tangram", (), **{**seen.options, **{name: game.options[name] for name in ("figure", "flip")}})
    console = Console()
    with Supervisor(live, session, console) as supervisor:
        server = TangramAgentServer(
            player,
            seen,
            server=listening.settings,
            deadline=deadline,
            useful=useful_moves,
            log=supervisor.log,
        )
        turns = server.statistics
        activity = Activity(counts=lambda: _counts(server), statistics=turns, models=counts_of(run, player, turns))
        supervisor.run(_serve(server, Path(run).stem, matches, console), activity)


def _counts(server: TangramAgentServer) -> dict[str, float]:
    return {"matches": server.games, "turns": server.turns, "connections": server.connections}


async def _serve(server: TangramAgentServer, name: str, matches: int | None, console: Console) -> None:
    async with server:
        console.print(f"{name} waits for games at {server.url} (Ctrl-C ends it)", markup=False, soft_wrap=True)
        console.print(f"try it with: parlour host tangram --url {server.url}", markup=False, soft_wrap=True)
        await server.played(matches)
    console.print(f"{server.plays} plays, {server.helped} of them in the policy's place")
