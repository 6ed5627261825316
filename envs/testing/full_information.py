"""Full information is for critics: a policy that plays cannot use an encoder that shows hidden information."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.aec import GameEnv
from ..core.encoder import Encoder
from ..core.game import Game
from ..core.match import Match
from ..core.rollout import play_until_done, tables_with_seed
from . import differences
from .trial import NotTried, Trial


class _Peeking:
    """A policy that requests the observations of an encoder."""

    def __init__(self, encoder: str) -> None:
        self.encoder = encoder

    def act(self, observations: Any, masks: Any) -> Any:
        return masks.argmax(axis=1)


def _full(game: Game) -> dict[str, Encoder]:
    full = {name: encoder for name, encoder in game.encoders.items() if encoder.full_information}
    if not full:
        raise NotTried("no encoder of the game shows hidden information")
    return full


def refused(trial: Trial) -> None:
    """Matches, environments and rollouts refuse a full encoder."""
    game = trial.game
    for name in _full(game):
        players: dict[str, Callable[[], Any]] = {
            "Match": lambda name=name: Match(game, name),  # type: ignore[misc]
            "GameEnv": lambda name=name: GameEnv(game, encoder=name),  # type: ignore[misc]
            "Game": lambda name=name: replace(game, encoder=name),  # type: ignore[misc]
            "play_until_done": lambda name=name: play_until_done(  # type: ignore[misc]
                game, [_Peeking(name)], tables_with_seed(game, 1, 0)
            ),
        }
        for player, make in players.items():
            try:
                make()
            except ValueError:
                continue
            trial.fail(f"{player} takes the encoder {name!r}, which shows hidden information")


def shows_more(trial: Trial) -> None:
    """A full encoder shows what an encoder for players shows, and it changes when hidden information changes."""
    game = trial.game
    for name, full in _full(game).items():
        base = _base(trial, name, full)
        size, generator = base.layout.size, np.random.default_rng(4)
        hidden = shown = False
        for table, seat in trial.views():
            seen = full.observation(table, seat)
            trial.same(differences.in_observation(base.layout, seen[:size], base.observation(table, seat)))
            other = table.copy()
            game.view.resample(other, seat, generator)
            hidden = hidden or differences.in_record(table, other, ignore=("stream",)) is not None
            shown = shown or seen.tobytes() != full.observation(other, seat).tobytes()
        trial.require(shown or not hidden, f"the encoder {name!r} does not change when hidden information is resampled")


def _base(trial: Trial, name: str, full: Encoder) -> Encoder:
    """Return the encoder for players whose slices are the first ones of a full encoder."""
    slices = list(full.layout)
    for encoder in trial.game.versions.values():
        own = list(encoder.layout)
        if slices[: len(own)] == own:
            return encoder
    trial.fail(f"the layout of {name!r} does not begin with the slices of an encoder for players, such as 'v0'")
