"""What a seat at a poker table may see, as TurnState: the page's picture is drawn from it, as replays are."""

from typing import Any

from ....envs.core.turn_state import TurnState
from ....envs.holdem import view
from ..poker.host_session import PokerHostSession


def turn_state(session: PokerHostSession, seat: int | None) -> TurnState:
    """Return the table as `seat` may see it.

    Args:
        session: the table.
        seat: a seat where somebody sits; None: somebody who watches, and sees no cards but those that were shown.
    """
    table = session.table
    dealt = seat is not None and bool(table.seated[seat])
    game = view.game_state(table, seat) if seat is not None and dealt else view.public(table)
    playing = session.due is not None and session.due.what == "act"
    game |= {
        "seat": seat,
        "hand": session.hand,
        "hands": 1,
        "players": [_player(session, row, playing) for row in game["players"] if row["seat"] in session.seats],
        "pot": game["pot"] if playing else 0,
        "turn": game["turn"] if playing else None,
    }
    turn = game["turn"]
    finished = session.hand > 0 and bool(table.done) and not playing
    return TurnState(
        match_id="",
        game_id=session.game.id,
        agent_id="" if seat is None else str(seat),
        phase=game["phase"],
        is_my_turn=turn is not None and turn == seat,
        current_turn_agent_id=None if turn is None else str(turn),
        game_state=game,
        game_over=finished,
        outcome=_outcome(table, seat if dealt else None) if finished else None,
    )


def _player(session: PokerHostSession, row: dict[str, Any], playing: bool) -> dict[str, Any]:
    seat = session.seats[row["seat"]]
    chips = {"name": seat.name or f"Seat {row['seat'] + 1}", "stack": session.stack(row["seat"])}
    if not playing:
        chips |= {"bet": 0, "committed": 0}
    if seat.chips:  # a newcomer, who plays from the next hand on
        chips["folded"] = True
    return {**row, **chips}


def _outcome(table: Any, seat: int | None) -> dict[str, Any]:
    return {"reason": "showdown" if table.showdown else "fold", "results": view.results(table, seat)}
