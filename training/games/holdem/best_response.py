"""Local best response: a lower bound on how exploitable a heads-up hold'em policy is, in several settings.

Lisý and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (AAAI 2017 workshop on computer
poker). The responder knows the policy. After each action of the policy it updates its belief over the 1,326 hands with
the policy's probabilities. At its own decisions it takes the action with the highest local value: this assumes that
both sides check or call afterwards, and that a raise wins the pot with the policy's fold probability. An exact best
response wins at least as much.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game
from ....envs.core.record import Tables
from ....envs.core.rng import streams
from ....envs.core.rollout import act_of, encoder_of
from ....envs.holdem.ranges import HOLDINGS, equities, observe_holdings, possible
from ....envs.holdem.table import CALL_ACTION, FOLD_ACTION, PREFLOP
from ....wrappers.policies.base import Policy
from ...evaluation.scores import Response, Score
from .settings import CALL, SETTINGS, Setting

BOARDS = 1_000
"""Number of boards sampled for an equity before the flop; from the flop on it is exact."""
TRIES = 8
"""Number of calls of `act` per holding, for a policy without `probabilities`."""

STREETS = ("preflop", "flop", "turn", "river")
WAYS = ("folds won", "folds lost", "showdowns")
"""How a hand can end."""

FIRST = np.zeros(1, np.int64)

ProbabilitiesOn = Callable[[Any, NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]], NDArray[np.float64]]
"""By the record, indices into `HOLDINGS`, and the observations and masks of the acting seat with these holdings."""


def best_response(
    policy: Policy,
    game: Game,
    *,
    hands: int = 1_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    setting: Setting = SETTINGS[-1],
) -> Response:
    """Play local best response against `policy` and return what it wins: a lower bound on exploitability.

    Args:
        policy: the policy to exploit. If it has ``probabilities(observations, masks) -> float[N, A]``, the belief uses
            them; else they are estimated from repeated calls of `act`, and the bound is valid but lower. A policy that
            searches has ``probabilities_on`` (see `ResolvingPolicy`): the bound is that of the policy with its search.
        game: heads-up hold'em, one hand per episode.
        hands: number of hands, in pairs: every deal is played in both seats.
        seed: seed of the deals and boards. All settings play the same deals.
        progress: called with the number of hands just played.
        setting: the actions that the responder considers; all, if not given.

    Returns:
        The responder's mean in big blinds per hand with its 95 % interval over deals, and its parts by the street of
        the last action and by how the hand ended.

    Raises:
        ValueError: for another game or other options, or fewer than 4 hands.
    """
    if game.name != "holdem" or game.seats != 2 or game.options["hands"] != 1:
        raise ValueError(
            f"best response plays heads-up hold'em, one hand per episode; this is {game.id}, {game.seats} seats"
        )
    if hands < 4:
        raise ValueError(f"hands={hands}: an interval needs at least 4")
    results = []
    parts = np.zeros((len(STREETS), len(WAYS)))
    for word in streams(seed, hands // 2):
        pair = []
        for seat in range(2):
            responder = _Responder(policy, game, seat, word, setting)
            pair.append(responder.play())
            parts[responder.street, WAYS.index(responder.way)] += pair[-1]
        results.append(sum(pair) / 2)
        if progress is not None:
            progress(2)
    count, unit = 2 * len(results), game.payoffs.unit
    score = Score.of(np.array(results) / unit, f"{game.payoffs.unit_name} per hand", games=count)
    named = zip(STREETS, (parts / unit / count).tolist(), strict=True)
    return Response(score, {street: dict(zip(WAYS, row, strict=True)) for street, row in named})


class _Responder:
    """One hand of local best response in seat `me` of a table whose stream begins with `word`."""

    def __init__(self, policy: Policy, game: Game, me: int, word: np.uint64, setting: Setting = SETTINGS[-1]) -> None:
        self.policy, self.game, self.me, self.word = policy, game, me, word
        self.setting = setting
        self.street, self.way = 0, WAYS[-1]  # of the last action; how the hand ended
        self.probabilities_on = probabilities_on(policy)
        self.encoder = game.encoders[encoder_of(policy, game)]
        self.holdings = HOLDINGS
        self.belief = np.ones(len(HOLDINGS))
        self.tables = game.tables(1)
        self.table = self.tables[0]
        self.equity: tuple[int, NDArray[np.float64]] = (-1, np.zeros(0))

    def play(self) -> float:
        """Play the hand to its end and return the chips won; an all-in counts with its expected value."""
        table, game = self.table, self.game
        table.stream = self.word
        game.rules.reset(table)
        while not table.done:
            open_cards, self.street = int(table.board_count), int(table.phase) - PREFLOP
            self._forget_dealt_cards()
            if table.turn == self.me:
                action = self.choose()
            else:
                action = self._watch()
            game.rules.play(table, action)
        self.way = WAYS[2] if table.showdown else WAYS[int(table.folded[self.me])]
        if table.showdown and open_cards < 5:
            return self._run_out(open_cards)
        return float(table.rewards[self.me])

    def _run_out(self, open_cards: int) -> float:
        """Return the mean chips won over all possible boards: the same mean, with less variance."""
        table, me = self.table, self.me
        share = np.empty(1)
        equities(table.cards[me], table.board, open_cards, table.cards[1 - me][None], BOARDS, self.word, share)
        return float((2 * share[0] - 1) * table.committed[me])

    def choose(self) -> int:
        """Return the action index of the greatest local value; fold only if all others lose (the paper's rule)."""
        table, me, you = self.table, self.me, 1 - self.me
        if self.setting.considered(table) == CALL:
            return CALL_ACTION
        alive = np.flatnonzero(self.belief)
        belief, equity = self.belief[alive], self._equity()[alive]
        # The opponent's chips above the responder's stack are returned.
        matched = int(table.bet[me]) + int(table.stack[me])
        pot = int(table.pot) - max(0, int(table.bet[you]) - matched)
        asked = int(table.to_call)
        share = belief @ equity
        best, value = CALL_ACTION, share * pot - (1 - share) * asked
        raises = self.setting.raises(self.game, table, np.flatnonzero(game_mask(self.game, table)).tolist())
        for action, folds in zip(raises, self._folds(raises, alive), strict=True):
            folding = belief @ folds
            staying = belief * (1 - folds)
            share = staying @ equity / max(staying.sum(), 1e-12)
            amount = min(int(self.game.rules.decode(table, action).amount), int(table.bet[you]) + int(table.stack[you]))
            added = amount - int(table.bet[me]) - asked
            called = share * (pot + added) - (1 - share) * (asked + added)
            raised = folding * pot + (1 - folding) * called
            if raised > value:
                best, value = action, raised
        return best if value >= 0 else FOLD_ACTION

    def _watch(self) -> int:
        """Play the policy's action, and update the belief with its probability for each holding."""
        table = self.table
        mask = game_mask(self.game, table)
        seen = self.encoder.observation(table, int(table.turn))
        action = int(act_of(self.policy, self.tables, FIRST, seen[None], mask[None])[0])
        alive = np.flatnonzero(self.belief)
        self._believe(alive, self.belief[alive] * self._chances(self.tables, alive)[:, action])
        return action

    def _folds(self, raises: list[int], alive: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the policy's probability of folding to each raise at each holding: float64[raises, holdings]."""
        folds = np.zeros((len(raises), len(alive)))
        for number, action in enumerate(raises):
            after = self.tables.copy().view(np.recarray)
            self.game.rules.play(after[0], action)
            folds[number] = self._chances(after, alive)[:, FOLD_ACTION]
        return folds

    def _chances(self, tables: Tables, alive: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the policy's probabilities of its actions at a table with each of these holdings: float64[M, A]."""
        observations = observe_holdings(
            self.encoder, tables.copy().view(np.recarray), 1 - self.me, self.holdings[alive]
        )
        masks = np.repeat(game_mask(self.game, tables[0])[None], len(alive), axis=0)
        return self.probabilities_on(tables[0], alive, observations, masks)

    def _forget_dealt_cards(self) -> None:
        table = self.table
        known = np.concatenate([table.cards[self.me], table.board[: table.board_count]])
        free = np.empty(len(self.holdings), np.bool_)
        possible(self.holdings, known, len(known), free)
        alive = np.flatnonzero(free)
        self._believe(alive, self.belief[alive])

    def _believe(self, alive: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """Set the belief to `weights` of the `alive` holdings; uniform if all weights are 0."""
        total = weights.sum()
        self.belief[:] = 0
        self.belief[alive] = weights / total if total > 1e-12 else 1 / len(alive)

    def _equity(self) -> NDArray[np.float64]:
        """Return the responder's share of the pot at showdown against each holding, once per street: float64[1326]."""
        table = self.table
        count = int(table.board_count)
        if self.equity[0] != count:
            alive = np.flatnonzero(self.belief)
            found = np.empty(len(alive))
            equities(table.cards[self.me], table.board, count, self.holdings[alive], BOARDS, self.word, found)
            whole = np.zeros(len(self.holdings))
            whole[alive] = found
            self.equity = count, whole
        return self.equity[1]


def game_mask(game: Game, table: Any) -> NDArray[np.int8]:
    """Return the action mask of the acting seat, int8[num_actions]."""
    return game.mask(table, int(table.turn))


def probabilities_on(policy: Policy) -> ProbabilitiesOn:
    """Return the policy's ``probabilities_on`` or ``probabilities``, or an estimate from `TRIES` calls of `act`."""
    known: ProbabilitiesOn | None = getattr(policy, "probabilities_on", None)
    if known is not None:
        return known
    observed = getattr(policy, "probabilities", None) or _Tried(policy)
    return lambda table, hands, observations, masks: np.asarray(observed(observations, masks), np.float64)


class _Tried:
    """Estimates with add-one smoothing."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __call__(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float64]:
        counts = masks / masks.sum(axis=1, keepdims=True)
        rows = np.arange(len(masks))
        for _ in range(TRIES):
            counts[rows, self.policy.act(observations, masks)] += 1
        return np.asarray(counts / (TRIES + 1), np.float64)
