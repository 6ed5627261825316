"""Secrecy: two tables that differ only in what a seat may not know look the same to that seat, byte for byte."""

from typing import Any

import numpy as np

from ..core.game import Game
from ..core.match import Match
from ..core.turn_state import TurnState
from . import differences
from .shown import warn_of_fields
from .trial import Chatter, NotTried, Trial, chooser

HIDES_NOTHING = "the game hides nothing: its view shows every field of its own"
NOTHING_LIKE_IT = "no two of the random episodes differ in hidden fields alone: give the game a view with `resample`"


def seats(trial: Trial) -> None:
    """`View.resample` redraws what a seat cannot know; its TurnState, observations, mask and text do not change.

    It is not tried where `resample` redraws nothing but the random stream.
    """
    warn_of_fields(trial)
    game, generator, changed, hidden = trial.game, np.random.default_rng(2), False, False
    for table, seat in trial.views():
        other = table.copy()
        game.view.resample(other, seat, generator)
        trial.same(differences.in_turn_state(game.turn_state(table, seat), game.turn_state(other, seat)))
        trial.same(differences.in_observations(game.versions, (table, seat), (other, seat)))
        trial.same(differences.in_mask(game.mask(table, seat), game.mask(other, seat)))
        trial.require(
            game.renderer.text(table, seat) == game.renderer.text(other, seat), "the rendered text of the seat differs"
        )
        changed = changed or other.tobytes() != table.tobytes()
        hidden = hidden or _hidden(table, other)
    trial.require(changed, "View.resample changes nothing, not even the random stream")
    _require_hidden(game, hidden)


def public_view(trial: Trial) -> None:
    """Observers without a seat know no more than any seat does.

    It is not tried where `View.resample` redraws nothing but the random stream.
    """
    game, generator, hidden = trial.game, np.random.default_rng(3), False
    if game.public_view is None:
        raise NotTried("the game has no public view")
    for table, seat in trial.views():
        seen = game.public_turn_state(table, match_id="m")
        trial.same(differences.in_turn_state(seen, TurnState.from_json(seen.to_json())))
        trial.require(seen.game_over == bool(table.done), f"game_over is {seen.game_over} in the public view")
        trial.require(not seen.allowed_actions, "the public view allows actions")
        other = table.copy()
        game.view.resample(other, seat, generator)
        trial.same(differences.in_turn_state(seen, game.public_turn_state(other, match_id="m")))
        text, other_text = (game.renderer.text(one, -1) for one in (table, other))
        trial.require(text == other_text, "the rendered text for those who look on (seat -1) differs")
        hidden = hidden or _hidden(table, other)
    _require_hidden(game, hidden)


def _hidden(table: Any, other: Any) -> bool:
    """Return whether two records differ in more than the random stream."""
    return differences.in_record(table, other, ignore=("stream",)) is not None


def _require_hidden(game: Game, hidden: bool) -> None:
    """Raise `NotTried` where nothing was hidden that a view could have shown."""
    if not hidden:
        raise NotTried(NOTHING_LIKE_IT if game.hidden else HIDES_NOTHING)


def messages(trial: Trial) -> None:
    """A seat cannot see messages for others, or whether there are any: two matches, one with more messages."""
    for seed in trial.seeds():
        for seat in range(trial.game.seats) if trial.game.seats <= 3 else (seed % trial.game.seats,):
            _play_twice(trial, seed, seat)


def _play_twice(trial: Trial, seed: int, seat: int) -> None:
    game = trial.game
    quiet, busy = Match(game), Match(game)
    choose, chatter = chooser(game, seed), Chatter(game, [seed, seat])
    others = tuple(agent for agent in game.agents if agent != game.agents[seat])
    for match in (quiet, busy):
        match.reset(seed=seed)
    trial.decision = 0
    while True:
        trial.seat = seat
        _compare(trial, quiet, busy, seat)
        if quiet.done:
            return
        chatter.listen(busy)
        sender, intent = chatter.one_of(game.agents), chatter.intent(game.agents)
        for match in (quiet, busy):
            match.send(sender, intent)
        if others:
            busy.send(chatter.one_of(others), chatter.intent(others, private=True))
        _compare(trial, quiet, busy, seat)
        # Messages are limited: after many of them, fewer actions may be legal in the second match.
        action = choose(busy.mask & quiet.mask)
        for match in (quiet, busy):
            match.play(action)
        trial.decision += 1


def _compare(trial: Trial, one: Match, other: Match, seat: int) -> None:
    agent = trial.game.agents[seat]
    trial.same(differences.in_turn_state(one.turn_state(agent), other.turn_state(agent)))
    trial.same(differences.in_observations(trial.game.versions, (one.table, seat), (other.table, seat)))
    if trial.game.public_view is not None:
        trial.same(differences.in_turn_state(one.public_turn_state(), other.public_turn_state()))
