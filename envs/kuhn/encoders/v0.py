"""What a player sees, version 0. Seats are counted from the observer: 0 is itself."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import PER_SEAT, Layout, Slice
from ..table import KINDS, MOST, MOVES, RANKS

LAYOUT = Layout(
    [
        Slice("agent_id", (1,), 0, 1, "1: the observer is player_0, who acts first"),
        Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
        Slice("current_turn_agent_id", (2,), 0, 1, "one-hot by relative seat; all 0 when it is over", axes=PER_SEAT),
        Slice("game_state.my_card", (len(RANKS),), 0, 1, f"own card, one-hot: {', '.join(RANKS)}", axes=(RANKS,)),
        Slice("game_state.shown", (len(RANKS),), 0, 1, "the other's card, one-hot, after a showdown", axes=(RANKS,)),
        Slice(
            "game_state.action_history",
            (MOVES, 2),
            0,
            1,
            "the moves in order, one-hot: pass, bet",
            axes=("move", KINDS),
        ),
        Slice("game_over", (1,), 0, 1, "whether the deal is over"),
        Slice("outcome.payoffs", (2,), -MOST, MOST, "chips won, by relative seat", axes=PER_SEAT),
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
    out[at.is_my_turn] = table.turn == seat
    out[at.current_turn_agent_id] = table.turn == seat
    out[at.current_turn_agent_id + 1] = table.turn == 1 - seat
    if table.card[seat] >= 0:
        out[at.my_card + table.card[seat]] = 1
    for i in range(table.moves):
        out[at.action_history + 2 * i + table.log[i]] = 1
    if table.done:
        out[at.game_over] = 1
        out[at.outcome_payoffs] = table.rewards[seat]
        out[at.outcome_payoffs + 1] = table.rewards[1 - seat]
        if table.showdown:
            out[at.shown + table.card[1 - seat]] = 1
