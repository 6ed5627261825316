"""What a seat at a poker table may see, as TurnState: the page's picture is drawn from it, as replays are."""

from typing import Any

from msgspec.structs import replace

from ....envs.core.turn_state import TurnState
from ....envs.holdem import view
from ....envs.holdem.state import Player
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
    players = [_shown(session, player, playing) for player in game.players if player.seat in session.seats]
    turn = game.turn if playing else None
    pot = game.pot if playing else 0
    game = replace(game, seat=seat, hand=session.hand, hands=1, players=players, pot=pot, turn=turn)
    finished = session.hand > 0 and bool(table.done) and not playing
    return TurnState(
        match_id="",
        game_id=session.game.id,
        agent_id="" if seat is None else str(seat),
        phase=game.phase,
        is_my_turn=turn is not None and turn == seat,
        current_turn_agent_id=None if turn is None else str(turn),
        game_state=game.to_dict(),
        game_over=finished,
        outcome=_outcome(table, seat if dealt else None) if finished else None,
    )


def _shown(session: PokerHostSession, player: Player, playing: bool) -> Player:
    """Return a player with its name and chips at the table; a newcomer plays from the next hand on."""
    seat = session.seats[player.seat]
    chips = {} if playing else {"bet": 0, "committed": 0}
    name, stack = seat.name or f"Seat {player.seat + 1}", session.stack(player.seat)
    return replace(player, name=name, stack=stack, folded=player.folded or bool(seat.chips), **chips)


def _outcome(table: Any, seat: int | None) -> dict[str, Any]:
    return {"reason": "showdown" if table.showdown else "fold", "results": view.results(table, seat)}
