"""Compiles in a process beside another one: ``python -m parlour.envs.core.compile_game TASK`` (see `plain_start`)."""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .match import Match
from .registry import game as make_game

DECISIONS = 40
"""Decisions that are played: an episode may have millions of hands."""


def play(game: str, options: Mapping[str, Any], encoder: str) -> None:
    """Play with every bot of a game at one table, so that each function is compiled and kept on disk.

    Args:
        game: the game's id.
        options: its options.
        encoder: the name of the encoder.
    """
    match = Match(make_game(game, **options), encoder)
    bots = [make(match.game, 0) for make in match.game.bots.values()]
    match.reset(seed=0)
    for decision in range(DECISIONS):
        if match.done:
            match.reset()
        state = match.turn_state(match.game.agents[match.turn])
        match.game.view.load(state)
        for seat in range(match.game.seats):
            match.observation(seat)
        seen = match.observed[None], match.mask[None]
        actions = [int(bot.act(*seen)[0]) for bot in bots] or [int(match.mask.argmax())]
        action = actions[decision % len(actions)]
        if decision % 2:
            match.play(action)
        else:
            match.submit(state.agent_id, match.game.view.encode(match.table, action))
    # As agents and hosts play that have a record and no `Match`, to the end of an episode at most.
    table = match.game.tables(1)[0]
    match.game.rules.reset(table)
    for _ in range(DECISIONS):
        if table.done:
            break
        state = match.game.turn_state(table, int(table.turn))
        copies, seat = match.game.view.load(state)
        match.game.encoders[match.encoder].observation(copies[0], seat)
        action = int(match.game.mask(table, int(table.turn)).argmax())
        match.game.rules.step(table, match.game.view.parse(table, match.game.view.encode(table, action).action))


def main(task: str) -> None:
    """Call a function.

    Args:
        task: a JSON object with the ``function``, as ``module:name``, and its ``arguments``.
    """
    call = json.loads(task)
    module, _, name = call["function"].partition(":")
    getattr(import_module(module), name)(**call["arguments"])


if __name__ == "__main__":
    main(sys.argv[1])
