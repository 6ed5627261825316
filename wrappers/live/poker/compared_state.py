"""One state of a table in the numbers by which a `TableTracker` compares it with the state before."""

from dataclasses import dataclass

from .messages import GameState


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
