"""What a player sees, version 0. Seats are counted from the observer: 0 is itself."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import PER_SEAT, Layout, Slice
from ..rules import last_bid


def face_names(faces: int) -> tuple[str, ...]:
    """Return the names of the faces, from 1."""
    return tuple(f"face {face}" for face in range(1, faces + 1))


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    faces, most = int(table.faces), 2 * int(table.dice)
    named = face_names(faces)
    return Encoder(
        Layout(
            [
                Slice("agent_id", (1,), 0, 1, "1: the observer is player_0, who acts first"),
                Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
                Slice(
                    "current_turn_agent_id",
                    (2,),
                    0,
                    1,
                    "one-hot by relative seat; all 0 when it is over",
                    axes=PER_SEAT,
                ),
                Slice(
                    "game_state.my_dice",
                    (faces,),
                    0,
                    1,
                    "how many own dice show each face, as a share of them",
                    axes=(named,),
                ),
                Slice(
                    "game_state.shown",
                    (faces,),
                    0,
                    1,
                    "the other's dice in the same way, when it is over",
                    axes=(named,),
                ),
                Slice("game_state.current_bid.quantity", (1,), 0, 1, "as a share of all dice; 0 without a bid"),
                Slice("game_state.current_bid.face", (faces,), 0, 1, "one-hot; all 0 without a bid", axes=(named,)),
                Slice(
                    "game_state.action_history",
                    (most, faces),
                    0,
                    1,
                    "the bids made, by quantity and face",
                    axes=(tuple(f"quantity {one}" for one in range(1, most + 1)), named),
                ),
                Slice("game_over", (1,), 0, 1, "whether the round is over"),
                Slice("outcome.payoffs", (2,), -1, 1, "utilities by relative seat", axes=PER_SEAT),
            ]
        ),
        observe,
    )


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    out[:] = 0
    out[at.agent_id] = seat == 0
    out[at.is_my_turn] = table.turn == seat
    out[at.current_turn_agent_id] = table.turn == seat
    out[at.current_turn_agent_id + 1] = table.turn == 1 - seat
    write_dice(table, seat, at.my_dice, out)
    bid = last_bid(table)
    if bid >= 0:
        out[at.current_bid_quantity] = (bid // table.faces + 1) / (2 * table.dice)
        out[at.current_bid_face + bid % table.faces] = 1
    for i in range(table.bids):
        out[at.action_history + table.log[i]] = 1
    if table.done:
        out[at.game_over] = 1
        out[at.outcome_payoffs] = table.rewards[seat]
        out[at.outcome_payoffs + 1] = table.rewards[1 - seat]
        write_dice(table, 1 - seat, at.shown, out)


@compiled
def write_dice(table: Any, seat: int, start: int, out: Any) -> None:
    """Write how many dice of a seat show each face, as a share of them, from ``out[start]`` on. Unknown dice are 0."""
    for face in range(1, table.faces + 1):
        shown = 0
        for k in range(table.dice * seat, table.dice * seat + table.dice):
            shown += table.die[k] == face
        out[start + face - 1] = shown / table.dice
