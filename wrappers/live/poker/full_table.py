"""The platform's other form of messages, for clients that do not ask for the agent format: whole tables, in envelopes.

A session makes every message in the agent format, and `FullTableForm` translates it for the seats that want it so. It
takes from the message what differs from seat to seat (cards, choices), and from the hand only what all may know: a
translated message shows nothing that the message did not.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, Struct

from . import messages
from .hand import LiveHand
from .messages import (
    Ack,
    Error,
    GameState,
    HandComplete,
    PlayerJoined,
    PlayerLeft,
    Pong,
    ServerMessage,
    TableStatus,
    Welcome,
)
from .seats import PokerSeat

PROTOCOL_VERSION = "0.1"
MIN_PROTOCOL_VERSION = "0.1"


class Envelope(Struct, omit_defaults=True, kw_only=True):
    """A message for a client of the full-table form; ``ts`` is the time of sending, in milliseconds since 1970."""

    type: str
    table_id: str | None = None
    seq: int | None = None
    ts: int = 0
    payload: dict[str, Any]


HostMessage = ServerMessage | Envelope
"""What a host sends."""


def encode(message: HostMessage) -> str:
    """Return the JSON text that travels; an envelope gets its time."""
    if isinstance(message, Envelope):
        message.ts = round(1000 * time.time())
        return messages.encode_any(message)
    return messages.encode(message)


@dataclass(frozen=True)
class FullTableForm:
    """How one connection wants its messages.

    Attributes:
        table_id: of its table; None before it is known.
        skill_doc_url: where the server explains itself to agents.
    """

    table_id: str | None
    skill_doc_url: str

    def envelope(self, message: ServerMessage, hand: LiveHand | None, seats: Mapping[int, PokerSeat]) -> Envelope:
        """Return a message in this form.

        Args:
            message: in the agent format, as its receiver may see it.
            hand: the hand under way; None where no table is concerned.
            seats: who sits where.
        """
        seq = message.seq if isinstance(message, (GameState, Ack)) else None
        payload = self._payload(message, hand, seats)
        return Envelope(type=str(message.__struct_config__.tag), table_id=self.table_id, seq=seq, payload=payload)

    def _payload(self, message: ServerMessage, hand: LiveHand | None, seats: Mapping[int, PokerSeat]) -> dict[str, Any]:
        match message:
            case GameState() if hand is not None:
                return {"tableId": self.table_id, **_state(message, hand, seats)}
            case HandComplete() if hand is not None:
                return _results(message, hand, seats)
            case Welcome():
                return {
                    "protocol_version": PROTOCOL_VERSION,
                    "min_supported_protocol_version": MIN_PROTOCOL_VERSION,
                    "skill_doc_url": self.skill_doc_url,
                    "seat_id": message.seat,
                    "agent_id": message.agent_id,
                    "action_timeout_ms": message.timeout,
                }
            case Ack():
                return {"turn_token": message.turn_token, "seq": message.seq, "success": True}
            case Error():
                about = {"min_supported_protocol_version": MIN_PROTOCOL_VERSION, "skill_doc_url": self.skill_doc_url}
                return {"code": message.code, "message": message.message, **about}
            case PlayerJoined():
                who = {"seatId": message.seat_id, "agentId": message.agent_id, "agentName": message.agent_name}
                return {**who, "stack": message.stack}
            case PlayerLeft():
                return {"seatId": message.seat_id, "agentId": message.agent_id}
            case Pong():
                return {"timestamp": 0 if message.payload is None else message.payload.timestamp}
            case TableStatus():
                return {name: value for name, value in messages.plain(message).items() if name != "type"}
            case _:
                raise TypeError(f"a host sends no {type(message).__name__}")


def _state(state: GameState, hand: LiveHand, seats: Mapping[int, PokerSeat]) -> dict[str, Any]:
    table = hand.table
    last, turn = state.last, state.turn if isinstance(state.turn, int) else None
    payload: dict[str, Any] = {
        "handNumber": state.hand,
        "phase": state.phase,
        "communityCards": [card(name) for name in state.board],
        "pots": pots(table, state.players) if hand.playing else [],
        "players": [
            {
                "seatId": player.seat,
                "agentId": seats[player.seat].agent_id,
                "agentName": seats[player.seat].name,
                "stack": player.stack,
                "bet": player.bet,
                "folded": bool(player.folded),
                "allIn": bool(player.all_in),
                "isActive": bool(table.seated[player.seat]),
                "holeCards": None if player.cards is None else [card(name) for name in player.cards],
            }
            for player in state.players
        ],
        "dealerSeat": state.dealer,
        "currentSeat": turn,
        "lastAction": None if last is None else {"seatId": last.seat, "kind": last.kind, **_amount(last.amount)},
        "legalActions": None if state.actions is None else [_option(option, state.to_call) for option in state.actions],
        "minRaise": int(table.full_raise),
        "seq": state.seq,
    }
    if state.to_call not in (0, None, UNSET):
        payload["toCall"] = state.to_call
    if state.turn_token is not None:
        payload["turn_token"] = state.turn_token
    return payload


def _results(message: HandComplete, hand: LiveHand, seats: Mapping[int, PokerSeat]) -> dict[str, Any]:
    return {
        "handNumber": message.hand,
        "results": [
            {
                "seatId": row.seat,
                "agentId": seats[row.seat].agent_id,
                "holeCards": [card(name) for name in row.cards or ()],
                **({} if row.rank is None else {"handRank": row.rank}),
                "winnings": row.won,
            }
            for row in message.results
        ],
        "finalPots": pots(hand.table, ()),
        "communityCards": [card(name) for name in hand.board()],
        "showdown": message.showdown,
    }


def _option(option: messages.Option, to_call: Any) -> dict[str, Any]:
    if option.kind == "call":
        return {"kind": "call", "minAmount": to_call, "maxAmount": to_call}
    bounds = {} if option.max is None else {"minAmount": option.min, "maxAmount": option.max}
    return {"kind": option.kind, **bounds}


def _amount(amount: int | None) -> dict[str, int]:
    return {} if amount is None else {"amount": amount}


def card(name: str) -> dict[str, str]:
    """Return a card in this form.

    >>> card("Th")
    {'rank': 'T', 'suit': 'h'}
    """
    return {"rank": name[0], "suit": name[1]}


def pots(table: Any, betting: Any) -> list[dict[str, Any]]:
    """Return the main pot and the side pots of finished streets: chips, and the seats that can win them.

    Args:
        table: the record.
        betting: the players (`messages.Player`) whose bets are not in the pots yet.
    """
    inside = table.committed.tolist()
    for player in betting:
        inside[player.seat] -= player.bet
    live = [seat for seat in range(int(table.seats)) if table.seated[seat] and not table.folded[seat]]
    found: list[dict[str, Any]] = []
    floor = 0
    for level in sorted({inside[seat] for seat in live if inside[seat] > 0}):
        amount = sum(min(chips, level) - min(chips, floor) for chips in inside)
        found.append({"amount": amount, "eligibleSeats": [seat for seat in live if inside[seat] >= level]})
        floor = level
    rest = sum(inside) - sum(pot["amount"] for pot in found)
    if rest and found:  # of those who have folded
        found[-1]["amount"] += rest
    return found or ([{"amount": rest, "eligibleSeats": live}] if rest else [])
