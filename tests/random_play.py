"""Matches of random actions."""

from itertools import islice

from parlour.envs.testing import Trial


def decisions(game, seed, most=None):
    """Yield the record at the decisions of a random match, of which there may be a most."""
    for table in islice(Trial("random play", game, 1).decisions(seed), most):
        if not table.done:
            yield table


def states(game, seed, most=None):
    """Yield what the acting seat sees at these decisions."""
    for table in decisions(game, seed, most):
        yield game.turn_state(table, int(table.turn))
