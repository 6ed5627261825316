"""Hold'em: local best response, and opponents whose raises have sizes that a policy does not have.

Local best response is a lower bound on how exploitable a heads-up policy is, in several settings: Lisý and Bowling,
"Equilibrium Approximation Quality of Current No-Limit Poker Bots" (AAAI 2017 workshop on computer poker). The responder
knows the policy. After each action of the policy it updates its belief over the 1,326 hands with the policy's
probabilities. At its own decisions it takes the action with the highest local value: this assumes that both sides check
or call afterwards, and that a raise wins the pot with the policy's fold probability. An exact best response wins at
least as much. The settings are those of the paper, with the raises of the game's menu in place of theirs, and one of
our own from the start. Before the first street with raises the responder only checks or calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game, streams
from ....envs import game as make_game
from ....envs.core.record import Tables
from ....envs.core.rollout import Policy, act_of, encoder_of, played
from ....envs.holdem.bots import Style, styled
from ....envs.holdem.luck import OPEN
from ....envs.holdem.ranges import HOLDINGS, equities, observe_holdings, possible, weights_of
from ....envs.holdem.rules import entry_kind, entry_seat
from ....envs.holdem.table import CALL as LIMP
from ....envs.holdem.table import CALL_ACTION, FOLD, FOLD_ACTION, LEAST_RAISE, PREFLOP, RAISE
from ....wrappers.policies.base import LearnedPolicy
from ....wrappers.policies.elsewhere import ElsewherePolicy
from ...parallel.tasks import Tick, ignore
from ..duplicate import Score, evaluate
from ..exploit import Estimated, Win
from . import Comparison, Measures, Quantity, mean, play

CALL, FOLD_OR_CALL, POT_OR_ALL_IN, ALL = range(4)
"""On one street: only check or call; also fold; also raise by the pot or all-in; also all raises."""


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        name: its name in tables and JSON.
        streets: what is considered before the flop, on the flop, on the turn and on the river.
    """

    name: str
    streets: tuple[int, int, int, int]

    def considered(self, table: Any) -> int:
        """Return the actions that are considered on the street of a hand."""
        return self.streets[int(table.phase) - PREFLOP]

    def raises(self, game: Game, table: Any, legal: list[int]) -> list[int]:
        """Return those of the legal action indices that are raises the responder considers.

        Where no raise of the menu is exactly the pot, the nearest one stands for it.
        """
        among = [action for action in legal if action >= LEAST_RAISE]
        kind = self.considered(table)
        if kind == ALL or not among:
            return among
        if kind != POT_OR_ALL_IN:
            return []
        after_call = int(table.pot) + int(table.to_call)
        amounts = {action: int(game.rules.decode(table, action).amount) for action in among}
        pot = min(among, key=lambda action: abs(amounts[action] - int(table.current_bet) - after_call))
        return [action for action in among if action in (pot, max(among, key=amounts.__getitem__))]


SETTINGS = (
    Setting("fold or call", (FOLD_OR_CALL,) * 4),
    Setting("pot and all-in from the turn", (CALL, CALL, POT_OR_ALL_IN, POT_OR_ALL_IN)),
    Setting("all raises from the turn", (CALL, CALL, ALL, ALL)),
    Setting("all raises from the flop", (CALL, ALL, ALL, ALL)),
    Setting("all raises from the start", (ALL,) * 4),
)
"""All settings."""


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
    progress: Tick = ignore,
    setting: Setting = SETTINGS[-1],
) -> Win:
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
        the last action and by how the hand ended. If the policy tells its probabilities, luck is taken out of the mean
        (see `_Responder`), and `unadjusted` is the mean with it.

    Raises:
        ValueError: for another game or other options, a given board of which not all cards are open at the start, or
            fewer than 4 hands.
    """
    if game.name != "holdem" or game.seats != 2 or game.options["hands"] != 1:
        raise ValueError(
            f"best response plays heads-up hold'em, one hand per episode; this is {game.id}, {game.seats} seats"
        )
    if hands < 4:
        raise ValueError(f"hands={hands}: an interval needs at least 4")
    open_cards, board = OPEN[STREETS.index(game.options["start"])], game.options["board"] or []
    if len(board) > open_cards:
        raise ValueError(
            f"board={board}: best response takes the later cards of the board for random; give at most "
            f"{open_cards} with start={game.options['start']!r}"
        )
    won, luck = np.zeros((hands // 2, 2)), np.zeros((hands // 2, 2))
    parts = np.zeros((len(STREETS), len(WAYS)))
    for deal, word in enumerate(streams(seed, hands // 2)):
        for seat in range(2):
            responder = _Responder(policy, game, seat, word, setting)
            won[deal, seat] = responder.play()
            luck[deal, seat] = responder.luck
            parts[responder.street, WAYS.index(responder.way)] += won[deal, seat]
        progress(2)
    unit, name = game.payoffs.unit, f"{game.payoffs.unit_name} per hand"
    scores = [Score.of(each.mean(axis=1) / unit, name, games=won.size) for each in (won - luck, won)]
    named = zip(STREETS, (parts / unit / won.size).tolist(), strict=True)
    parts_by_street = {street: dict(zip(WAYS, row, strict=True)) for street, row in named}
    return Win("best response", "local", scores[0], parts=parts_by_street, unadjusted=scores[1])


class _Responder:
    """One hand of local best response in seat `me` of a table whose stream begins with `word`.

    If the policy tells its probabilities, the belief is exactly how likely each holding is. So a showdown counts with
    its mean over the belief ("imaginary observations": Bowling, Johanson, Burch and Szafron, ICML 2008), and `luck` is
    what the responder won, with mean 0, by the cards of the board and by the actions that the policy drew. They are the
    terms of AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling, AAAI 2018) with the value of checking down.
    """

    def __init__(self, policy: Policy, game: Game, me: int, word: np.uint64, setting: Setting = SETTINGS[-1]) -> None:
        self.policy, self.game, self.me, self.word = policy, game, me, word
        self.setting = setting
        self.street, self.way = 0, WAYS[-1]  # of the last action; how the hand ended
        self.luck = 0.0
        self.knows_probabilities = hasattr(policy, "probabilities_on") or played(policy) is not None
        self.probabilities_on = probabilities_on(policy)
        self.encoder = game.encoders[encoder_of(policy, game)]
        ranges = game.options["ranges"]
        own_range = None if ranges is None else ranges[1 - me]
        self.belief = np.ones(len(HOLDINGS)) if own_range is None else np.array(weights_of(own_range))
        self.tables = game.tables(1)
        self.table = self.tables[0]
        self.equity: tuple[int, NDArray[np.float64]] = (-1, np.zeros(0))  # by which it decides
        # What it is paid is counted with other boards: the best of noisy values is too high.
        self.paying, self.paid = streams(int(word), 1)[0], self.equity

    def play(self) -> float:
        """Play the hand to its end and return the chips won; an all-in counts with its expected value."""
        table, game = self.table, self.game
        table.stream = self.word
        game.rules.reset(table)
        while not table.done:
            open_cards, self.street = int(table.board_count), int(table.phase) - PREFLOP
            self._see_board()
            if table.turn == self.me:
                action = self.choose()
            else:
                action = self._watch()
            game.rules.play(table, action)
        self.way = WAYS[2] if table.showdown else WAYS[int(table.folded[self.me])]
        if table.showdown and self.knows_probabilities:
            return float((2 * (self.belief @ self._paid(open_cards)) - 1) * table.committed[self.me])
        if table.showdown and open_cards < 5:  # the mean over all possible boards: the same, with less variance
            share, theirs = np.empty(1), table.cards[1 - self.me][None]
            equities(table.cards[self.me], table.board, open_cards, theirs, BOARDS, self.paying, share)
            return float((2 * share[0] - 1) * table.committed[self.me])
        return float(table.rewards[self.me])

    def _see_board(self) -> None:
        """Drop the holdings that new cards of the board rule out; count the luck of these cards."""
        table = self.table
        open_before, count = self.paid[0], int(table.board_count)
        before = self.belief @ self.paid[1] if open_before >= 0 else 0.0
        seen, free = np.concatenate([table.cards[self.me], table.board[:count]]), np.empty(len(HOLDINGS), np.bool_)
        possible(HOLDINGS, seen, len(seen), free)
        alive = np.flatnonzero(free)
        self._believe(alive, self.belief[alive])
        if self.knows_probabilities and open_before != count:
            after = self.belief @ self._paid(count)
            if open_before >= 0:
                self.luck += 2 * float(table.committed[self.me]) * float(after - before)

    def choose(self) -> int:
        """Return the action index of the greatest local value; fold only if all others lose (the paper's rule)."""
        table, me, you = self.table, self.me, 1 - self.me
        if self.setting.considered(table) == CALL:
            return CALL_ACTION
        alive = np.flatnonzero(self.belief)
        belief, equity = self.belief[alive], self._equity(int(table.board_count))[alive]
        # The opponent's chips above the responder's stack are returned.
        matched = int(table.bet[me]) + int(table.stack[me])
        pot = int(table.pot) - max(0, int(table.bet[you]) - matched)
        to_call = int(table.to_call)
        share = belief @ equity
        best, value = CALL_ACTION, share * pot - (1 - share) * to_call
        raises = self.setting.raises(self.game, table, np.flatnonzero(self.game.mask(table, int(table.turn))).tolist())
        for action in raises:
            after = self.tables.copy().view(np.recarray)
            self.game.rules.play(after[0], action)
            folds = self._chances(after, alive)[:, FOLD_ACTION]
            folding = belief @ folds
            staying = belief * (1 - folds)
            share = staying @ equity / max(staying.sum(), 1e-12)
            amount = min(int(self.game.rules.decode(table, action).amount), int(table.bet[you]) + int(table.stack[you]))
            added = amount - int(table.bet[me]) - to_call
            called = share * (pot + added) - (1 - share) * (to_call + added)
            raised = folding * pot + (1 - folding) * called
            if raised > value:
                best, value = action, raised
        return best if value >= 0 else FOLD_ACTION

    def _watch(self) -> int:
        """Play the policy's action, and update the belief with its probability for each holding."""
        table = self.table
        mask = self.game.mask(table, int(table.turn))
        seen = self.encoder.observation(table, int(table.turn))
        action = int(act_of(self.policy, self.tables, FIRST, seen[None], mask[None])[0])
        alive = np.flatnonzero(self.belief)
        weights = self.belief[alive, None] * self._chances(self.tables, alive)
        if self.knows_probabilities:
            self.luck += self._luck_of(action, weights, self._paid(int(table.board_count))[alive])
        self._believe(alive, weights[:, action])
        return action

    def _luck_of(self, action: int, weights: NDArray[np.float64], equity: NDArray[np.float64]) -> float:
        """Return the value of the policy's action less the mean value of the actions that it could have drawn.

        Args:
            action: the policy's action.
            weights: how likely each holding and action are together, float64[M, A].
            equity: the responder's share of the pot against each holding, float64[M].
        """
        table, me, you = self.table, self.me, 1 - self.me
        chances = weights.sum(axis=0)
        possible_actions = np.flatnonzero(chances)
        values = np.zeros(len(chances))
        mine, theirs = int(table.committed[me]), int(table.committed[you])
        for each in possible_actions.tolist():
            if each == FOLD_ACTION:
                values[each] = theirs
                continue
            lead = 2 * float(weights[:, each] @ equity) / chances[each] - 1
            if each == CALL_ACTION:
                values[each] = lead * min(mine, theirs + int(table.to_call))
            else:
                put = theirs - int(table.bet[you]) + int(self.game.rules.decode(table, each).amount)
                values[each] = max(-mine, lead * min(put, mine + int(table.stack[me])))
        return float(values[action] - chances @ values / chances.sum())

    def _chances(self, tables: Tables, alive: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the policy's probabilities of its actions at a table with each of these holdings: float64[M, A]."""
        observations = observe_holdings(self.encoder, tables.copy().view(np.recarray), 1 - self.me, HOLDINGS[alive])
        masks = np.repeat(self.game.mask(tables[0], int(tables[0].turn))[None], len(alive), axis=0)
        return self.probabilities_on(tables[0], alive, observations, masks)

    def _believe(self, alive: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """Set the belief to `weights` of the `alive` holdings; uniform if all weights are 0."""
        total = weights.sum()
        self.belief[:] = 0
        self.belief[alive] = weights / total if total > 1e-12 else 1 / len(alive)

    def _equity(self, count: int) -> NDArray[np.float64]:
        """Return the responder's share of the pot at showdown against each holding, once per street: float64[1326].

        Args:
            count: the number of open cards of the board.
        """
        if self.equity[0] != count:
            self.equity = count, self._shares(count, self.word)
        return self.equity[1]

    def _paid(self, count: int) -> NDArray[np.float64]:
        """Return the same with other boards where they are sampled."""
        if self.paid[0] != count:
            self.paid = count, self._shares(count, self.paying) if count < OPEN[1] else self._equity(count)
        return self.paid[1]

    def _shares(self, count: int, word: np.uint64) -> NDArray[np.float64]:
        alive = np.flatnonzero(self.belief)
        won, shares = np.empty(len(alive)), np.zeros(len(HOLDINGS))
        equities(self.table.cards[self.me], self.table.board, count, HOLDINGS[alive], BOARDS, word, won)
        shares[alive] = won
        return shares


def probabilities_on(policy: Policy) -> ProbabilitiesOn:
    """Return the policy's ``probabilities_on``, or what it tells by `played`, or an estimate from `TRIES` calls."""
    own: ProbabilitiesOn | None = getattr(policy, "probabilities_on", None)
    if own is not None:
        return own
    observed = played(policy) or Estimated(policy, TRIES, prior=1).probabilities
    return lambda table, hands, observations, masks: np.asarray(observed(observations, masks), np.float64)


NEVER = 2.0
EVERY_HAND = Style._make([*[(100.0, 0.0, 0.0)] * 4, *[(0.0, 0.0, 0.0)] * 2, 0])
STYLES = {
    "min-raises on every street": EVERY_HAND,
    "limps, and raises strong hands later": Style(
        first=(0.0, 0.8, 1.0),
        limped=(0.0, 0.8, 1.0),
        raised=(0.15, 0.5, 1.0),
        unbet=(NEVER, 0.0, 1.0),
        bet=(0.7, 0.0, 1.0),
        bluffs=0,
    ),
    "bets half of the pot on every street": Style(raised=(0.12, 0.5, 1.0), unbet=(0.35, 0.0, 0.5)),
    "bets twice the pot": Style(raised=(0.12, 0.5, 1.0), unbet=(0.55, 0.0, 2.0), bet=(0.7, 0.0, 2.0)),
    "re-raises before the flop": Style(raised=(0.55, 0.7, 1.0), reraised=(0.1, 0.25, 1.0), unbet=(0.45, 0.0, 0.66)),
}
"""The exploiters by name. The bot `call` is one more, the calling station."""


def scripted(policy: Policy, game: Game, *, style: Style, hands: int, seed: int = 0, **played: Any) -> Win:
    """Return the win of an exploiter from a policy in so many hands; `played` is ``progress`` of `evaluate`."""
    deals, opponent = max(2, hands // game.seats), styled(style, game, seed)
    return Win("exploiter", "local", evaluate(opponent, game, [policy], deals=deals, seed=seed, **played))


SIZES = {"small bets": (0.15, 0.25), "over-bets": (1.6, 2.4)}
"""Raises off the menu, as shares of the pot: in every other spot. Small bets are legal in large pots alone."""


def off_menu(policy: Policy, game: Game, *, style: Style, sizes: str, **played: Any) -> Win:
    """Return the win of a player with this style from a saved policy, by raises that are not on the policy's menu.

    The policy plays as at a live table: it reads the amounts as they are, and has its own menu.

    Args:
        policy: the policy.
        game: its game.
        style: when the player raises.
        sizes: of `SIZES`.
        played: see `scripted`.

    Raises:
        ValueError: for a policy that does not say what it was trained for.
    """
    if not isinstance(policy, LearnedPolicy) or policy.trained_for is None:
        raise ValueError("sizes off the menu are played against a saved policy without search")
    own = policy.trained_for.make_game().options["pot_fractions"]
    table = make_game(game.name, **{**game.options, "pot_fractions": sorted({*own, *SIZES[sizes]})})
    spots = [(raises, calls, SIZES[sizes][number % 2]) for number, (raises, calls, _) in enumerate(style[:-1])]
    player = ElsewherePolicy(policy, policy.trained_for, table)
    return scripted(player, table, style=Style._make([*spots, style.bluffs]), **played)


POSITIONS = {"button": 47.5, "cutoff": 27.0, "hijack": 20.0, "under the gun": 17.5}
"""From the button backwards at six seats, how often strong players raise first in: published ranges for 100 big blinds
say 40 to 55, 25 to 30, 18 to 23 and 15 to 20 % of the hands."""


def preflop(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
    """Compare the play of the policy in all six seats where all before it have folded; see `POSITIONS`."""
    if game.seats != len(POSITIONS) + 2 or game.options["start"] != "preflop":
        return None
    first: dict[str, list[int]] = {position: [] for position in POSITIONS}
    players = []
    for table in play(policy, game, matches, seed):
        if table.seated.sum() < game.seats:
            continue
        entries = table.log[: table.log_end[0]].tolist()
        players.append(game.seats - sum(entry_kind(entry) == FOLD for entry in entries))
        for entry in entries:
            place = (int(table.dealer) - entry_seat(entry)) % game.seats
            if place < len(POSITIONS):
                first[list(POSITIONS)[place]].append(entry_kind(entry))
            if entry_kind(entry) != FOLD:
                break
    lines = [
        Quantity(f"{word}, {where}", f"{word} first in, {where}", mean(100.0 * (np.array(kinds) == kind)), known, "%")
        for where, kinds in first.items()
        for word, kind, known in (("raises", RAISE, POSITIONS[where]), ("calls", LIMP, None))
    ]
    on_flops = [count for count in players if count > 1]
    return Comparison([*lines, Quantity("flop", "players on each flop", mean(np.array(on_flops)))])


MEASURES = Measures(
    compare=preflop,
    best_responses={name: partial(scripted, style=style) for name, style in STYLES.items()}
    | {
        f"{sizes} off the menu, {name}": partial(off_menu, style=style, sizes=sizes)
        for sizes in SIZES
        for name, style in (("regular", Style()), ("every hand", EVERY_HAND))
    }
    | {f"local best response, {setting.name}": partial(best_response, setting=setting) for setting in SETTINGS},
)
