"""The words of a game: the texts that occur in its TurnStates. `Game.words` keeps them."""

from typing import Any

import numpy as np

from .turn_state import TurnState

EPISODES = 20
"""The number of random episodes that are played to collect the words."""


def spoken_words(game: Any) -> frozenset[str]:
    """Return the texts that occur in the TurnStates of some random episodes, without the agents' names.

    Args:
        game: the `Game`.
    """
    texts = {"pass", "message_only", *game.view.action_spaces}
    generator, table = np.random.default_rng(0), game.tables(1)[0]
    for _ in range(EPISODES):
        table.stream = generator.integers(0, 2**63)
        game.rules.reset(table)
        while not table.done:
            _collect(game.turn_state(table, int(table.turn)), texts)
            game.rules.play(table, int(generator.choice(game.mask(table, int(table.turn)).nonzero()[0])))
        for seat in range(game.seats):
            _collect(game.turn_state(table, seat), texts)
    return frozenset(texts - set(game.agents))


def _collect(state: TurnState, texts: set[str]) -> None:
    stack: list[Any] = [state.game_state, state.outcome, [allowed.payload_schema for allowed in state.allowed_actions]]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            texts.add(part)
        elif isinstance(part, dict):
            texts.update(part)
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
