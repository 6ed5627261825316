"""Leduc hold'em: six cards, two rounds of bets.

F. Southey et al., "Bayes' Bluff: Opponent Modelling in Poker", UAI 2005: a deck of two jacks, two queens and two kings;
an ante of one chip; a card for each of two seats, a round of bets, a card open on the table, and another round. A
raise is two chips in the first round and four in the second, with at most two raises in a round. Who has the rank of
the open card wins the showdown, else the higher rank; equal ranks split the pot.

Action indices are the moves: fold, call, raise. Cards are ranks, as suits play no part. Amounts are chips.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace
from numpy.typing import NDArray

from ..core.capabilities import Capabilities, Chance, PrivateHands, PublicView
from ..core.compiled import compiled
from ..core.encoder import Encoder, Layout, per_seat, shares
from ..core.game import Game, Payoffs
from ..core.record import Tables, new_table, record
from ..core.rng import draw
from ..core.rollout import random_bot
from ..core.rules import Rules
from ..core.turn_state import GameState, TurnState, about
from ..core.view import NamedActions
from ..render.renderer import Renderer
from . import two_seats
from .two_seats import AGENTS, SEATS, Move, cards_picture

RANKS = ("J", "Q", "K")
COPIES = 2
"""Cards of each rank in the deck."""
KINDS = ("fold", "call", "raise")
FOLD, CALL, RAISE = range(3)
ROUNDS = 2
RAISES = 2
"""Most raises in a round."""
MOVES = RAISES + 2
"""Most moves in a round: call, raise, raise, call."""
ANTE, FIRST_RAISE, SECOND_RAISE = 1, 2, 4
MOST = float(ANTE + RAISES * (FIRST_RAISE + SECOND_RAISE))
"""The most that a seat can win."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("card", "i1", SEATS),  # an index of RANKS; −1: not dealt, or not known
    ("board", "i1"),  # the same
    ("chips", "i1", SEATS),  # chips of each seat in the pot
    ("log", "i1", ROUNDS * MOVES),  # the moves of each round in order; seat 0 begins both
    ("moves", "i1", ROUNDS),  # how many there were
    ("round_number", "i1"),  # 0 or 1
    ("raises", "i1"),  # in this round
    ("turn", "i1"),
    ("done", "?"),
    ("showdown", "?"),  # it ended with both cards open
)
BLANK = new_table(TABLE, turn=-1, card=-1, board=-1, chips=ANTE)


# Rules.


@compiled
def begin(table: Any) -> None:
    """Begin a deal; two random events deal the cards, and a third one opens a card later."""
    two_seats.clear(table)
    table.card[:] = -1
    table.board = -1
    table.moves[:] = 0
    table.chips[:] = ANTE
    table.round_number = 0
    table.raises = 0
    table.showdown = False


@compiled
def left(table: Any, rank: int) -> int:
    """Return the number of cards of a rank in the deck."""
    return COPIES - (table.card[0] == rank) - (table.card[1] == rank) - (table.board == rank)


@compiled
def in_deck(table: Any) -> int:
    """Return the number of cards in the deck."""
    return COPIES * len(RANKS) - (table.card[0] >= 0) - (table.card[1] >= 0) - (table.board >= 0)


@compiled
def outcomes(table: Any) -> int:
    """Return the number of ranks that the card that is due can have; 0: none is due."""
    if table.turn >= 0 or table.done:
        return 0
    ranks = 0
    for rank in range(len(RANKS)):
        ranks += left(table, rank) > 0
    return ranks


@compiled
def rank_of(table: Any, outcome: int) -> int:
    """Return the `outcome`-th rank that is still in the deck."""
    for rank in range(len(RANKS)):
        outcome -= left(table, rank) > 0
        if outcome < 0:
            return rank
    return -1


@compiled
def probability(table: Any, outcome: int) -> float:
    """Return the probability that the card that is due has the `outcome`-th rank in the deck."""
    return left(table, rank_of(table, outcome)) / in_deck(table)


@compiled
def deal(table: Any, outcome: int) -> None:
    """Deal the next card, of the `outcome`-th rank that is still in the deck."""
    rank = rank_of(table, outcome)
    if table.card[0] < 0:
        table.card[0] = rank
    elif table.card[1] < 0:
        table.card[1] = rank
        table.turn = 0
    else:
        table.board = rank
        table.turn = 0


@compiled
def draw_card(table: Any) -> None:
    """Draw the card that is due from the deck, by the record's stream."""
    card, outcome = draw(table, in_deck(table)), 0
    card -= left(table, rank_of(table, outcome))
    while card >= 0:
        outcome += 1
        card -= left(table, rank_of(table, outcome))
    deal(table, outcome)


@compiled
def reset(table: Any) -> None:
    """Begin a deal and draw both cards."""
    begin(table)
    while outcomes(table) > 0:
        draw_card(table)


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's move and go on to the next decision."""
    play(table, move)
    while outcomes(table) > 0:
        draw_card(table)


@compiled
def play(table: Any, move: int) -> None:
    """Apply the acting seat's move; the open card is not drawn yet."""
    seat, other = table.turn, 1 - table.turn
    table.log[MOVES * table.round_number + table.moves[table.round_number]] = move
    table.moves[table.round_number] += 1
    if move == FOLD:
        two_seats.finish(table, other, table.chips[seat])
        return
    table.chips[seat] = table.chips[other]
    table.turn = other
    if move == RAISE:
        table.chips[seat] += FIRST_RAISE if table.round_number == 0 else SECOND_RAISE
        table.raises += 1
    elif table.moves[table.round_number] > 1:
        end_round(table)


@compiled
def end_round(table: Any) -> None:
    """Go on to the second round, or to the showdown."""
    table.turn = -1
    table.raises = 0
    if table.round_number == 0:
        table.round_number = 1
        return
    table.showdown = True
    one, two = strength(table, 0), strength(table, 1)
    two_seats.finish(table, 0 if one > two else 1, table.chips[0] if one != two else 0)


@compiled
def strength(table: Any, seat: int) -> int:
    """Return the strength of a hand: a pair with the open card is highest, then the rank."""
    return table.card[seat] + (len(RANKS) if table.card[seat] == table.board else 0)


def open_card(table: Any) -> int:
    """Return the open card, as the outcome of the only public random event; −1: none is open."""
    return int(table.board)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: fold to a raise only, raise twice in a round at most."""
    mask[FOLD] = table.chips[1 - table.turn] > table.chips[table.turn]
    mask[CALL] = 1
    mask[RAISE] = table.raises < RAISES


# Observation, version 0.

LAYOUT = Layout(
    [
        shares("agent_id", (1,), "1: the observer is player_0, who acts first in both rounds"),
        shares("phase", (1,), "0: first round, 1: second round"),
        *two_seats.TURN_SLICES,
        two_seats.own_card(RANKS),
        shares("game_state.board", (len(RANKS),), "the open card, one-hot; all 0 in the first round", axes=(RANKS,)),
        two_seats.shown_card(RANKS),
        per_seat("game_state.chips", 2, f"put in by relative seat, as a share of {MOST:g}"),
        shares(
            "game_state.action_history",
            (ROUNDS, MOVES, len(KINDS)),
            "moves in order, one-hot: fold, call, raise",
            axes=("round", "move", KINDS),
        ),
        shares("game_over", (1,), "whether the deal is over"),
        per_seat("outcome.payoffs", 2, f"chips won by relative seat, as a share of {MOST:g}", -1, 1),
    ]
)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    two_seats.write_turn(table, seat, at, out)
    two_seats.write_cards(table, seat, at, out)
    out[at.phase] = table.round_number
    if table.board >= 0:
        out[at.board + table.board] = 1
    out[at.chips] = table.chips[seat] / MOST
    out[at.chips + 1] = table.chips[1 - seat] / MOST
    for number in range(ROUNDS):
        for i in range(table.moves[number]):
            move = MOVES * number + i
            out[at.action_history + len(KINDS) * move + table.log[move]] = 1
    two_seats.write_end(table, seat, at, out, MOST)


# TurnState.

MEANINGS = {
    "fold": "give the pot up; only after a raise",
    "call": "put in as much as the other has; nothing, if there was no raise",
    "raise": "call, and put in two chips more, four in the second round; at most two raises in a round",
}


def safe(table: Any) -> int:
    """Return the action index of the safe action: call if it costs nothing, else fold."""
    return CALL if table.chips[0] == table.chips[1] else FOLD


def phase(table: Any) -> str:
    """Return the phase's name: ``"first"`` or ``"second"``, the round."""
    return "second" if table.round_number else "first"


class LeducMove(Move):
    """A move of a round."""

    round: Annotated[int, about("1 or 2")] = 0


class LeducState(GameState, kw_only=True):
    """The deal as a seat sees it."""

    my_card: Annotated[str | UnsetType, about("the own card: J, Q or K")] = UNSET
    board: Annotated[list[str], about("the open card; empty in the first round")]
    pot: Annotated[int, about("in chips")] = 0
    chips: Annotated[dict[str, int], about("put in by each agent, in chips")] = field(default_factory=dict)
    action_history: Annotated[list[LeducMove], about("the moves in order")]
    shown: Annotated[dict[str, str], about("the cards of a showdown by agent; empty without one")]


def allowed(game_state: LeducState, seat: int) -> list[str]:
    """Return the names of the acting seat's legal actions: see `legal`."""
    number = 1 + len(game_state.board)
    raises = sum(move.action == KINDS[RAISE] and move.round == number for move in game_state.action_history)
    behind = game_state.chips[AGENTS[seat]] < game_state.chips[AGENTS[1 - seat]]
    return [KINDS[FOLD]] * behind + [KINDS[CALL]] + [KINDS[RAISE]] * (raises < RAISES)


def public(table: Any) -> LeducState:
    """Return the deal as everybody may see it."""
    return LeducState(
        board=[RANKS[table.board]] if table.board >= 0 else [],
        pot=int(table.chips[0]) + int(table.chips[1]),
        chips={name: int(table.chips[seat]) for seat, name in enumerate(AGENTS)},
        action_history=[
            LeducMove(AGENTS[i % SEATS], KINDS[table.log[MOVES * number + i]], number + 1)
            for number in range(ROUNDS)
            for i in range(table.moves[number])
        ],
        shown=two_seats.shown_cards(table, RANKS),
    )


def game_state(table: Any, seat: int) -> LeducState:
    """Return the deal as `seat` may see it."""
    return replace(public(table), my_card=RANKS[table.card[seat]])


def load(state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = LeducState.of(state)
    tables, seat, first = two_seats.begun(BLANK, state, game.action_history)
    table = tables[0]
    two_seats.load_cards(table, seat, first, game, RANKS)
    for move in game.action_history:
        if table.turn < 0:
            _open(table, game)
        play(table, KINDS.index(move.action))
    if table.turn < 0 and not table.done:
        _open(table, game)
    return tables, seat


def _open(table: Any, game: LeducState) -> None:
    if table.done or not game.board:
        raise ValueError(f"there is no open card, or the history goes on after the end: {game.action_history}")
    table.board, table.turn = RANKS.index(game.board[0]), 0


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other player's card again, in place, and the stream. After a showdown the card is known."""
    two_seats.redraw_stream(table, generator)
    if not table.showdown:
        table.card[1 - seat] = -1
        chances = np.array([left(table, rank) for rank in range(len(RANKS))], float)
        table.card[1 - seat] = generator.choice(len(RANKS), p=chances / chances.sum())


def said(kinds: list[str]) -> list[str]:
    """Return moves in words: a call that answers no raise is a check."""
    return ["check" if kind == "call" and before != "raise" else kind for before, kind in pairwise(["", *kinds])]


def render(states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`)."""
    game, cards = states[0].game_state, two_seats.held(states, "my_card")

    def details(name: str) -> str:
        return f"{cards.get(name, '?')}  {game['chips'][name]:>2} in the pot"

    rounds = groupby(game["action_history"], key=lambda move: move["round"])
    moves = [f"round {number}: {', '.join(said([move['action'] for move in made]))}" for number, made in rounds]
    return two_seats.lines(f"board {''.join(game['board']) or '-'}  pot {game['pot']}", states, details, moves)


# Bots. They see their seat's observation and mask, no more.


class Bot:
    """Plays by the strength of its hand: 0 to 2 for a jack to a king, 3 for a pair with the open card.

    Args:
        raises: the least strength with which it raises.
        calls: the least strength with which it calls; below, it folds to a raise.
        game: Leduc hold'em.
        seed: not used; it draws nothing.
    """

    encoder = "v0"

    def __init__(self, raises: int, calls: int, game: Game, seed: int | None = None) -> None:
        self._raises, self._calls = raises, calls

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        cards, board = (
            observations[:, LAYOUT[path].start : LAYOUT[path].stop]
            for path in ("game_state.my_card", "game_state.board")
        )
        strength = np.where((cards * board).any(axis=1), len(RANKS), cards.argmax(axis=1))
        wanted = np.where(strength >= self._raises, RAISE, np.where(strength >= self._calls, CALL, FOLD))
        open_ = masks[np.arange(len(masks)), wanted] > 0
        return np.where(open_, wanted, CALL).astype(np.int64)


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "call": partial(Bot, len(RANKS) + 1, 0),
    "tight": partial(Bot, 2, 1),
    "maniac": partial(Bot, 0, 0),
}
"""`random`: any legal action. `call`: always calls. `tight`: raises with a king or a pair, calls with a queen, folds
a jack to a raise. `maniac`: always raises; calls if no raise is left."""


def game() -> Game:
    """Return Leduc hold'em. It has no options."""
    rules = Rules(blank=BLANK, num_actions=len(KINDS), reset=reset, step=step, legal=legal)
    v0 = Encoder(LAYOUT, observe)
    full = v0.extended(two_seats.hidden_card(RANKS), two_seats.write_hidden_card, full_information=True)
    private = PrivateHands(hands=len(RANKS), events=len(RANKS), hand=two_seats.hand, event=open_card)
    chance = Chance(begin=begin, step=play, outcomes=outcomes, play=deal, probability=probability)
    return Game(
        name="leduc",
        agents=AGENTS,
        rules=rules,
        encoders={"v0": v0, "full": full},
        payoffs=Payoffs(-MOST, MOST, zero_sum=True, unit_name="chips"),
        view=NamedActions(rules, MEANINGS, allowed).view(
            safe=safe,
            phase=phase,
            game_state=game_state,
            outcome=two_seats.outcome_of_cards,
            load=load,
            resample=resample,
            state_type=LeducState,
        ),
        renderer=Renderer(render, partial(cards_picture, "Leduc hold'em", said)),
        bots=BOTS,
        capabilities=Capabilities(public_view=PublicView(public), chance=chance, private_hands=private),
    )
