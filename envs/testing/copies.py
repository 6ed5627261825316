"""Copies: a copy of the record plays the same, and TurnStates are independent (see also `environment_copies`)."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from ..core.aec import GameEnv
from ..core.match import Match
from ..core.turn_state import TurnState
from . import differences
from .trial import Trial, chooser


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
                trial.same(differences.in_record(twin, other))
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
