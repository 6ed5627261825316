"""Finds the agents that people name for mafia: personalities, language models, runs, policy files, bots."""

import logging
from collections.abc import Callable
from itertools import count, cycle

from ...envs import Game
from ...envs.core.options import named
from ...envs.mafia.bots import PERSONALITIES
from ...wrappers.agents.language_model import Model
from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.live.common.worker import Worker
from ...wrappers.live.mafia.agent_policy import AgentPolicy
from ...wrappers.live.mafia.llm_agent import MafiaLLMAgent
from ...wrappers.live.mafia.messages import AgentConfig, Personality, ScriptedConfig
from ...wrappers.live.mafia.policy_agent import MafiaPolicyAgent
from ...wrappers.live.mafia.prompts import Prompts, load_prompts
from ...wrappers.live.mafia.scripted_agent import MafiaScriptedAgent
from ...wrappers.policies.loading import policy_file
from ..learning import run_folder
from .lookup import LLM, agent, needed, tell_differences

logger = logging.getLogger(__name__)

MakeAgent = Callable[[str, str], AgentPolicy]
"""Makes an agent with this id and this name."""


def maker(
    spec: str,
    game: Game,
    model: Model | None,
    seed: int | None,
    seats: int | None = None,
    prompts: Prompts | None = None,
) -> MakeAgent:
    """Return what makes an agent as `spec` names it, each with a seed of its own. Saved policies run in a thread.

    Args:
        spec: a personality, ``llm`` or ``llm:PERSONA``, a bot, a run or a policy file.
        game: mafia with its options.
        model: the language model that ``llm`` stands for.
        seed: of the agents' choices and words; None: another one every time.
        seats: of the matches, where it is known.
        prompts: what language models are told; None: the prompts that come with Parlour.

    Raises:
        ValueError: if `spec` names nothing, or a policy of another game.
    """
    made = count()

    def own() -> int | None:
        number = next(made)
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
    if seats not in (None, trained.seats):
        logger.warning("%s was trained for %d players: a bot plays for it among %d", spec, trained.seats, seats)
    elif seats is not None:
        tell_differences([(spec, player)], game)
    worker = None if spec in bots else Worker(spec)
    return lambda agent_id, name: MafiaPolicyAgent(agent_id, name, trained, policy, seed=own(), worker=worker)


def _language_model_maker(model: Model, prompts: Prompts, persona: str, seed: Callable[[], int | None]) -> MakeAgent:
    """Return what makes language models' agents: all with one persona, or ("") with one after another."""
    MafiaLLMAgent("p1", "Alice", model, prompts=prompts, persona=persona)  # what is missing is told at once
    personas = cycle([persona] if persona else list(prompts.personas) or [""])

    def make(agent_id: str, name: str) -> AgentPolicy:
        return MafiaLLMAgent(agent_id, name, model, prompts=prompts, persona=next(personas), seed=seed())

    return make
