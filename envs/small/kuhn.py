"""Kuhn poker: three cards, one bet.

H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games I (1950): three cards, a chip posted
by each of two seats, who get a card each. In turn a seat passes or bets one chip. A pass after a bet folds; two
passes or two bets end in a showdown, which the higher card wins.
Action indices are the moves: pass, bet.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, UnsetType
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
"""The deck: one card of each rank, the lowest first."""
KINDS = ("pass", "bet")
PASS, BET = range(2)
MOVES = 3
"""Most moves of a deal."""
MOST = 2.0
"""The most that a seat can win."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("card", "i1", SEATS),  # an index of RANKS; −1: not dealt, or not known
    ("log", "i1", MOVES),  # the moves in order
    ("moves", "i1"),
    ("turn", "i1"),
    ("done", "?"),
    ("showdown", "?"),  # it ended with both cards open
)
BLANK = new_table(TABLE, turn=-1, card=-1)


# Rules.


@compiled
def begin(table: Any) -> None:
    """Begin a deal; two random events deal the cards."""
    two_seats.clear(table)
    table.card[:] = -1
    table.moves = 0
    table.showdown = False


@compiled
def outcomes(table: Any) -> int:
    """Return the number of cards that the next one is drawn from; 0: both are dealt."""
    return 3 if table.card[0] < 0 else 2 if table.card[1] < 0 else 0


@compiled
def deal(table: Any, outcome: int) -> None:
    """Deal the next card: the seat's is the `outcome`-th that is left."""
    if table.card[0] < 0:
        table.card[0] = outcome
    else:
        table.card[1] = outcome + (outcome >= table.card[0])
        table.turn = 0


@compiled
def reset(table: Any) -> None:
    """Begin a deal and draw the cards."""
    begin(table)
    while outcomes(table) > 0:
        deal(table, draw(table, outcomes(table)))


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's pass or bet and go on to the next decision."""
    table.log[table.moves] = move
    table.moves += 1
    table.turn = 1 - table.turn
    before = table.log[table.moves - 2] if table.moves > 1 else PASS
    if table.moves == 1 or (table.moves == 2 and before == PASS and move == BET):
        return
    table.showdown = before == move
    winner = table.turn if not table.showdown else 0 if table.card[0] > table.card[1] else 1
    two_seats.finish(table, winner, 2.0 if before == BET and move == BET else 1.0)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: both."""
    mask[:] = 1


# Observation, version 0.

LAYOUT = Layout(
    [
        shares("agent_id", (1,), "1: the observer is player_0, who acts first"),
        *two_seats.TURN_SLICES,
        two_seats.own_card(RANKS),
        two_seats.shown_card(RANKS),
        shares("game_state.action_history", (MOVES, 2), "the moves in order, one-hot: pass, bet", axes=("move", KINDS)),
        shares("game_over", (1,), "whether the deal is over"),
        per_seat("outcome.payoffs", 2, "chips won, by relative seat", -MOST, MOST),
    ]
)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    two_seats.write_turn(table, seat, at, out)
    two_seats.write_cards(table, seat, at, out)
    for i in range(table.moves):
        out[at.action_history + 2 * i + table.log[i]] = 1
    two_seats.write_end(table, seat, at, out, 1.0)


# TurnState.

MEANINGS = {
    "pass": "put no chip in: check, or fold to a bet",
    "bet": "put one chip in: bet, or call a bet",
}


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return PASS


def allowed(game_state: "KuhnState", seat: int) -> tuple[str, ...]:
    """Return the names of the acting seat's legal actions: both."""
    return KINDS


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "betting"


class KuhnState(GameState, kw_only=True):
    """The deal as a seat sees it."""

    my_card: Annotated[str | UnsetType, about("the own card: J, Q or K")] = UNSET
    pot: Annotated[int, about("in chips")] = 0
    action_history: Annotated[list[Move], about("the moves in order")]
    shown: Annotated[dict[str, str], about("the cards of a showdown by agent; empty without one")]


def public(table: Any) -> KuhnState:
    """Return the deal as everybody may see it."""
    log = [int(move) for move in table.log[: table.moves]]
    moves = [Move(AGENTS[i % SEATS], KINDS[move]) for i, move in enumerate(log)]
    return KuhnState(pot=2 + log.count(BET), action_history=moves, shown=two_seats.shown_cards(table, RANKS))


def game_state(table: Any, seat: int) -> KuhnState:
    """Return the deal as `seat` may see it."""
    return replace(public(table), my_card=RANKS[table.card[seat]])


def load(state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = KuhnState.of(state)
    tables, seat, first = two_seats.begun(BLANK, state, game.action_history)
    table = tables[0]
    two_seats.load_cards(table, seat, first, game, RANKS)
    for move in game.action_history:
        if table.done:
            raise ValueError(f"the history goes on after the end: {game.action_history}")
        step(table, KINDS.index(move.action))
    return tables, seat


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other player's card again, in place, and the stream. After a showdown the card is known."""
    two_seats.redraw_stream(table, generator)
    if not table.showdown:
        table.card[1 - seat] = generator.choice([card for card in range(len(RANKS)) if card != table.card[seat]])


def render(states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`)."""
    game, cards = states[0].game_state, two_seats.held(states, "my_card")

    def details(name: str) -> str:
        moves = (move["action"] for move in game["action_history"] if move["agent_id"] == name)
        return f"{cards.get(name, '?')}  {' '.join(moves)}"

    return two_seats.lines(f"pot {game['pot']}", states, details)


# Bots. They see their seat's observation and mask, no more.

Chances = Mapping[str, tuple[float, float, float]]
"""The probability of a bet with each rank, by the moves so far: ``""``, ``"p"``, ``"b"``, ``"pb"``."""


def equilibrium_chances(bluff: float = 1 / 3) -> Chances:
    """Return Kuhn's equilibria: one for every probability `bluff` of the first seat's bet with a jack, 0 to 1/3."""
    third = 1 / 3
    return {"": (bluff, 0, 3 * bluff), "pb": (0, bluff + third, 1), "p": (third, 0, 1), "b": (0, third, 1)}


ALWAYS: Chances = dict.fromkeys(("", "p", "b", "pb"), (1.0, 1.0, 1.0))
HONEST: Chances = {"": (0, 0, 1), "p": (0, 0, 1), "b": (0, 1, 1), "pb": (0, 1, 1)}


class Bot:
    """Bets with a probability that depends on its card and on the moves so far.

    Args:
        chances: of a bet.
        game: Kuhn poker.
        seed: of the bot's own random stream; None for fresh entropy.
    """

    encoder = "v0"

    def __init__(self, chances: Chances, game: Game, seed: int | None = None) -> None:
        # By whether the first move was a bet, whether there was a first, whether there was a second; and by the card.
        self._chances = np.array([[chances["p"], chances["b"]], [chances[""], chances["pb"]]])
        self._generator = np.random.default_rng(seed)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        card, history = LAYOUT["game_state.my_card"].start, LAYOUT["game_state.action_history"].start
        cards = observations[:, card : card + len(RANKS)].argmax(axis=1)
        moves = observations[:, history : history + 4] > 0
        one, two = moves[:, :2].any(axis=1), moves[:, 2:].any(axis=1)
        first_seat = ~one | two
        chances = self._chances[first_seat.astype(int), np.where(first_seat, two, moves[:, 1]).astype(int), cards]
        return (self._generator.random(len(masks)) < chances).astype(np.int64)


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "equilibrium": partial(Bot, equilibrium_chances()),
    "honest": partial(Bot, HONEST),
    "maniac": partial(Bot, ALWAYS),
}
"""`random`: any legal action. `equilibrium`: one of Kuhn's equilibria, in which the first player bets every king and
bluffs with a third of its jacks; nobody wins from it but by the seat. `honest`: bets with the king alone, calls with
the queen too, never bluffs. `maniac`: always bets."""


def game() -> Game:
    """Return Kuhn poker. It has no options."""
    rules = Rules(blank=BLANK, num_actions=len(KINDS), reset=reset, step=step, legal=legal)
    v0 = Encoder(LAYOUT, observe)
    full = v0.extended(two_seats.hidden_card(RANKS), two_seats.write_hidden_card, full_information=True)
    return Game(
        name="kuhn",
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
            state_type=KuhnState,
        ),
        renderer=Renderer(render, partial(cards_picture, "Kuhn poker", list)),
        bots=BOTS,
        capabilities=Capabilities(
            public_view=PublicView(public),
            chance=Chance(begin=begin, step=step, outcomes=outcomes, play=deal),
            private_hands=PrivateHands(hands=len(RANKS), hand=two_seats.hand, event=two_seats.no_event),
        ),
    )
