"""What a poker host sends: messages made from the hand under way and the seats, in the form that the receiver wants.

A session makes every message in the agent format. `FullTableForm` translates it into the platform's other form, whole
tables in envelopes, for clients that do not ask for the agent format. It takes from the message what differs from seat
to seat (cards, choices), and from the hand only what all may know: a translated message shows nothing that the message
did not.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import UNSET, Struct

from ....envs.holdem.hands import card_name
from ....envs.holdem.table import KINDS
from ..common.clock import Outgoing
from . import messages
from .hand import LiveHand
from .messages import (
    Ack,
    Error,
    FinalStack,
    GameState,
    HandComplete,
    Last,
    Option,
    Player,
    PlayerJoined,
    PlayerLeft,
    Pong,
    Result,
    ServerMessage,
    TableStatus,
    Welcome,
)
from .table_data import PokerSeat

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
    all_pots: list[dict[str, Any]] = []
    floor = 0
    for level in sorted({inside[seat] for seat in live if inside[seat] > 0}):
        amount = sum(min(chips, level) - min(chips, floor) for chips in inside)
        all_pots.append({"amount": amount, "eligibleSeats": [seat for seat in live if inside[seat] >= level]})
        floor = level
    rest = sum(inside) - sum(pot["amount"] for pot in all_pots)
    if rest and all_pots:  # of those who have folded
        all_pots[-1]["amount"] += rest
    return all_pots or ([{"amount": rest, "eligibleSeats": live}] if rest else [])


OBSERVERS, FULL_OBSERVERS = -1, -2
"""The receivers that stand for all who look on without a seat: in the agent format, and in the full-table form."""


class _Moment(NamedTuple):
    """What all states of one moment have in common: fields, players without cards; and each seat's own two cards."""

    fields: dict[str, Any]
    players: dict[int, Player]
    cards: dict[int, list[int]]


class HostMessages:
    """Makes the messages of one table.

    Args:
        hand: the hand under way.
        seats: who sits where; the session changes it.

    Attributes:
        forms: how seats want their messages, where that is not the agent format; the session changes it.
    """

    def __init__(self, hand: LiveHand, seats: Mapping[int, PokerSeat]) -> None:
        self._hand = hand
        self._seats = seats
        self.forms: dict[int, FullTableForm] = {}

    def to(self, receiver: int, message: ServerMessage) -> Outgoing[HostMessage]:
        """Return a message in the form that its receiver wants."""
        form = self.forms.get(receiver)
        return Outgoing(receiver, message if form is None else form.envelope(message, self._hand, self._seats))

    def stack(self, seat: int) -> int:
        """Return the chips that the agent of a seat has behind."""
        return int(self._hand.table.stack[seat]) + self._seats[seat].chips

    def welcome(self, seat: int, timeout: int) -> Welcome:
        """Return a seat's welcome; `timeout` is the time to act in milliseconds."""
        return Welcome(seat=seat, agent_id=self._seats[seat].agent_id, timeout=timeout)

    def waiting(self, receiver: int, min_players: int) -> TableStatus:
        """Return the status of a table that waits for players."""
        seat = self._seats.get(receiver)
        return TableStatus(
            status="waiting",
            seat_id=None if seat is None else receiver,
            agent_id=None if seat is None else seat.agent_id,
            min_players_to_start=min_players,
            current_players=len(self._seats),
        )

    def ended(self, reason: str | None) -> TableStatus:
        """Return the status of a table that has ended."""
        stacks = [
            FinalStack(seat_id=number, agent_id=seat.agent_id, stack=self.stack(number))
            for number, seat in sorted(self._seats.items())
        ]
        return TableStatus(status="ended", reason=reason, final_stacks=stacks)

    def states(self, receivers: Iterable[int]) -> list[Outgoing[HostMessage]]:
        """Return the table's state for each receiver."""
        moment = self._moment()
        return [self.to(receiver, self._state(receiver, moment)) for receiver in receivers]

    def results(self, rows: list[dict[str, Any]], receivers: Iterable[int]) -> list[Outgoing[HostMessage]]:
        """Return the end of the hand for each receiver, who sees its own cards too.

        Args:
            rows: as `envs.holdem.view.results` returns them without a reader.
            receivers: to whom it is sent.
        """
        hand = self._hand
        public = [Result(**row) for row in rows]
        showdown = bool(hand.table.showdown)
        sends: list[Outgoing[HostMessage]] = []
        for receiver in receivers:
            results = [self._with_own_cards(row) if row.seat == receiver else row for row in public]
            sends.append(self.to(receiver, HandComplete(hand=hand.number, results=results, showdown=showdown)))
        return sends

    def _with_own_cards(self, row: Result) -> Result:
        return row if row.cards else Result(seat=row.seat, cards=self._hand.cards(row.seat), won=row.won)

    def _moment(self) -> _Moment:
        """Read the record once for all receivers."""
        hand, table = self._hand, self._hand.table
        playing = hand.playing
        stacks, bets = table.stack.tolist(), table.bet.tolist()
        folded, dealt = table.folded.tolist(), table.seated.tolist()
        players = {
            number: Player(
                seat=number,
                name=seat.name,
                stack=stacks[number] + seat.chips,
                bet=bets[number] if playing else 0,
                folded=bool(folded[number] or seat.chips),
                all_in=bool(playing and dealt[number] and not folded[number] and stacks[number] == 0),
            )
            for number, seat in sorted(self._seats.items())
        }
        last = None
        if table.last_seat >= 0:
            last = Last(seat=int(table.last_seat), kind=KINDS[table.last_kind], amount=int(table.last_amount) or None)
        fields = {
            "seq": hand.seq,
            "hand": hand.number,
            "phase": hand.game.view.phase(table),
            "board": hand.board(),
            "pot": int(table.pot) if playing else 0,
            "dealer": int(table.dealer),
            "turn": hand.turn,
            "last": last,
        }
        cards = {number: own for number, own in enumerate(table.cards.tolist()) if dealt[number]}
        return _Moment(fields, players, cards)

    def _state(self, receiver: int, moment: _Moment) -> GameState:
        """Return the state for one receiver: what all see, its own cards, and its choices if it is to act."""
        players = moment.players
        if receiver in moment.cards:
            public = players[receiver]
            own = Player(
                seat=receiver,
                name=public.name,
                stack=public.stack,
                bet=public.bet,
                cards=[card_name(card) for card in moment.cards[receiver]],
                folded=public.folded,
                all_in=public.all_in,
            )
            players = {**players, receiver: own}
        state = GameState(**moment.fields, players=list(players.values()), to_call=0)
        if state.turn == receiver:
            table = self._hand.table
            to_call = int(table.to_call)
            state.to_call = to_call
            state.actions = [Option(kind="fold"), Option(kind="call" if to_call else "check")]
            if table.raise_max > 0:
                bounds = int(table.raise_min), int(table.raise_max)
                state.actions.append(Option(kind="raiseTo", min=bounds[0], max=bounds[1]))
            state.turn_token = self._hand.token
        return state
