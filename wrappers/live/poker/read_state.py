"""What is read from a state of a table: the offers to the agent, and the numbers that two states are compared by."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....envs.holdem.state import Offer
from .messages import GameState


def read_offers(state: GameState, seat: int | None) -> tuple[list[Offer], int]:
    """Return the offers of a state in one form, without unknown kinds, and the price of staying in the hand.

    The platform may leave out the price, or a bound of the raise, and may give the amount of a call in its bounds.
    Where a check is offered, the price is 0. An all-in that is offered as a raise and raises nothing is a call.
    """
    options = {option.kind: option for option in state.actions or ()}
    offers: list[Offer] = [Offer(kind) for kind in ("fold", "check", "call") if kind in options]
    bounds, call = options.get("raiseTo"), options.get("call")
    highest = max((player.bet for player in state.players), default=0)
    if bounds is not None and bounds.max:
        if call is None and "check" not in options and bounds.max <= highest:
            offers.append(Offer("call"))
        else:
            offers.append(Offer("raiseTo", min(bounds.min or bounds.max, bounds.max), bounds.max))
    if "check" in options:
        return offers, 0
    price = state.to_call or (call is not None and call.max) or owed(state, seat)
    return offers, max(price, 1) if call is not None else price


def owed(state: GameState, seat: int | None) -> int:
    """Return the chips that a seat has to put in to stay in the hand, as the bets tell it."""
    own = next((player for player in state.players if player.seat == seat), None)
    highest = max((player.bet for player in state.players), default=0)
    return highest if own is None else min(highest - own.bet, own.stack)


def safe_kind(kinds: Sequence[str]) -> str:
    """Return the kind of the safe action: check where it is offered, else fold."""
    return "check" if "check" in kinds else "fold"


@dataclass
class ComparedState:
    """One state, in the numbers that are compared."""

    seq: int
    phase: str
    turn: int | None
    stacks: dict[int, int]
    bets: dict[int, int]
    folded: set[int]


def compared_state(state: GameState) -> ComparedState:
    """Return a state's numbers."""
    players = {player.seat: player for player in state.players}
    return ComparedState(
        seq=state.seq,
        phase=state.phase,
        turn=state.turn if isinstance(state.turn, int) else None,
        stacks={seat: player.stack for seat, player in players.items()},
        bets={seat: player.bet for seat, player in players.items()},
        folded={seat for seat, player in players.items() if player.folded},
    )


def acted_between(now: ComparedState, was: ComparedState) -> bool:
    """Return whether somebody acted between two states, which some servers give the same seq."""
    seats = now.stacks.keys() & was.stacks.keys()
    moved = any((now.stacks[seat], now.bets[seat]) != (was.stacks[seat], was.bets[seat]) for seat in seats)
    return (
        moved
        or (now.phase, now.turn) != (was.phase, was.turn)
        or not now.folded <= was.folded | now.stacks.keys() - seats
    )
