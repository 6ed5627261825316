"""`parlour deploy arena`: a policy, a bot or a language model on TurnState arenas, which call it, or which it polls."""

from pathlib import Path

from ....envs import GAMES, Game
from ....wrappers.agents.base import Agent
from ....wrappers.agents.llm import LLMAgent
from ....wrappers.live.arena.agent import ArenaAgent
from ....wrappers.live.arena.polling_agent import ArenaPollingAgent, PollingTimes
from ....wrappers.live.arena.push_agent import ArenaAgentServer
from ....wrappers.live.common.activity import Activity
from ...terminal.console import Console
from ..arguments import (
    AccessArguments,
    AddressArguments,
    LiveArguments,
    PlayerArguments,
    PromptArguments,
    SessionArguments,
)
from ..live_table import counts_of, watch_table
from ..lookup import LLM, agent, bots_of, game_of, warn_about_differences
from ..supervisor import Supervisor

PORT = AddressArguments(port=8100)


def command(
    deployed: PlayerArguments,
    *,
    name: str | None = None,
    arena: str | None = None,
    sessions: int = 0,
    invites: tuple[str, ...] = (),
    poll: float = 0.5,
    claim_token: str | None = None,
    endpoint: str | None = None,
    listening: AddressArguments = PORT,
    deadline: float = 24.0,
    access: AccessArguments,
    matches: int | None = None,
    asked: PromptArguments,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Play on TurnState arenas: serve POST /act, /match_start, /match_end, or poll sessions.

    Args:
        name: The agent's id. Default: the run's or bot's.
        arena: URL of the arena to register at, http://…. Default: none; register by hand.
        sessions: Number of sessions to play at the same time, by polling. Default: none; the arena calls the agent.
        invites: Codes of sessions to join first, before open sessions and new ones.
        poll: Seconds between two requests for a running session.
        claim_token: The token that the arena gave for the name at its first use. Default: the environment's
            PARLOUR_CLAIM_TOKEN, else none.
        endpoint: URL under which the arena reaches this agent. Default: the address of the server.
        deadline: Seconds for a decision; then the safe action is played. Arenas allow 30, and 60 in sessions.
        matches: Number of matches after which the command ends. Default: until Ctrl-C.
    """
    if sessions and arena is None:
        raise ValueError(f"sessions={sessions}: name the arena with --arena http://…")
    if invites and not sessions:
        raise ValueError("--invites needs --sessions")
    run, console = deployed.run, Console()
    chosen = _game(deployed)
    model, prompting = asked.language_model([run], deadline), asked.prompting()

    def make() -> Agent:
        one = agent(run, chosen, session.seed, model, prompting)
        watch_table(run, one)
        return one

    def for_match() -> Agent:
        """Return a language model for one match, with a memory of its own."""
        one = make()
        if isinstance(one, LLMAgent) and isinstance(playing, LLMAgent):
            one.statistics = playing.statistics
        return one

    playing = make()
    player = ArenaAgent(name or Path(run).stem, playing, for_match=for_match if run == LLM else None)
    models = counts_of(run, playing, player.statistics)
    warn_about_differences([(run, playing)], chosen)
    with Supervisor(live, session, console) as supervisor:
        if arena is not None and sessions:
            polling = ArenaPollingAgent(
                player,
                arena,
                seats=chosen.seats,
                access_token=access.token,
                times=PollingTimes(decision=deadline, running=poll),
                log=supervisor.log,
            )
            polling.claim_token = claim_token
            activity = Activity(
                counts=lambda: {"matches": polling.matches, "lost": polling.lost, "turns": polling.turns},
                statistics=player.statistics,
                models=models,
                link=polling.link,
                patience=live.unhealthy_after,
            )
            supervisor.run(_poll(polling, sessions, matches, invites, console), activity)
            return
        server = ArenaAgentServer(
            player,
            server=listening.settings,
            deadline=deadline,
            endpoint=endpoint,
            log=supervisor.log,
        )
        activity = Activity(
            counts=lambda: {"matches": server.matches, "turns": server.turns},
            statistics=player.statistics,
            models=models,
        )
        supervisor.run(_serve(server, arena, access.token, matches, console), activity)


def _game(deployed: PlayerArguments) -> Game:
    """Return the game.

    Raises:
        ValueError: for a bot that several games have, where none is named.
    """
    if deployed.game is None:
        games = [name for name in GAMES if deployed.run in bots_of(name)]
        if len(games) > 1:
            raise ValueError(f"{deployed.run} plays {', '.join(games)}: name the game with --game")
    return game_of(deployed.run, deployed.game, deployed.options, deployed.seats)


async def _poll(
    player: ArenaPollingAgent, sessions: int, matches: int | None, invites: tuple[str, ...], console: Console
) -> None:
    given = player.claim_token
    try:
        async with player:
            await player.register()
            console.print(
                f"{player.agent.agent_id} plays in {sessions} sessions at once (Ctrl-C ends it)", markup=False
            )
            await player.play(sessions, matches, invites)
    finally:
        if player.claim_token != given:
            console.print(
                f"the arena's token for the name, for PARLOUR_CLAIM_TOKEN: {player.claim_token}", markup=False
            )


async def _serve(
    server: ArenaAgentServer, arena: str | None, access_token: str | None, matches: int | None, console: Console
) -> None:
    async with server:
        console.print(
            f"{server.agent.agent_id} answers at {server.endpoint} (Ctrl-C ends it)", markup=False, soft_wrap=True
        )
        if arena is not None:
            await server.register(arena, access_token)
            console.print(f"registered at {arena}", markup=False, soft_wrap=True)
        await server.played(matches)
