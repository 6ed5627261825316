"""Finds the mafia agents that command lines name: personalities, language models, runs, policy files, bots."""

from collections.abc import Callable
from itertools import count, cycle

from ...envs import Game
from ...envs.core.options import named
from ...envs.mafia.bots import PERSONALITIES
from ...wrappers.agents.language_model import Model
from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.live.common.player import Worker
from ...wrappers.live.mafia.agent_policy import AgentPolicy
from ...wrappers.live.mafia.llm_agent import MafiaLLMAgent, Prompts, load_prompts
from ...wrappers.live.mafia.local_agents import MafiaPolicyAgent, MafiaScriptedAgent
from ...wrappers.live.mafia.messages import AgentConfig, Personality, ScriptedConfig
from ...wrappers.policies.loading import policy_file
from ..learning import run_folder
from .lookup import LLM, agent, needed, warn_about_differences

MakeAgent = Callable[[str, str], AgentPolicy]
"""A function from id and name to an agent."""


def maker(
    spec: str,
    game: Game,
    model: Model | None,
    seed: int | None,
    seats: int | None = None,
    prompts: Prompts | None = None,
) -> MakeAgent:
    """Return a function that makes agents as `spec` names them, with different seeds. Saved policies run in a thread.

    Args:
        spec: a personality, ``llm`` or ``llm:PERSONA``, a bot, a run or a policy file.
        game: mafia with its options.
        model: the language model of ``llm``.
        seed: seed of the agents' choices and texts; None: a random one.
        seats: number of players of the matches; None: unknown.
        prompts: the prompts of language models; None: Parlour's own prompts.

    Raises:
        ValueError: if `spec` is unknown, or cannot play the game.
    """
    numbers = count()

    def own() -> int | None:
        number = next(numbers)
        return None if seed is None else seed * 1_000_003 + number

    if spec in PERSONALITIES:
        personality: Personality = spec  # type: ignore[assignment]
        config = AgentConfig(type="scripted", scripted_config=ScriptedConfig(personality=personality))
        return lambda agent_id, name: MafiaScriptedAgent(agent_id, name, config, seed=own())
    if spec.partition(":")[0] == LLM:
        return _language_model_maker(needed(model), prompts or load_prompts(), spec.partition(":")[2], own)
    bots = ["random", *game.bots]
    if spec not in bots and run_folder.existing(spec) is None and not policy_file(spec).exists():
        named("agent, run or policy file", spec, sorted({*PERSONALITIES, LLM, *bots, *run_folder.names()}))
    player = agent(spec, game, seed)
    assert isinstance(player, PolicyAgent)
    trained, policy = player.game, player.policy
    if seats is not None:
        warn_about_differences([(spec, player)], game)
    worker = None if spec in bots else Worker(spec)
    return lambda agent_id, name: MafiaPolicyAgent(agent_id, name, trained, policy, seed=own(), worker=worker)


def _language_model_maker(model: Model, prompts: Prompts, persona: str, seed: Callable[[], int | None]) -> MakeAgent:
    """Return a function that makes language-model agents: with one persona, or ("") with all personas in turn."""
    MafiaLLMAgent("p1", "Alice", model, prompts=prompts, persona=persona)  # an error now, not in the first match
    personas = cycle([persona] if persona else list(prompts.personas) or [""])

    def make(agent_id: str, name: str) -> AgentPolicy:
        return MafiaLLMAgent(agent_id, name, model, prompts=prompts, persona=next(personas), seed=seed())

    return make
