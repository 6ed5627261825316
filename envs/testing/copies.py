"""Copies: a copy of the record plays the same, and TurnStates are independent (see also `environment_copies`)."""

import pickle
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from itertools import zip_longest
from reprlib import repr
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..core.aec import GameEnv, TurnBasedParallel
from ..core.checks import Immutable
from ..core.game import Game
from ..core.match import Match
from ..core.turn_state import TurnState
from ..core.vector import VectorGame
from .trial import Trial, chooser, in_record


def environment_at_a_decision(trial: Trial, seed: int, steps: int) -> GameEnv:
    """Return an environment after up to `steps` random decisions, before the end of its episode."""
    env, choose = GameEnv(trial.game, "flat"), chooser(trial.game, seed)
    env.reset(seed=seed)
    for _ in range(steps):
        ahead = env.clone()
        ahead.step(choose(ahead.observe(ahead.agent_selection)["action_mask"]))
        if ahead.table.done:
            break
        env = ahead
    return env


def records(trial: Trial) -> None:
    """Every byte of a record belongs to a field, and copies of a record play the same."""
    game = trial.game
    dtype = game.rules.blank.dtype
    names = dtype.names or ()
    trial.require(
        sum(dtype[name].itemsize for name in names) == dtype.itemsize,
        "the record has bytes that belong to no field, which NumPy does not copy: make its dtype with `record`",
    )
    for name in names:
        offset = dtype.fields[name][1]  # type: ignore[index]
        trial.require(offset % dtype[name].base.alignment == 0, f"the field {name} is not aligned")
    for seed in trial.seeds(1):
        for table in trial.decisions(seed):
            if not table.done:
                action = int(np.flatnonzero(game.mask(table, int(table.turn)))[-1])
                twin, other = table.copy(), table.copy()
                game.rules.play(twin, action)
                game.rules.play(other, action)
                trial.same(in_record(twin, other))
                trial.require(twin.tobytes() != table.tobytes(), f"the legal action {action} changes nothing")


def turn_states(trial: Trial) -> None:
    """A change of one TurnState does not change another one: TurnStates share no lists or dicts with the game."""
    before = [[state.to_json() for state in states] for states in _episode(trial)]
    for states in _episode(trial):
        for state in states:
            _scribble(state)
    after = [[state.to_json() for state in states] for states in _episode(trial)]
    trial.require(before == after, "writing into a TurnState changed another one")


def _episode(trial: Trial) -> Iterator[list[TurnState]]:
    game = trial.game
    match, choose = Match(game), chooser(game, 5)
    match.reset(seed=5)
    while True:
        yield match.turn_states("all")
        if game.public_view is not None:
            yield match.turn_states("public")
        if match.done:
            return
        match.play(choose(match.mask))


def _scribble(value: Any) -> None:
    """Overwrite every list and dict of plain data or of a struct."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _scribble(getattr(value, name))
    elif isinstance(value, dict):
        for part in value.values():
            _scribble(part)
        value["scribble"] = "scribble"
    elif isinstance(value, list):
        for part in value:
            _scribble(part)
        value.append("scribble")


CALLS = 24
"""The most calls of `Kind.step` in a run."""

SEED = 3


class Kind(NamedTuple):
    """One class of environments, and how to play it.

    Attributes:
        make: ``make(game)`` returns a new environment.
        reset: ``reset(env)`` begins an episode with the seed `SEED`; it returns what the environment returns.
        step: ``step(env)`` plays legal actions that `env` or its spaces draw, or begins the next episode after an end.
            It returns all that the environment returns and shows, and whether an episode has just ended.
    """

    make: Callable[[Game], Any]
    reset: Callable[[Any], Any]
    step: Callable[[Any], tuple[Any, bool]]


def _reset_agents(env: Any) -> Any:
    for agent in env.possible_agents:
        env.action_space(agent).seed(SEED)
    return env.reset(seed=SEED)


def _step_aec(env: Any) -> tuple[Any, bool]:
    if not env.agents:
        env.reset()
        return env.agent_selection, False
    agent, last = env.agent_selection, env.last()
    over = last[2] or last[3]
    env.step(None if over else env.action_space(agent).sample(last[0]["action_mask"]))
    ended = not over and any([*env.terminations.values(), *env.truncations.values()])
    return (agent, last, env.rewards, env.terminations, env.truncations, env.infos, env.render()), ended


def _step_payloads(env: Any) -> tuple[Any, bool]:
    if env.match.done:
        env.reset()
        return env.agent_selection, False
    agent, match = env.agent_selection, env.match
    drawn = env.action_space(agent).sample(env.observe(agent)["action_mask"])
    response = env.game.view.encode(env.table, int(np.flatnonzero(match.mask)[-1]))
    return (agent, drawn, env.submit(agent, response), env.messages, env.rewards, env.render()), bool(match.done)


def _step_parallel(env: Any) -> tuple[Any, bool]:
    if not env.agents:
        return env.reset(), False
    masks = {agent: env.aec_env.observe(agent)["action_mask"] for agent in env.agents}
    results = env.step({agent: env.action_space(agent).sample(mask) for agent, mask in masks.items()})
    return (results, env.render()), not env.agents


def _step_vector(env: Any) -> tuple[Any, bool]:
    env.step(env.sample())
    arrays = env.observations, env.action_masks, env.turn, env.rewards, env.dones, env.tables
    return [array.copy() for array in arrays], bool(env.dones.any())


def _step_match(match: Any) -> tuple[Any, bool]:
    if match.done:
        match.reset()
        return match.match_id, False
    legal = np.flatnonzero(match.mask)
    match.play(int(legal[match.decisions % len(legal)]))
    return (match.turn_states("all"), match.rewards, match.messages, match.done), match.done


KINDS = {
    "env": Kind(lambda game: GameEnv(game, render_mode="ansi", illegal_reward=-1.0), _reset_agents, _step_aec),
    "raw_env": Kind(lambda game: GameEnv(game, "flat", render_mode="svg"), _reset_agents, _step_aec),
    "raw_env of payloads": Kind(lambda game: GameEnv(game, "flat", "payload", "ansi"), _reset_agents, _step_payloads),
    "parallel_env": Kind(
        lambda game: TurnBasedParallel(GameEnv(game, render_mode="ansi", illegal_reward=-1.0)),
        _reset_agents,
        _step_parallel,
    ),
    "vector_env": Kind(lambda game: VectorGame(game, 3, threads=2), lambda env: env.reset(SEED), _step_vector),
    "Match": Kind(Match, lambda match: match.reset(SEED), _step_match),
}
"""The classes of `parlour.envs` that can be copied."""


def environments(trial: Trial) -> None:
    """A copy of an environment returns, draws and shows what the original would have, and neither changes the other.

    Copies are deep copies, and pickles where the game can be pickled. They are made before the first reset, after it,
    within an episode and after an end, of every class in `KINDS`. In a copy the same attributes share memory as in the
    original.
    """
    for name, kind in KINDS.items():
        continues(trial, name, kind)


def continues(trial: Trial, name: str, kind: Kind) -> None:
    """Test the copies of one class."""
    expected, moments = undisturbed(trial.game, kind)
    for moment in moments:
        env = kind.make(trial.game)
        play(kind, env, 0, moment)
        twins = {way: copy(env) for way, copy in _ways(trial.game).items()}
        place = f"{name}, copied after {moment} calls"
        for way, twin in twins.items():
            trial.same(_difference(f"{place} by {way}: shared memory", _shared_memory(env), _shared_memory(twin)))
        for call in range(moment, len(expected)):
            for way, each in (twins | {"original": env}).items():
                (result,) = play(kind, each, call, call + 1)
                trial.same(_difference(f"{place}, call {call}, {way}", expected[call], result))


def _ways(game: Game) -> dict[str, Callable[[Any], Any]]:
    """Return the ways to copy an environment of the game. A game with local functions cannot be pickled."""
    try:
        pickle.dumps(game)
    except (pickle.PicklingError, AttributeError, TypeError):
        return {"deepcopy": deepcopy}
    return {"deepcopy": deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def undisturbed(game: Game, kind: Kind) -> tuple[list[Any], list[int]]:
    """Return the results of the calls of a run, to its second end or `CALLS`, and the moments at which to copy."""
    env = kind.make(game)
    results: list[Any] = []
    ends: list[int] = []
    while len(ends) < 2 and len(results) < CALLS:
        if results:
            result, ended = kind.step(env)
            ends += [len(results)] * ended
        else:
            result = kind.reset(env)
        results.append(_frozen(result))
    return results, sorted({0, 2, *(end + 1 for end in ends[:1])})


def play(kind: Kind, env: Any, first: int, stop: int) -> list[Any]:
    """Make the calls `first` to `stop` − 1 of a run, of which call 0 is the reset; return what they return."""
    return [_frozen(kind.step(env)[0] if call else kind.reset(env)) for call in range(first, stop)]


_PLAIN = frozenset((str, int, float, bool, type(None)))


def _frozen(value: Any) -> list[tuple[str, Any]]:
    """Return the leaves of what a call returned, with their paths; arrays as bytes, TurnStates and messages as JSON."""
    return list(_leaves("", value))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) in _PLAIN:
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{path}.{key}", part)
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for i, part in enumerate(value):
            yield from _leaves(f"{path}[{i}]", part)
    elif hasattr(value, "__array__"):
        array = np.asarray(value)
        yield path, (array.dtype.str, array.shape, array.tobytes())
    elif isinstance(value, msgspec.Struct):
        yield path, msgspec.json.encode(value)
    else:
        yield path, deepcopy(value)


def _difference(place: str, one: list[tuple[str, Any]], other: list[tuple[str, Any]]) -> str | None:
    for first, second in zip_longest(one, other):
        if first != second:
            return f"{place}: {repr(first)}, and {repr(second)}"
    return None


def _shared_memory(env: Any) -> list[tuple[str, str]]:
    """Return the attributes of `env` and of its parts that share memory with an attribute before them."""
    arrays = list(_arrays("", env, set()))
    return [
        (path, other)
        for i, (path, array) in enumerate(arrays)
        for other, earlier in arrays[:i]
        if np.may_share_memory(array, earlier)
    ]


def _arrays(path: str, value: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        yield path, value
    if id(value) in seen or isinstance(value, Immutable) or callable(value):
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        parts: Any = enumerate(value)
    else:
        parts = (value if isinstance(value, dict) else getattr(value, "__dict__", {})).items()
    for name, part in parts:
        yield from _arrays(f"{path}.{name}", part, seen)
