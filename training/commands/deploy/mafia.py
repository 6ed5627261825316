"""`parlour deploy mafia`: serves agents over WebSocket to mafia hosts."""

import asyncio
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ....wrappers.agents.model_calls import ModelStatistics
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.mafia.agent import MafiaAgentServer
from ....wrappers.live.mafia.agent_policy import AgentPolicy
from ....wrappers.live.mafia.llm_agent import MafiaLLMAgent, load_prompts
from ...terminal.console import Console
from ..arguments import AccessArguments, AddressArguments, LiveArguments, ModelArguments, SessionArguments
from ..lookup import game_with, trained_for
from ..mafia_agents import maker
from ..supervisor import Supervisor

PORT = AddressArguments(port=3010)


def command(
    run: Annotated[str, Parameter(name="RUN")],
    *,
    language_model: ModelArguments,
    players: int | None = None,
    listening: AddressArguments = PORT,
    deadline: float = 25.0,
    access: AccessArguments,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Serve agents over WebSocket to mafia hosts, until Ctrl-C.

    Args:
        run: A run folder or its name below runs/, a saved policy (.npz, .zip), a bot, a personality (aggressive,
            cautious, analytical, social), llm (the language model of --model), or llm:PERSONA.
        players: Number of players that a policy file was trained for, if the file does not have it. Default: 10.
        deadline: Seconds for a call; then a stream is cut off, and the safe action replaces a choice.
    """
    console = Console()
    trained = trained_for(run) if players is None else None  # whoever hosts the matches tells the number of players
    game = game_with("mafia", seats=players)
    if trained is not None and trained.name == game.name:
        game = trained.make_game()
    model, prompts = language_model.language_model([run], deadline), load_prompts(language_model.prompts)
    make = maker(run, game, model, session.seed, players, prompts)
    models: dict[str, ModelStatistics] = {}

    def watched(agent_id: str, name: str) -> AgentPolicy:
        agent = make(agent_id, name)
        if isinstance(agent, MafiaLLMAgent):  # all agents together: the ids are the hosts', as many as they like
            agent.statistics = models.setdefault(agent.model.name, agent.statistics)
        return agent

    with Supervisor(live, session, console) as supervisor:
        server = MafiaAgentServer(
            watched,
            server=replace(listening.settings, access_token=access.token),
            deadline=deadline,
            seed=session.seed,
            log=supervisor.log,
        )
        activity = Activity(
            counts=lambda: {"connections": server.connections},
            statistics=server.statistics,
            models=lambda: models,
        )
        supervisor.run(_serve(server, run, console), activity)


async def _serve(server: MafiaAgentServer, run: str, console: Console) -> None:
    async with server:
        console.print(f"{run} plays mafia at {server.url} (Ctrl-C ends it)", markup=False, soft_wrap=True)
        await asyncio.Event().wait()
