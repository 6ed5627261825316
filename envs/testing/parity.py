"""Parity: a seat's observation by every encoder, and its mask, can be computed from its TurnState alone."""

from ..core.turn_state import TurnState
from . import differences
from .trial import Trial


def loads(trial: Trial) -> None:
    """A TurnState, sent as JSON, loads to the same observations and mask, for every seat at every decision.

    The observations are those of every encoder that a policy may play with. What the others show cannot be loaded.
    """
    game = trial.game
    for table, seat in trial.views():
        _compare(trial, game.turn_state(table, seat, match_id="m"), table, seat)


def loads_with_messages(trial: Trial) -> None:
    """The same holds in matches with public and private messages."""
    game = trial.game
    for seed in trial.seeds():
        for match in trial.matches(seed):
            for seat in trial.watched(match.table):
                trial.seat = seat
                _compare(trial, match.turn_state(game.agents[seat]), match.table, seat)


def _compare(trial: Trial, state: TurnState, table: object, seat: int) -> None:
    game = trial.game
    received = TurnState.from_json(state.to_json())
    trial.same(differences.in_turn_state(state, received))
    tables, own = game.view.load(received)
    trial.same(differences.in_observations(game.versions, (tables[0], own), (table, seat)))
    trial.same(differences.in_mask(game.mask(tables[0], own), game.mask(table, seat)))
