"""Secrecy: two tables that differ only in what a seat may not know look the same to that seat, byte for byte."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core.aec import GameEnv
from ..core.encoder import Encoder
from ..core.game import Game
from ..core.match import Match
from ..core.rollout import RandomPolicy, play_until_done, tables_with_seed
from ..core.turn_state import TurnState
from .trial import (
    Chatter,
    NotTried,
    Trial,
    chooser,
    in_mask,
    in_observation,
    in_observations,
    in_record,
    in_turn_state,
    warn_of_fields,
)


def loads(trial: Trial) -> None:
    """A TurnState, sent as JSON, loads to the same observations and mask, for every seat at every decision.

    The observations are those of every encoder that a policy may play with. What the others show cannot be loaded.
    """
    game = trial.game
    for table, seat in trial.views():
        _compare_views(trial, game.turn_state(table, seat, match_id="m"), table, seat)


def loads_with_messages(trial: Trial) -> None:
    """The same holds in matches with public and private messages."""
    game = trial.game
    for seed in trial.seeds():
        for match in trial.matches(seed):
            for seat in trial.watched(match.table):
                trial.seat = seat
                _compare_views(trial, match.turn_state(game.agents[seat]), match.table, seat)


def _compare_views(trial: Trial, state: TurnState, table: object, seat: int) -> None:
    game = trial.game
    received = TurnState.from_json(state.to_json())
    trial.same(in_turn_state(state, received))
    tables, own = game.view.load(received)
    trial.same(in_observations(game.versions, (tables[0], own), (table, seat)))
    trial.same(in_mask(game.mask(tables[0], own), game.mask(table, seat)))


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
        states = [game.turn_state(one, seat) for one in (table, other)]
        trial.same(in_turn_state(*states))
        trial.same(in_observations(game.versions, (table, seat), (other, seat)))
        trial.same(in_mask(game.mask(table, seat), game.mask(other, seat)))
        text, other_text = (game.renderer.text([state]) for state in states)
        trial.require(text == other_text, "the rendered text of the seat differs")
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
        trial.same(in_turn_state(seen, TurnState.from_json(seen.to_json())))
        trial.require(seen.game_over == bool(table.done), f"game_over is {seen.game_over} in the public view")
        trial.require(not seen.allowed_actions, "the public view allows actions")
        other = table.copy()
        game.view.resample(other, seat, generator)
        trial.same(in_turn_state(seen, game.public_turn_state(other, match_id="m")))
        hidden = hidden or _hidden(table, other)
    _require_hidden(game, hidden)


def _hidden(table: Any, other: Any) -> bool:
    """Return True if two records differ in more than the random stream."""
    return in_record(table, other, ignore=("stream",)) is not None


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
    trial.same(in_turn_state(one.turn_state(agent), other.turn_state(agent)))
    trial.same(in_observations(trial.game.versions, (one.table, seat), (other.table, seat)))
    if trial.game.public_view is not None:
        trial.same(in_turn_state(one.public_turn_state(), other.public_turn_state()))


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
                game, [SimpleNamespace(encoder=name, act=RandomPolicy(0).act)], tables_with_seed(game, 1, 0)
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
            trial.same(in_observation(base.layout, seen[:size], base.observation(table, seat)))
            other = table.copy()
            game.view.resample(other, seat, generator)
            hidden = hidden or in_record(table, other, ignore=("stream",)) is not None
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


ROUNDING = 1e-9
"""What rewards that are fractions may lose by rounding, as a share of the largest return."""


def payoffs(trial: Trial) -> None:
    """Zero-sum rewards sum to zero at every step, shared ones are equal; returns are in bounds, and in the outcome."""
    game = trial.game
    declared = game.payoffs
    slack = ROUNDING * max(1.0, abs(declared.low), abs(declared.high))
    for seed in trial.seeds():
        total = np.zeros(game.seats)
        for table in trial.decisions(seed):
            rewards = table.rewards[: game.seats]
            trial.require(np.isfinite(rewards).all(), f"rewards are {rewards.tolist()}")
            trial.require(trial.decision or not rewards.any(), f"rewards before the first decision: {rewards.tolist()}")
            trial.require(
                not declared.zero_sum or abs(rewards.sum()) <= slack,
                f"rewards {rewards.tolist()} do not sum to zero, though payoffs.zero_sum is set",
            )
            trial.require(
                not declared.shared or (rewards == rewards[0]).all(),
                f"rewards {rewards.tolist()} differ, though payoffs.shared is set",
            )
            total += rewards
        for trial.seat, won in enumerate(total.tolist()):
            trial.require(
                declared.low - slack <= won <= declared.high + slack,
                f"the seat won {won:g}; payoffs declares {declared.low:g} to {declared.high:g}",
            )
            outcome = game.turn_state(table, trial.seat).outcome or {}
            utilities = [row.get("utility") for row in outcome.get("payoffs", ())]
            trial.require(
                len(utilities) == game.seats and np.allclose(utilities, total),
                f"the outcome shows the utilities {utilities}; the seats won {total.tolist()}",
            )


def turns(trial: Trial) -> None:
    """The acting seat has a legal action, the game's safe action is legal, and no seat acts after the end."""
    game = trial.game
    for seed in trial.seeds():
        for table in trial.decisions(seed):
            if table.done:
                trial.require(table.turn == -1, f"the episode is over, and turn is {table.turn}, not -1")
                continue
            trial.require(0 <= table.turn < game.seats, f"turn is {table.turn}; there are {game.seats} seats")
            mask = game.mask(table, int(table.turn))
            trial.require(mask.any(), "no action is legal")
            trial.require(np.isin(mask, (0, 1)).all(), f"the mask has other values than 0 and 1: {mask.tolist()}")
            safe = game.view.safe(table)
            trial.require(mask[safe], f"the safe action {safe} is not legal; legal are {np.flatnonzero(mask).tolist()}")
