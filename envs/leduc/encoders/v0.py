"""What a player sees, version 0. Seats are counted from the observer: 0 is itself."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import PER_SEAT, Layout, Slice
from ..table import MOST, MOVES, RANKS, ROUNDS

KINDS = 3

LAYOUT = Layout(
    [
        Slice("agent_id", (1,), 0, 1, "1: the observer is player_0, who acts first in both rounds"),
        Slice("phase", (1,), 0, 1, "0: first round, 1: second round"),
        Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
        Slice("current_turn_agent_id", (2,), 0, 1, "one-hot by relative seat; all 0 when it is over", axes=PER_SEAT),
        Slice("game_state.my_card", (len(RANKS),), 0, 1, f"own card, one-hot: {', '.join(RANKS)}", axes=(RANKS,)),
        Slice(
            "game_state.board", (len(RANKS),), 0, 1, "the open card, one-hot; all 0 in the first round", axes=(RANKS,)
        ),
        Slice("game_state.shown", (len(RANKS),), 0, 1, "the other's card, one-hot, after a showdown", axes=(RANKS,)),
        Slice("game_state.chips", (2,), 0, 1, f"put in by relative seat, as a share of {MOST:g}", axes=PER_SEAT),
        Slice(
            "game_state.action_history",
            (ROUNDS, MOVES, KINDS),
            0,
            1,
            "moves in order, one-hot: fold, call, raise",
            axes=("round", "move", ("fold", "call", "raise")),
        ),
        Slice("game_over", (1,), 0, 1, "whether the deal is over"),
        Slice("outcome.payoffs", (2,), -1, 1, f"chips won by relative seat, as a share of {MOST:g}", axes=PER_SEAT),
    ]
)


def encoder(table: Any) -> Encoder:
    """Return the encoder."""
    return Encoder(LAYOUT, observe)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    out[:] = 0
    out[at.agent_id] = seat == 0
    out[at.phase] = table.round_number
    out[at.is_my_turn] = table.turn == seat
    out[at.current_turn_agent_id] = table.turn == seat
    out[at.current_turn_agent_id + 1] = table.turn == 1 - seat
    if table.card[seat] >= 0:
        out[at.my_card + table.card[seat]] = 1
    if table.board >= 0:
        out[at.board + table.board] = 1
    out[at.chips] = table.chips[seat] / MOST
    out[at.chips + 1] = table.chips[1 - seat] / MOST
    for one in range(ROUNDS):
        for i in range(table.moves[one]):
            move = MOVES * one + i
            out[at.action_history + KINDS * move + table.log[move]] = 1
    if table.done:
        out[at.game_over] = 1
        out[at.outcome_payoffs] = table.rewards[seat] / MOST
        out[at.outcome_payoffs + 1] = table.rewards[1 - seat] / MOST
        if table.showdown:
            out[at.shown + table.card[1 - seat]] = 1
