"""The frame of scripted players: a rule from what a seat sees to the number that it chooses."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game

Floats = NDArray[np.float64]
Bots = Mapping[str, Callable[..., Any]]
"""Scripted players by name: `Game.bots`."""


class Seen(NamedTuple):
    """What the acting seats of N tables see, in the game's own units.

    Attributes:
        game: the game.
        seat: int64[N], the own seat.
        phase: int64[N], the index of the phase.
        private: float64[N], the own private value.
        chosen: bool[N, phases, seats], who has chosen, by relative seat.
        number: float64[N, phases, seats], the numbers that are known, by relative seat.
        turns_left: float64[N], the share of the phase's turns that are left.
        past: float64[N, seats], the numbers of the last round's first phase, by relative seat; 0 in the first round.
        begun: bool[N], whether a round with a choice has been played before.
        random: the bot's random numbers.
        standing: float64[N], the standing number of an open phase; 0 in games without.
        owner: bool[N, seats], whose number it is, by relative seat.
        within: bool[N, seats], who has not left, by relative seat.
        facts: float64[N, F], the facts of the round; F is 0 in games without.
        parameters: float64[P], the numbers that the payoffs depend on.
    """

    game: Game
    seat: NDArray[np.int64]
    phase: NDArray[np.int64]
    private: Floats
    chosen: NDArray[np.bool_]
    number: Floats
    turns_left: Floats
    past: Floats
    begun: NDArray[np.bool_]
    random: np.random.Generator
    standing: Floats
    owner: NDArray[np.bool_]
    within: NDArray[np.bool_]
    facts: Floats
    parameters: Floats

    def parameter(self, index: int) -> float:
        """Return a number that the payoffs depend on."""
        return float(self.parameters[index])


class PhaseBot:
    """A player that chooses a number by a rule.

    It plays the legal action index that is nearest to the number. A named action has its own number (`Named.value`).
    The bot does not pass, unless its rule names the index of `pass`, or nothing else is legal.

    Args:
        rule: from `Seen` to float64[N]; or to a tuple of int64[N], indices of action types, and float64[N]; or to a
            tuple of these two and float64[N, 2], further numbers.
        game: a game in phases.
        seed: seed of the rule's random numbers.

    Attributes:
        numbers: float64[A], the number of each action index; 0 for `pass`.
    """

    encoder = "v0"

    def __init__(self, rule: Callable[[Seen], Any], game: Game, seed: int | None = None) -> None:
        self._rule = rule
        self._game = game
        self._random = np.random.default_rng(seed)
        table = game.rules.blank[0]
        kinds = int(table.kinds)
        counts = np.diff(table.first[: kinds + 1])
        self._kind = np.repeat(np.arange(kinds), counts)
        inside = np.arange(game.num_actions) - np.repeat(table.first[:kinds], counts)
        blocks = np.repeat(table.block[:kinds], counts)
        self.numbers = np.repeat(table.origin[:kinds], counts) + inside // blocks * np.repeat(table.gap[:kinds], counts)
        rest, points = inside % blocks, int(table.further_points[1])
        self._further = np.stack([rest // points, rest % points], 1) * table.further_gap
        self._facts = 1 / np.array([one for one in table.per_fact if one > 0])
        self._numbers = 1 / np.array(table.per_number[: table.phases])[None, :, None]
        self._private = 1 / float(table.per_private) if table.per_private else 0.0
        self._parameters = np.array(table.parameter, np.float64)

    def set_terms(self, table: Any) -> None:
        """Take the numbers that the payoffs depend on from a host's table, amounts in proportion to the game's own."""
        self._parameters = np.array(table.parameter * table.per_parameter, np.float64)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        wanted = self._rule(self._seen(observations))
        kinds, values, *further = wanted if isinstance(wanted, tuple) else (None, wanted)
        distance = np.abs(self.numbers - np.asarray(values, np.float64)[:, None])
        if kinds is not None:
            distance = distance + 1e12 * (self._kind != np.asarray(kinds)[:, None])
        for each in further:
            distance = distance + np.abs(self._further - each[:, None]).sum(axis=2)
        passing = (self._kind == self._kind[-1]) & (True if kinds is None else np.asarray(kinds)[:, None] < self._kind)
        return np.argmin(np.where(masks > 0, distance + 1e15 * passing, np.inf), axis=1)

    def phases(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the phase of each row of float32[N, D] observations: int64[N]."""
        part = self._game.encoders[self.encoder].layout["phase"]
        return observations[:, part.start : part.stop].argmax(axis=1)

    def _seen(self, observations: NDArray[np.float32]) -> Seen:
        layout = self._game.encoders[self.encoder].layout
        paths = {part.path for part in layout}

        def part(path: str) -> Any:
            entry = layout[path]
            return observations[:, entry.start : entry.stop].reshape(-1, *entry.shape).astype(np.float64)

        standing = "game_state.standing"
        open_phase = standing in paths
        chosen = part("game_state.chosen") > 0
        past, past_chosen = "game_state.history.choices", "game_state.history.chosen"
        return Seen(
            self._game,
            part("agent_id").argmax(axis=1),
            part("phase").argmax(axis=1),
            np.round(part("game_state.my_private_value")[:, 0] * self._private, 2),
            chosen,
            np.round(part("game_state.choices") * self._numbers, 5),
            part("game_state.turns_left")[:, 0],
            np.round(part(past)[:, 0] * self._numbers, 5)[:, 0] if past in paths else part("agent_id") * 0,
            part(past_chosen)[:, 0].any(axis=(1, 2)) if past_chosen in paths else np.zeros(len(observations), np.bool_),
            self._random,
            np.round(part(standing)[:, 0] * self._numbers[0, -1, 0], 5) if open_phase else chosen.sum((1, 2)) * 0.0,
            part("game_state.owner") > 0 if open_phase else chosen[:, 0],
            part("game_state.within") > 0 if open_phase else np.ones_like(chosen[:, 0]),
            np.round(part("game_state.facts") * self._facts, 5) if len(self._facts) else chosen[:, 0, :0] * 0.0,
            self._parameters,
        )


def _made(rule: Callable[[Seen], Any], game: Game, seed: int | None = None) -> PhaseBot:
    return PhaseBot(rule, game, seed)


def bot(rule: Callable[[Seen], Any]) -> Callable[..., PhaseBot]:
    """Return the function that makes a player by `rule`, as `Game.bots` has them; `rule` is a function of a module."""
    return partial(_made, rule)
