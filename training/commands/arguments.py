"""What people type on the command line, found or explained: games and their options, bots, runs."""

import inspect
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...envs import Game, find
from ...envs import game as make_game
from ...envs.core.options import named as named
from ...wrappers.agents.base import Agent
from ...wrappers.agents.human import HumanAgent
from ...wrappers.agents.language_model import Model
from ...wrappers.agents.llm import LLMAgent
from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.policies.base import Policy
from ...wrappers.policies.loading import load_run, make_policy

RUNS = Path("runs")
"""Where training runs are written, below the current folder."""


LLM = "llm"
"""What a language model is called among agents."""

CROWDS = ("mafia",)
"""Games that two cannot play: without a word on seats they have their own number."""


def game_with(name: str, settings: Sequence[str] = (), **options: Any) -> Game:
    """Return a game by name, with options written as ``key=value`` (as in JSON, or a word) and others as they are.

    Raises:
        ValueError: for an unknown game, an unknown option (with the nearest one), or a value it does not take.
    """
    wanted = {key: value for key, value in options.items() if value is not None}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"option {setting!r}: write key=value")
        try:
            wanted[key] = json.loads(value)
        except json.JSONDecodeError:
            wanted[key] = value  # a word, as in rule=all-pay; the game refuses one that it does not know
    return make_game(name, **wanted)


def has_seats(name: str) -> bool:
    """Tell whether a game has the option `seats`; bargaining always has two.

    Raises:
        ValueError: for an unknown game.
    """
    return "seats" in inspect.signature(find(name)).parameters


def located(spec: str, bots: Iterable[str]) -> str:
    """Return the path or bot that `spec` names: a path, a run below `RUNS`, or a bot.

    Raises:
        ValueError: if there is none, with the nearest run or bot.
    """
    if spec in bots or Path(spec).exists() or Path(spec + ".zip").exists():
        return spec
    if (RUNS / spec).is_dir():
        return str(RUNS / spec)
    runs = sorted(folder.name for folder in RUNS.iterdir()) if RUNS.is_dir() else []
    return named("bot, run or policy file", spec, [*bots, *runs])


def language_model(name: str | None, url: str | None, **settings: Any) -> Model | None:
    """Return the model that ``--model`` and ``--llm-url`` tell of; None where none is named."""
    return None if name is None else Model(name=name, base_url=url, **settings)


def needed(model: Model | None) -> Model:
    """Return the language model that `LLM` stands for.

    Raises:
        ValueError: if there is none.
    """
    if model is None:
        raise ValueError(f"{LLM} needs --model NAME, and an endpoint by --llm-url or OPENAI_BASE_URL")
    return model


def player(spec: str, game: Game, seed: int | None = None, deterministic: bool = False) -> Policy:
    """Return the policy that `spec` names (see `located`) for `game`."""
    return make_policy(located(spec, {"random": None, **game.bots}), game, seed=seed, deterministic=deterministic)


def agent(spec: str, game: Game, seed: int | None = None, model: Model | None = None) -> Agent:
    """Return the agent that `spec` names for a seat at `game`: ``human``, ``llm`` (which is `model`), or see `located`.

    A run keeps the options it was trained with; it finds its way at a table with more seats or fewer.

    Raises:
        ValueError: if there is none, or it plays another game.
    """
    if spec == "human":
        return HumanAgent()
    if spec == LLM:
        return LLMAgent(
            needed(model),
            None,
            talks=game.capabilities.talk is None or game.capabilities.talk.message_violation is None,
        )
    where = located(spec, {"human": None, LLM: None, "random": None, **game.bots})
    if not Path(where).is_dir():
        return PolicyAgent(game, make_policy(where, game, seed=seed))
    trained, policy = load_run(where, seed=seed)
    if trained.name != game.name:
        raise ValueError(f"{spec} plays {trained.name}, not {game.name}")
    return PolicyAgent(trained, policy)


def game_of(spec: str, name: str | None, settings: Sequence[str] = (), seats: int | None = None) -> Game:
    """Return the game that a run was trained on; with other options where they are given, or for a bot or a file.

    Args:
        spec: see `located`.
        name: the game; None: the run's, or hold'em.
        settings: options as ``key=value``.
        seats: how many; None: the run's, or 2 where the game can have so few.
    """
    path = Path(spec) if Path(spec).is_dir() else RUNS / spec
    if path.is_dir() and name is None:
        trained, _policy = load_run(path)
        fixed = {key: value for key, value in trained.options.items() if key not in _keys(settings)}
        if seats is None or seats == trained.seats:
            return game_with(trained.name, settings, **fixed)
        return game_with(trained.name, settings, **{**fixed, "seats": seats})
    name = name or "holdem"
    if seats is None and has_seats(name) and name.partition("-")[0] not in CROWDS:
        seats = 2
    return game_with(name, settings, seats=seats)


def _keys(settings: Sequence[str]) -> set[str]:
    return {setting.partition("=")[0] for setting in settings}
