"""TurnState ──► record: with what a bidder may know. It reads the states of other hosts of the protocol, too."""

from typing import Any

import numpy as np

from ..core.loading import amount, moves_in, named_order, own_turns_left, payoffs_in, round_of
from ..core.record import Tables
from ..core.structured_talk import StructuredTalk, spoken
from ..core.turn_state import TurnState
from .table import BID, KINDS, TALK


def load(blank: Tables, talk: StructuredTalk, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names (see `_seating`). What a host adds is left out: unknown fields, and rows of the history
    that are no moves. Rounds may count from 0 or 1, and passes may not be logged. With more bidders than the game was
    made for, the last ones are not seen (the agent itself always is); with fewer, the seats that are left over have not
    bid.

    Args:
        blank: a table with the options that TurnState does not have.
        talk: the words of this game.
        state: the auction's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: naming a field that should hold a number and does not.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    history = moves_in(game.get("action_history"), KINDS[:TALK], state.phase)
    others = _others_with_bid(state)
    seats = _seating(state, int(table.num_bidders), [*others, *(row["agent_id"] for row in history)])
    seat = seats[state.agent_id]
    table.valuation[seat] = amount(game.get("my_valuation") or 0.0, "my_valuation")
    for agent in others:
        if agent in seats:
            table.bid_round[seats[agent]] = 1
    if game.get("my_bid") is not None:
        table.bid[seat], table.bid_round[seat] = amount(game["my_bid"], "my_bid"), 1
    origin = 0 if any(round_of(row) == 0 for row in history) else 1
    for row in history:
        if row["action"] == KINDS[BID] and row["agent_id"] in seats:
            table.bid_round[seats[row["agent_id"]]] = max(1, round_of(row) - origin + 1)
    if game.get("opponent_has_bid") and "opponents_with_bid" not in game and not table.bid_round[1 - seat]:
        table.bid_round[1 - seat] = 1  # the form for two bidders, without names
    table.num_bids_submitted = np.count_nonzero(table.bid_round)
    table.turn, table.winner = -1, -1
    latest = max((round_of(row) - origin + 1 for row in history), default=1)
    if state.game_over:
        _load_end(table, state, seats)
    else:
        acting = state.agent_id if state.is_my_turn else state.current_turn_agent_id
        table.turn = seats.get(acting or "", -1)
        # It acted once in each round before.
        latest = max(latest, 1 + sum(row["agent_id"] == acting for row in history))
        left = own_turns_left(state, int(table.num_bidders))
        if left is not None:  # the host ends the match earlier
            latest = max(latest, int(table.rounds) - left + 1)
    table.round_number = min(max(latest, 1), int(table.rounds))
    if table.talk:
        talk.load(table, seat, state.messages, seats)
        if state.is_my_turn:
            table.spoken = spoken(state.messages, state.agent_id, game.get("messages_left"))
    return tables, seat


def _others_with_bid(state: TurnState) -> list[str]:
    found = state.game_state.get("opponents_with_bid")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _load_end(table: Any, state: TurnState, seats: dict[str, int]) -> None:
    table.done = True
    for agent, utility in payoffs_in(state):
        if agent in seats:
            table.rewards[seats[agent]] = utility
    winner = (state.outcome or {}).get("winner")
    if isinstance(winner, str):
        table.winner = seats.get(winner, -1)
    winners = (state.outcome or {}).get("winners")
    for one in winners if isinstance(winners, list) else [winner]:
        if isinstance(one, str) and one in seats:
            table.won[seats[one]] = 1


def _seating(state: TurnState, bidders: int, acted: list[str]) -> dict[str, int]:
    """Give agents their seats: by the host's order; else by their own names, and strangers the free ones as named."""
    order = named_order(state)
    if order:
        kept = [agent for agent in order if agent == state.agent_id or order.index(agent) < bidders]
        if len(kept) > bidders:  # the agent itself is among those that would not be seen
            del kept[-2]
        return {agent: seat for seat, agent in enumerate(kept)}
    ours = {f"player_{seat}": seat for seat in range(bidders)}
    named = [state.agent_id, *acted, *(agent for agent, _ in payoffs_in(state))]
    if state.current_turn_agent_id is not None:
        named.append(state.current_turn_agent_id)
    named += [message.sender_id for message in state.messages]
    strangers = [agent for agent in dict.fromkeys(named) if agent not in ours]
    if not strangers:
        return ours
    taken = {ours[agent] for agent in named if agent in ours}
    free = [seat for seat in range(bidders) if seat not in taken]
    if state.agent_id not in ours and not free:  # the agent itself is always seen
        del ours[f"player_{bidders - 1}"]
        free = [bidders - 1]
    return ours | dict(zip(strangers, free, strict=False))
