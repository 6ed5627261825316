"""Record ──► TurnState of a bidder, and back. `game_state` and `outcome` are those of the TurnState platforms.

With talk, `game_state` also has ``messages_left``: how many messages the acting seat may still send in this turn.
"""

from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.structured_talk import LIMIT, StructuredTalk, spoken
from ..core.turn_state import TurnState
from .rules import draw_valuation


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "auction"


def public(table: Any) -> dict[str, Any]:
    """Return the public view of the auction: who has bid, without amounts."""
    return {
        "num_bidders": int(table.num_bidders),
        "num_bids_submitted": int(table.num_bids_submitted),
        "action_history": _history(table),
    }


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the auction as `seat` may see it."""
    bidders = int(table.num_bidders)
    rounds = table.bid_round[:bidders].tolist()
    others = [_name(other) for other in range(bidders) if other != seat and rounds[other] > 0]
    state = {
        "my_valuation": float(table.valuation[seat]),
        "my_bid": float(table.bid[seat]) if rounds[seat] > 0 else None,
        "opponents_with_bid": others,
        "opponent_has_bid": bool(others),
        **public(table),
    }
    if table.talk:
        state["messages_left"] = LIMIT - int(table.spoken) if seat == table.turn else LIMIT
    return state


def _name(seat: int) -> str:
    return f"player_{seat}"


def _history(table: Any) -> list[dict[str, Any]]:
    """Return every action so far, without amounts. A seat has one turn per round until it bids."""
    entries = []
    last, turn, done = int(table.round_number), int(table.turn), bool(table.done)
    rounds = table.bid_round[: table.num_bidders].tolist()
    for round_ in range(1, last + 1):
        for seat, bid_round in enumerate(rounds):
            acted = round_ < last or done or seat < turn
            if bid_round == round_:
                entries.append({"agent_id": _name(seat), "action": "submit_bid", "round": round_})
            elif bid_round > round_ or (bid_round == 0 and acted):
                entries.append({"agent_id": _name(seat), "action": "pass", "round": round_})
    return entries


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome of the auction: every seat's utility, the reason, the winner's id."""
    resolved = bool(table.winner >= 0)
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(int(table.num_bidders))],
        "reason": "auction_resolved" if resolved else "max_rounds_exceeded",
        "winner": _name(int(table.winner)) if resolved else None,
    }


def load(blank: Tables, talk: StructuredTalk, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names. Those other than ``player_0``, ``player_1``, … get the free seats, in the order in which
    `state` names them.

    Args:
        blank: a table with the options that TurnState does not have.
        talk: the game's sentences.
        state: the auction's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    if game["num_bidders"] != table.num_bidders:
        raise ValueError(f"{game['num_bidders']} bidders; this game was made for {int(table.num_bidders)}")
    seats = _seating(state, int(table.num_bidders))
    seat = seats[state.agent_id]
    history = game["action_history"]
    table.valuation[seat] = game["my_valuation"]
    table.num_bids_submitted = game["num_bids_submitted"]
    for agent in game["opponents_with_bid"]:
        table.bid_round[seats[agent]] = 1
    if game["my_bid"] is not None:
        table.bid[seat], table.bid_round[seat] = game["my_bid"], 1
    for entry in history:
        if entry["action"] == "submit_bid":
            table.bid_round[seats[entry["agent_id"]]] = entry["round"]
    table.turn, table.winner = -1, -1
    if state.game_over:
        _load_end(table, state, seats)
    elif state.current_turn_agent_id is not None:
        table.turn = seats[state.current_turn_agent_id]
        # The seat has acted once in each round before.
        table.round_number = 1 + sum(entry["agent_id"] == state.current_turn_agent_id for entry in history)
    if table.talk:
        talk.load(table, seat, state.messages, seats)
        if state.is_my_turn:
            table.spoken = spoken(state.messages, state.agent_id, game.get("messages_left"))
    return tables, seat


def _load_end(table: Any, state: TurnState, seats: dict[str, int]) -> None:
    table.done = True
    table.round_number = max((entry["round"] for entry in state.game_state["action_history"]), default=1)
    end = state.outcome or {}
    for payoff in end.get("payoffs", ()):
        table.rewards[seats[payoff["agent_id"]]] = payoff["utility"]
    if end.get("winner") is not None:
        table.winner = seats[end["winner"]]


def _seating(state: TurnState, bidders: int) -> dict[str, int]:
    """Return the seat of every agent that `state` names."""
    ours = {_name(seat): seat for seat in range(bidders)}
    named = [state.agent_id, *state.game_state["opponents_with_bid"]]
    named += [entry["agent_id"] for entry in state.game_state["action_history"]]
    named += [payoff["agent_id"] for payoff in (state.outcome or {}).get("payoffs", ())]
    if state.current_turn_agent_id is not None:
        named.append(state.current_turn_agent_id)
    named += [message.sender_id for message in state.messages]
    strangers = [agent for agent in dict.fromkeys(named) if agent not in ours]
    if not strangers:
        return ours
    taken = {ours[agent] for agent in named if agent in ours}
    free = [seat for seat in range(bidders) if seat not in taken]
    return ours | dict(zip(strangers, free, strict=False))


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seats' valuations and bids again, in place, and the stream."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    for other in range(int(table.num_bidders)):
        if other != seat:
            table.valuation[other] = draw_valuation(table, other)
            if table.bid_round[other] > 0:
                table.bid[other] = table.bid_step * generator.integers(int(table.bids))
