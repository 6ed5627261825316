"""Finds the games, options, bots, runs, policies and agents that command lines name, also with search on top."""

import copy
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from ... import zoo
from ...envs import GAMES, Game, find
from ...envs import game as make_game
from ...envs.core.options import UnexpectedOption, did_you_mean
from ...envs.core.registry import game_meant, id_of
from ...wrappers import Agent, Model, Prompting
from ...wrappers.agents.human import HumanAgent
from ...wrappers.agents.language_model import AgentsAsPolicy, LLMAgent
from ...wrappers.agents.policy import PolicyAgent, ReadyAgent, SearchAgent, SearchPolicy
from ...wrappers.policies.base import LearnedPolicy, Policy, TabularPolicy, TrainedFor, command_line
from ...wrappers.policies.elsewhere import ElsewherePolicy, MutedPolicy, ScrambledPolicy
from ...wrappers.policies.loading import load_policy, make_policy, policy_file, run_settings
from ..evaluation.games import measures
from ..learning import run_folder
from ..learning.settings import pair
from ..runs.config import preset_options, source_of
from .arguments import LLM as LLM
from .arguments import PlayersArguments, PromptArguments

T = TypeVar("T")
MakeAgent = Callable[[str, Game, int | None], Agent]
"""Makes the agent that a name stands for in a game, with a seed."""
HUMAN = "human"
"""The name of a person among agents."""
ZOO = "zoo"
"""The name of each game's policy of `parlour.zoo`."""


# Games.


def game_with(name: str, settings: Sequence[str] = (), **options: Any) -> Game:
    """Return a game by name, with options as strings ``name=value`` (JSON or a word), and as keyword arguments.

    Raises:
        ValueError: for an unknown game or option, with the most similar one, or a value that the option does not take.
    """
    wanted = {key: value for key, value in options.items() if value is not None}
    try:
        return make_game(name, **wanted | dict(map(pair, settings)))
    except UnexpectedOption as error:  # whose words are Python's, for libraries
        raise ValueError(re.sub(r".*unexpected keyword argument", "there is no option", str(error))) from None


def has_seats(name: str) -> bool:
    """Tell whether a game has the option `seats` (bargaining does not).

    Raises:
        ValueError: for an unknown game.
    """
    return "seats" in inspect.signature(find(name)).parameters


def tables_of(name: str, counts: Iterable[int] = range(1, 21)) -> dict[int, Game]:
    """Return a game by its number of seats, for those of `counts` that it can have; else with its default options."""
    if not has_seats(name):
        game = game_with(name)
        return {game.seats: game}
    tables = {}
    for count in counts:
        with suppress(ValueError):  # a number that the game does not have
            tables[count] = game_with(name, seats=count)
    return tables


def names_seats(settings: Sequence[str]) -> bool:
    """Tell whether options written as ``name=value`` contain `seats`."""
    return any(setting.partition("=")[0] == "seats" for setting in settings)


def bots_of(name: str) -> list[str]:
    """Return the names of a game's bots; empty if the game needs options."""
    with suppress(ValueError):
        return list(make_game(name).bots)
    return []


def game_of(
    spec: str, name: str | None, settings: Sequence[str] = (), seats: int | None = None, *, among: Iterable[str] = GAMES
) -> Game:
    """Return the game that a policy was trained for, with the given options changed; for a bot, its game.

    Args:
        spec: see `located`.
        name: the game; None: the policy's own. A module:function may say where the policy's own is.
        settings: options as ``name=value``.
        seats: number of seats; None: that of the policy, or of the game's preset.
        among: the games that may have the bot.

    Raises:
        ValueError: if `spec` is unknown, or a language model or a policy file without the name of its game.
    """
    if name is None and spec == LLM:
        raise ValueError("name the game of the model with --game")
    trained = trained_for(spec) if spec != LLM and (name is None or ":" in name) else None
    if trained is not None and name is not None and id_of(name) != trained.game:
        trained = None
    if trained is not None and spec.startswith(zoo.PREFIX) and (seats is not None or names_seats(settings)):
        name = trained.name  # for each number of seats the zoo was trained with the default options there
    elif trained is not None:
        require_known(spec, trained)
        options = {**trained.make_game().options, **dict(map(pair, settings))}
        return make_game(trained.game, **({**options, "seats": seats} if seats is not None else options))
    name = name or _game_with_bot(spec, among)
    if seats is None and has_seats(name) and not names_seats(settings):
        seats = preset_options(name).get("seats")
    return game_with(name, settings, seats=seats)


def require_known(run: str, trained: TrainedFor | None) -> None:
    """Raise ValueError for a run of a game of one's own that the command line does not name: no file imports it."""
    commands = (run_folder.existing(run) or Path(run)) / "command.txt"
    if trained is not None and game_meant(trained.game) is None and commands.is_file():
        own = re.search(r"(?<=[ =])(?!zoo:)[^\W\d][\w.]*:[^\W\d]\w*", commands.read_text("utf-8"))
        raise ValueError(f"{run} is of a game of your own: give --game {own[0] if own else 'module:function'}")


def next_command(game: Game, *words: str) -> str:
    """Return a command line to go on with: `words`, in which ``GAME`` is the game with its options.

    A command without it, as one of a run, gets ``--game`` for a game that the command line names as module:function.
    """
    own = source_of(game)
    usual = {name: one.default for name, one in inspect.signature(find(game.name)).parameters.items()}
    # Not the text of a file.
    given = {key: one for key, one in game.options.items() if one != usual.get(key) and "\n" not in str(one)}
    named = {"GAME": [own or game.name, *shlex.split(command_line(given))]}
    after = ["--game", own] if own and "GAME" not in words else []
    return shlex.join(["parlour", *(part for word in words for part in named.get(word, [word])), *after])


def trained_for(spec: str) -> TrainedFor | None:
    """Return the game and options of a trained run or policy file; None for a bot, or a file without them."""
    folder = run_folder.existing(spec)
    if folder is not None:
        return run_settings(folder)
    return load_policy(spec).trained_for if policy_file(spec).is_file() else None


def _game_with_bot(spec: str, among: Iterable[str]) -> str:
    """Return the first game that has a bot of this name. Later games are not made, because some take seconds."""
    if policy_file(spec).is_file():
        raise ValueError(f"name a game with --game: {spec} does not hold the game that it was trained for")
    names = set(run_folder.names())
    for game in among:
        bots = bots_of(game)
        if spec in bots:
            return game
        names |= set(bots)
    hint = did_you_mean(spec, sorted(names), "`parlour list bots runs` shows them")
    raise ValueError(f"no bot, run or policy file is called {spec!r} (runs are in {run_folder.RUNS.resolve()}); {hint}")


# Policies and agents.


def located(spec: str, bots: Iterable[str], runs: Path = run_folder.RUNS) -> str:
    """Return the path or bot that `spec` names: a bot, a path, or a run below `runs`.

    Raises:
        ValueError: if there is none, with the most similar run or bot.
    """
    names = list(bots)
    if spec in names or Path(spec).exists() or policy_file(spec).exists():
        return spec
    folder = run_folder.existing(spec, runs)
    if folder is not None:
        return str(folder)
    hint = did_you_mean(spec, [*names, *run_folder.names(runs)])
    raise ValueError(f"no bot, run or policy file is called {spec!r} (runs are in {runs.resolve()}); {hint}")


def policy(spec: str, game: Game, seed: int | None = None) -> Policy:
    """Return the policy that `spec` names (see `located`) for `game`."""
    return make_policy(located_for(game, spec), game, seed=seed)


def located_for(game: Game, spec: str, *others: str) -> str:
    """Return the result of `located` among the game's bots and other names; `ZOO` is the game's policy in the zoo."""
    names = dict.fromkeys([*others, "random", *game.bots])  # each once
    return located(f"{zoo.PREFIX}{game.name}" if spec == ZOO else spec, names)


def policies_of(specs: Sequence[str], game: Game, seed: int) -> dict[str, Policy]:
    """Return the policies that `specs` name, by these names, each with a seed of its own.

    Raises:
        ValueError: for a name that is unknown, or a policy that is given twice: seeds are independent, copies are not.
    """
    where = {spec: located_for(game, spec) for spec in specs}  # a mistyped name: before any play
    if twice := [spec for spec in where if list(specs).count(spec) > 1]:
        raise ValueError(f"{', '.join(twice)}: given twice")
    seen: dict[Path, str] = {}
    for spec, one in where.items():
        file = Path(one) if Path(one).is_dir() else policy_file(one)
        if file.exists() and (first := seen.setdefault(run_folder.of_policy(file), spec)) != spec:
            raise ValueError(f"{first} and {spec} are the same: give each once")
    return {spec: make_policy(one, game, seed=seed + number) for number, (spec, one) in enumerate(where.items(), 1)}


def rivals(game: Game) -> tuple[str, ...]:
    """Return the bots that can play the game with its options; some need certain options."""
    return tuple(name for name in game.bots if not reason_against(name, game)) or ("random",)


def require_opponents(game: Game) -> None:
    """Raise ValueError for a game in which nobody wins from another, because all seats share one reward."""
    if game.payoffs.shared:
        held_out = measures(game.name).held_out
        figures = "" if held_out is None else "`parlour evaluate held-out` measures a policy, and "
        raise ValueError(
            f"in {game.name} all seats share one reward, so nobody wins from another: {figures}"
            "`parlour evaluate crossplay` measures how well policies play together"
        )


def of_the_zoo(game: Game) -> tuple[str, ...]:
    """Return the names of the zoo's policies that can play the game with its options and seats: first that of the game.

    Variants for other numbers of seats have no name of their own here: they play in its place.
    """
    variants = zoo.variants(game.name)[1:]
    own = [name for name in zoo.names() if f"{name}-".startswith(f"{game.name}-") and name not in variants]
    specs = [f"{zoo.PREFIX}{name}" for name in sorted(own, key=len)]
    return tuple(spec for spec in specs if not reason_against(spec, game))


def reason_against(spec: str, game: Game) -> str:
    """Return the reason why `spec` cannot play a game with its options and seats, as a sentence; empty: it can.

    All offers of policies and bots ask it; `policy` and `agent` refuse with it.
    """
    if spec in (HUMAN, LLM):
        return ""
    try:
        policy(spec, game, 0)
    except ValueError as error:
        return str(error)
    return ""


def silenced(player: Policy, game: Game, mute: bool, scramble: bool, seed: int) -> Policy:
    """Return a policy muted, with scrambled statements, or as it is.

    Raises:
        ValueError: if both are wanted, or the game has no statements.
    """
    if mute and scramble:
        raise ValueError("mute or scramble: choose one")
    if mute:
        return MutedPolicy(player, game)
    return ScrambledPolicy(player, game, seed) if scramble else player


def agent(
    spec: str,
    game: Game,
    seed: int | None = None,
    model: Model | None = None,
    prompting: Callable[..., Prompting] | None = None,
) -> Agent:
    """Return the agent that `spec` names for a seat at `game`: ``human``, ``llm`` (which is `model`, asked as
    `prompting` says, with the rules of the game), or see `located`.

    A saved policy keeps the options that it was trained with, and reads tables with other ones, such as more or fewer
    seats, as well as its game can. The solution of a small game plays with its own options only.

    Raises:
        ValueError: if there is none, or it cannot play the game (see `reason_against`).
    """
    if spec == HUMAN:
        return HumanAgent()
    if spec == LLM:
        talk = game.capabilities.talk
        prompt = (prompting or Prompting)(game=game)
        return LLMAgent(needed(model), None, prompting=prompt, talks=talk is None or talk.message_violation is None)
    where = located_for(game, spec, HUMAN, LLM)
    player = make_policy(where, game, seed=seed)
    trained = what_trained(player)
    own = game if trained is None or isinstance(player, TabularPolicy) else trained.make_game()
    return PolicyAgent(own, player.policy if isinstance(player, ElsewherePolicy) else player)


def agents_as(prompt: PromptArguments, specs: Sequence[str], turn: float | None = None) -> MakeAgent:
    """Return the maker of the agents that `specs` name; a language model is asked as the command line says.

    Args:
        prompt: the language model, and how it is asked.
        specs: all players of the command, see `agent`.
        turn: the time of a turn in seconds; None: no limit.
    """
    return partial(agent, model=prompt.language_model(specs, turn), prompting=prompt.prompting())


def seated(players: PlayersArguments, game: Game, seed: int | None, turn: float | None = None) -> list[Any]:
    """Return the agents of a table, seat by seat, each with a seed of its own and, where it is wanted, with search.

    Args:
        players: the players, and how language models among them are asked.
        game: the game with its options.
        seed: the seed of the first is one more; None: random.
        turn: the time of a turn in seconds; None: no limit.
    """
    specs, make = players.agents, agents_as(players, players.agents, turn)
    agents = [make(spec, game, None if seed is None else seed + place) for place, spec in enumerate(specs, 1)]
    warn_about_differences(zip(specs, agents, strict=True), game)
    return searching_agents(specs, agents, seed, players.search)


def seated_model(make: Callable[[], Agent], game: Game, parallel: int = 1) -> AgentsAsPolicy:
    """Return a language model as a policy of all seats, with so many requests at the same time.

    Raises:
        ImportError: if the extra `llm` is not installed.
    """
    make()  # so that a missing library is an error before any play
    return AgentsAsPolicy(game, make, parallel)


def needed(model: Model | None) -> Model:
    """Return the language model of the agent `LLM`.

    Raises:
        ValueError: if there is none.
    """
    if model is None:
        raise ValueError(f"{LLM} needs --model NAME, and an endpoint by --llm-url or OPENAI_BASE_URL")
    return model


def warn_about_differences(players: Iterable[tuple[str, Any]], game: Game) -> None:
    """Print a line on stderr for each saved policy that was trained for another version or other options.

    Args:
        players: names with policies or agents; those that were not trained are ignored.
        game: the game to play.
    """
    lines = dict.fromkeys(
        f"{spec} was trained for {difference}"
        for spec, player in players
        if (trained_for := what_trained(player)) is not None and (difference := trained_for.difference(game))
    )
    for line in lines:
        print(line, file=sys.stderr)


def what_trained(player: Any) -> TrainedFor | None:
    """Return the game and options for which a policy, or that of an agent, was trained; None if it was not."""
    learned = player.policy if isinstance(player, PolicyAgent) else player
    return learned.trained_for if isinstance(learned, LearnedPolicy | ElsewherePolicy) else None


SEARCHES = "holdem", "tangram"
"""The games with a search."""
SECONDS = 2.0
"""Most time for a search of an agent."""
ROOM = 4 * 1024**3
"""Bytes of a GPU that must be free: a turn takes at most about 2 GiB."""


def searching(spec: str, player: Policy, game: Game, seed: int | None = None, seconds: float | None = None) -> Policy:
    """Return a policy with its game's search on top; `seed` is for what it draws, and `seconds` its limit for a turn.

    Raises:
        ValueError: if the game has none, or it cannot search with this policy.
    """
    if game.name == "tangram":
        from ...envs.tangram.bots import TangramPlanning  # here, as below: it compiles the game

        return SearchPolicy(game, player, TangramPlanning(game), seconds=seconds)  # it draws nothing
    if game.name == "holdem":
        from ..solving.resolving import HoldemResolving, ResolvingPolicy

        resolving = HoldemResolving(game, player, turn_resolver=turn_resolver())
        return ResolvingPolicy(player, resolving, seconds=seconds, seed=seed)
    raise ValueError(f"--search: {spec} plays {game.name}; only {' and '.join(SEARCHES)} have a search")


def searching_agent(spec: str, player: Agent, seed: int | None) -> ReadyAgent:
    """Return the agent of a policy that searches for at most `SECONDS`; the policy's action replaces a late one.

    Raises:
        ValueError: if it is no policy, or cannot search.
    """
    if not isinstance(player, PolicyAgent):
        raise ValueError(f"--search needs a policy, and {spec} is none")
    game, policy = player.game, copy.deepcopy(player.policy)
    if game.name == "tangram":
        from ...envs.tangram.bots import TangramPlanning

        return ReadyAgent(player, SearchAgent(game, policy, TangramPlanning(game)))
    return ReadyAgent(player, PolicyAgent(game, searching(spec, policy, game, seed, SECONDS)), 2 * SECONDS)


def searching_agents(specs: Sequence[str], agents: Sequence[Any], seed: int | None, search: bool | None) -> list[Any]:
    """Return agents with search on top, those that can search; with `search` None those whose card of the zoo says so.

    Raises:
        ValueError: if `search` is true and none can.
    """
    if search:
        return where_possible(specs, agents, partial(searching_agent, seed=seed))
    wanted = [search is None and spec.startswith(zoo.PREFIX) and zoo.card(spec).search for spec in specs]
    players = zip(specs, agents, wanted, strict=True)
    return [searching_agent(spec, player, seed) if searches else player for spec, player, searches in players]


def where_possible(specs: Iterable[str], players: Iterable[T], search: Callable[[str, T], T]) -> list[T]:
    """Return players with search on top, those that can search; `search` takes a player with its name.

    Raises:
        ValueError: if none can.
    """
    chosen, errors = list[T](), list[ValueError]()
    for spec, player in zip(specs, players, strict=True):
        try:
            chosen.append(search(spec, player))
        except ValueError as error:
            errors.append(error)
            chosen.append(player)
    if len(errors) == len(chosen):
        raise errors[0]
    return chosen


def turn_resolver() -> Any:
    """Return the resolver of a GPU where PyTorch finds one with `ROOM`, and can use it."""
    from ..solving.subgame import Resolver

    if find_spec("torch") is not None:
        import torch

        with suppress(RuntimeError):  # a GPU that this PyTorch has no code for
            if torch.cuda.is_available() and torch.ones(1, device="cuda") and torch.cuda.mem_get_info()[0] >= ROOM:
                from ..solving.subgame_gpu import GpuResolver

                return GpuResolver
    return Resolver
