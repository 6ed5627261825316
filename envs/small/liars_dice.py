"""Liar's dice for two, by the conventions of OpenSpiel (``liars_dice``).

Both roll their dice, unseen by the other. In turn they bid: "there are at least `quantity` dice of `face`", among all
of both. Each bid is higher than the one before: more dice, or as many of a higher face. Instead of a bid a seat may
say that the other is a liar. Then all dice are shown: if the bid holds, the bidder wins one point, else the other
does.

A move is an action index: the bids by quantity and face, then the challenge.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from reprlib import repr
from typing import Annotated, Any

import msgspec
import numpy as np
from gymnasium import spaces
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.capabilities import Capabilities, Chance, PrivateHands, PublicView
from ..core.compiled import compiled
from ..core.encoder import Encoder, Layout, per_seat, shares
from ..core.game import Game, Payoffs
from ..core.options import Options, from_options, within
from ..core.record import Tables, new_table, record
from ..core.rng import draw
from ..core.rollout import random_bot
from ..core.rules import Rules
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction, GameState, TurnState, about
from ..core.view import ActionRange, View
from ..render.renderer import Renderer
from . import two_seats
from .two_seats import AGENTS, SEATS, Move, dice_picture


@compiled
def last_bid(table: Any) -> int:
    """Return the index of the current bid; −1 if there is none."""
    return table.log[table.bids - 1] if table.bids > 0 else -1


@compiled
def liar(table: Any) -> int:
    """Return the action index of the challenge: it follows those of the bids."""
    return 2 * table.dice * table.faces


class Bid(msgspec.Struct):
    """A bid."""

    quantity: Annotated[int, about("the least number of dice")]
    face: Annotated[int, about("from 1")]


class BidPayload(Bid, forbid_unknown_fields=True):
    """The payload of `bid`."""


def bid_of(table: Any, move: int) -> Bid:
    """Return a bid by its index; `table` is a record or a `game_state`, as for `index_of`."""
    faces = int(table.faces)
    return Bid(int(move) // faces + 1, int(move) % faces + 1)


def index_of(table: Any, bid: Any) -> int:
    """Return the index of a bid, which has `quantity` and `face`.

    Raises:
        ValueError: if it is none of the game's.
    """
    quantity, face = bid.quantity, bid.face
    most, faces = 2 * int(table.dice), int(table.faces)
    if not (1 <= quantity <= most and 1 <= face <= faces):
        raise ValueError(
            f"a bid of {repr(quantity)} times {repr(face)}: quantity is from 1 to {most}, face from 1 to {faces}"
        )
    return (quantity - 1) * faces + face - 1


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with bounds. A bid must also be higher than the current one."""
    bid, most, faces = game_state.current_bid, 2 * game_state.dice, game_state.faces
    actions = []
    if bid is None or (bid.quantity, bid.face) < (most, faces):
        least = bid_of(game_state, 0 if bid is None else index_of(game_state, bid) + 1)
        quantity = {"type": "integer", "minimum": least.quantity, "maximum": most}
        face = {"type": "integer", "minimum": 1, "maximum": faces}
        meaning = f"at least {least.quantity} times {least.face}, by quantity, then by face"
        actions.append(AllowedAction("bid", meaning, ts.payload_schema({"quantity": quantity, "face": face})))
    if bid is not None:
        meaning = f"challenge: you win if there are fewer than {bid.quantity} dice of face {bid.face}"
        actions.append(AllowedAction("liar", meaning, NOTHING))
    return actions


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    if action == liar(table):
        return AgentResponse(Action("liar"))
    return AgentResponse(Action("bid", msgspec.structs.asdict(bid_of(table, action))))


def parse(table: Any, action: Action) -> int | ActionResult:
    """Return the move of a payload, or a refusal that names the right values."""
    standing = int(last_bid(table))
    if action.action_type == "liar":
        if action.payload:
            return ts.unwanted_payload(action)
        if standing < 0:
            return ts.refused(ts.GAME_RULE_VIOLATION, "there is no bid to challenge yet")
        return int(liar(table))
    if action.action_type != "bid":
        return ts.unknown_action(action, ("bid", "liar"))
    try:
        bid = msgspec.convert(action.payload, BidPayload)
        move = index_of(table, bid)
    except (ValueError, OverflowError) as error:  # msgspec's are ValueErrors
        return ts.refused(ts.INVALID_PAYLOAD, f"bid needs {{'quantity': integer, 'face': integer}}: {error}")
    if move <= standing:
        before = bid_of(table, standing)
        low = f"{bid.quantity} times {bid.face} is not higher than {before.quantity} times {before.face}"
        return ts.refused(ts.GAME_RULE_VIOLATION, f"{low}: bid more dice, or as many of a higher face")
    return move


def nearest(table: Any, move: int) -> int:
    """Return the action index of `move`, which is the move itself."""
    return int(move)


def safe(table: Any) -> int:
    """Return the action index of the safe action: the challenge, or the lowest bid if there is no bid."""
    return int(liar(table)) if table.bids > 0 else 0


DICE, FACES = 5, 6
"""Most dice of a seat, and most faces of a die."""

TABLE = record(
    ("stream", "u8"),
    ("rewards", "f8", SEATS),
    ("die", "i1", SEATS * DICE),  # faces from 1; those of seat 0 first, `dice` each; 0: not rolled, or not known
    ("log", "i1", SEATS * DICE * FACES),  # the bids in order, each by its index
    ("bids", "i1"),  # how many there were
    ("turn", "i1"),
    ("done", "?"),
    # options
    ("dice", "i1"),  # of each seat
    ("faces", "i1"),
    ("wild", "?"),  # the highest face counts as every face
)


# Rules.


@compiled
def begin(table: Any) -> None:
    """Begin a round; one random event per die rolls the dice."""
    two_seats.clear(table)
    table.die[:] = 0
    table.bids = 0


@compiled
def outcomes(table: Any) -> int:
    """Return the number of faces of the die that is due; 0: all are rolled."""
    return table.faces if table.turn < 0 and not table.done else 0


@compiled
def roll(table: Any, outcome: int) -> None:
    """Roll the next die."""
    k = 0
    while table.die[k] > 0:
        k += 1
    table.die[k] = outcome + 1
    if k + 1 == 2 * table.dice:
        table.turn = 0


@compiled
def reset(table: Any) -> None:
    """Begin a round and roll the dice."""
    begin(table)
    while outcomes(table) > 0:
        roll(table, draw(table, outcomes(table)))


@compiled
def count(table: Any, face: int) -> int:
    """Return the number of dice that count as `face`."""
    counted = 0
    for k in range(2 * table.dice):
        counted += table.die[k] == face or (table.wild and table.die[k] == table.faces)
    return counted


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's bid or challenge and go on to the next decision."""
    if move < liar(table):
        table.log[table.bids] = move
        table.bids += 1
        table.turn = 1 - table.turn
        return
    bid = last_bid(table)
    holds = count(table, bid % table.faces + 1) >= bid // table.faces + 1
    two_seats.finish(table, 1 - table.turn if holds else table.turn, 1.0)


def hand(table: Any, seat: int) -> int:
    """Return the dice of a seat as one number: each is a digit."""
    number = 0
    for k in range(table.dice):
        number = table.faces * number + int(table.die[seat * table.dice + k]) - 1
    return number


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: higher bids, and the challenge if there is a bid."""
    bid = last_bid(table)
    for action in range(liar(table)):
        mask[action] = action > bid
    mask[liar(table)] = bid >= 0


# Observation, version 0.


def layout(faces: int, most: int) -> Layout:
    """Return the observation's layout for dice of so many faces, `most` in all."""
    named = tuple(f"face {face}" for face in range(1, faces + 1))
    quantities = tuple(f"quantity {quantity}" for quantity in range(1, most + 1))
    own, other = (
        "how many own dice show each face, as a share of them",
        "the other's dice in the same way, when it is over",
    )
    return Layout(
        [
            shares("agent_id", (1,), "1: the observer is player_0, who acts first"),
            *two_seats.TURN_SLICES,
            shares("game_state.my_dice", (faces,), own, axes=(named,)),
            shares("game_state.shown", (faces,), other, axes=(named,)),
            shares("game_state.current_bid.quantity", (1,), "as a share of all dice; 0 without a bid"),
            shares("game_state.current_bid.face", (faces,), "one-hot; all 0 without a bid", axes=(named,)),
            shares(
                "game_state.action_history",
                (most, faces),
                "the bids made, by quantity and face",
                axes=(quantities, named),
            ),
            shares("game_over", (1,), "whether the round is over"),
            per_seat("outcome.payoffs", 2, "utilities by relative seat", -1, 1),
        ]
    )


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    two_seats.write_turn(table, seat, at, out)
    write_dice(table, seat, at.my_dice, out)
    bid = last_bid(table)
    if bid >= 0:
        out[at.current_bid_quantity] = (bid // table.faces + 1) / (2 * table.dice)
        out[at.current_bid_face + bid % table.faces] = 1
    for i in range(table.bids):
        out[at.action_history + table.log[i]] = 1
    two_seats.write_end(table, seat, at, out, 1.0)
    if table.done:
        write_dice(table, 1 - seat, at.shown, out)


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the other's dice."""
    write_dice(table, 1 - seat, at.hidden_dice, out)


@compiled
def write_dice(table: Any, seat: int, start: int, out: Any) -> None:
    """Write how many dice of a seat show each face, as a share of them, from ``out[start]`` on. Unknown dice are 0."""
    for face in range(1, table.faces + 1):
        shown = 0
        for k in range(table.dice * seat, table.dice * seat + table.dice):
            shown += table.die[k] == face
        out[start + face - 1] = shown / table.dice


# TurnState.


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "bidding"


def dice_of(table: Any, seat: int) -> list[int]:
    """Return the faces of a seat's dice, sorted."""
    dice = int(table.dice)
    return sorted(int(face) for face in table.die[dice * seat : dice * seat + dice])


class DiceMove(Move, omit_defaults=True):
    """A bid, or the challenge."""

    quantity: Annotated[int, about("of a bid: the least number of dice")] = 0
    face: Annotated[int, about("of a bid")] = 0


class DiceState(GameState, kw_only=True):
    """The round as a seat sees it."""

    my_dice: Annotated[list[int] | UnsetType, about("the own faces, sorted")] = UNSET
    dice: Annotated[int, about("of each player")]
    faces: Annotated[int, about("of a die")]
    wild: Annotated[bool, about("whether the highest face counts as any")]
    current_bid: Annotated[Bid | None, about("the bid that stands")] = None
    action_history: Annotated[list[DiceMove], about("the moves in order")]
    shown: Annotated[dict[str, list[int]], about("all dice by agent once the round is over; empty before")]


def public(table: Any) -> DiceState:
    """Return the round as everybody may see it."""
    bids = [bid_of(table, move) for move in table.log[: table.bids]]
    history = [DiceMove(AGENTS[i % SEATS], "bid", bid.quantity, bid.face) for i, bid in enumerate(bids)]
    if table.done:
        history.append(DiceMove(AGENTS[len(bids) % SEATS], "liar"))
    return DiceState(
        dice=int(table.dice),
        faces=int(table.faces),
        wild=bool(table.wild),
        current_bid=bids[-1] if bids else None,
        action_history=history,
        shown={name: dice_of(table, seat) for seat, name in enumerate(AGENTS)} if table.done else {},
    )


def game_state(table: Any, seat: int) -> DiceState:
    """Return the round as `seat` may see it."""
    return replace(public(table), my_dice=dice_of(table, seat))


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: both utilities, whether the bid was true, and the winner."""
    winner, bidder = int(np.argmax(table.rewards[:SEATS])), (int(table.bids) - 1) % SEATS
    reason = "bid_held" if winner == bidder else "bid_failed"
    return {"payoffs": two_seats.payoffs(table), "reason": reason, "winner": AGENTS[winner]}


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Args:
        blank: a table with the game's options.
        state: the round's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = DiceState.of(state)
    tables, seat, first = two_seats.begun(blank, state, game.action_history)
    table, dice = tables[0], int(blank[0].dice)
    theirs, ours = [game.dice, game.faces, game.wild], [table.dice, table.faces, table.wild]
    if theirs != ours:
        raise ValueError(f"dice, faces, wild are {theirs}; this game was made for {[value.item() for value in ours]}")
    table.die[dice * seat : dice * seat + dice] = game.my_dice
    for agent, faces in game.shown.items():
        other = 0 if agent == first else 1
        table.die[dice * other : dice * other + dice] = faces
    for move in game.action_history:
        if table.done:
            raise ValueError(f"the history goes on after the end: {game.action_history}")
        step(table, int(liar(table)) if move.action == "liar" else index_of(table, move))
    return tables, seat


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other player's dice again, in place, and the stream. At the end all dice are known."""
    two_seats.redraw_stream(table, generator)
    if not table.done:
        dice, other = int(table.dice), 1 - seat
        table.die[dice * other : dice * other + dice] = generator.integers(1, int(table.faces) + 1, dice)


def render(states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`)."""
    game, dice = states[0].game_state, two_seats.held(states, "my_dice")

    def details(name: str) -> str:
        return " ".join(map(str, dice.get(name, "?" * game["dice"])))

    said = {"bid": "bids {quantity} x {face}", "liar": "says liar"}
    moves = [f"{move['agent_id']} {said[move['action']].format(**move)}" for move in game["action_history"]]
    title = f"liar's dice · {game['dice']} of {game['faces']} faces each"
    return two_seats.lines(title, states, details, moves, why=False)


# Bots. They see their seat's observation and mask, no more.


class Bot:
    """Plays by how likely a bid holds, if the other's dice are as good as unknown ones.

    It challenges a bid whose probability is below `doubts`; else it makes the legal bid with the highest probability.

    Args:
        doubts: a probability.
        game: liar's dice with any options.
        seed: not used; it draws nothing.
    """

    encoder = "v0"

    def __init__(self, doubts: float, game: Game, seed: int | None = None) -> None:
        table = game.rules.blank[0]
        self._dice, self._faces, self._wild = int(table.dice), int(table.faces), bool(table.wild)
        self._start, self._doubts = game.encoders[self.encoder].layout["game_state.my_dice"].start, doubts

    def _holds(self, own: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of every bid: float64[bids], given the player's own dice `own` int64[faces]."""
        dice, faces = self._dice, self._faces
        chances = []
        for quantity in range(1, 2 * dice + 1):
            for face in range(faces):
                wild = self._wild and face != faces - 1
                share, missing = (1 + wild) / faces, quantity - own[face] - (own[-1] if wild else 0)
                others = range(max(0, missing), dice + 1)
                chances.append(sum(comb(dice, k) * share**k * (1 - share) ** (dice - k) for k in others))
        return np.array(chances)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.empty(len(masks), np.int64)
        dice = np.rint(observations[:, self._start : self._start + self._faces] * self._dice).astype(np.int64)
        for row, (own, mask) in enumerate(zip(dice, masks, strict=True)):
            holds = self._holds(own)
            open_ = np.flatnonzero(mask[:-1])
            challenge = mask[-1] and (not len(open_) or holds[open_[0] - 1 if len(open_) else -1] < self._doubts)
            actions[row] = len(holds) if challenge else open_[holds[open_].argmax()]
        return actions


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "careful": partial(Bot, 0.5),
    "credulous": partial(Bot, 0.1),
}
"""`random`: any legal action. `careful`: challenges a bid that holds with less than one half, as far as its own dice
tell; else it makes the likeliest bid. `credulous`: the same, but it challenges below one tenth only."""


class LiarsDiceOptions(Options, frozen=True, kw_only=True):
    """The options of liar's dice."""

    dice: Annotated[int, within(1, DICE)] = 1
    """of each player, {}."""
    faces: Annotated[int, within(2, FACES)] = 6
    """of a die, {}."""
    wild: bool = True
    """whether the highest face counts as every face."""


@from_options(LiarsDiceOptions)
def game(given: LiarsDiceOptions) -> Game:
    """Return liar's dice for two with these options."""
    dice, faces = given.dice, given.faces
    blank = new_table(TABLE, turn=-1, dice=dice, faces=faces, wild=given.wild)
    most, bids = SEATS * dice, SEATS * dice * faces
    v0 = Encoder(layout(faces, most), observe)
    hidden = shares(
        "hidden.dice", (faces,), "the other's dice, as own dice are shown", axes=v0.layout["game_state.my_dice"].axes
    )
    quantity, face = spaces.Box(1, most, (), np.int64), spaces.Box(1, faces, (), np.int64)
    meaning = f"at least 1 die of face 1, 1 of face 2, … {most} of face {faces}; each is higher than those before it"
    return Game(
        name="liars_dice",
        agents=AGENTS,
        rules=Rules(blank=blank, num_actions=bids + 1, reset=reset, step=step, legal=legal),
        encoders={"v0": v0, "full": v0.extended([hidden], observe_hidden, full_information=True)},
        payoffs=Payoffs(-1, 1, zero_sum=True),
        view=View(
            action_spaces={"bid": spaces.Dict({"quantity": quantity, "face": face}), "liar": spaces.Dict({})},
            action_ranges=(
                ActionRange(0, bids, ("bid",), meaning),
                ActionRange(bids, bids + 1, ("liar",), "challenge the standing bid"),
            ),
            encode=encode,
            parse=parse,
            nearest=nearest,
            safe=safe,
            allowed=allowed,
            phase=phase,
            game_state=game_state,
            outcome=outcome,
            load=partial(load, blank),
            resample=resample,
            state_type=DiceState,
        ),
        renderer=Renderer(render, partial(dice_picture, "Liar's dice")),
        bots=BOTS,
        capabilities=Capabilities(
            public_view=PublicView(public),
            chance=Chance(begin=begin, step=step, outcomes=outcomes, play=roll),
            private_hands=PrivateHands(hands=faces**dice, hand=hand, event=two_seats.no_event),
        ),
    )
