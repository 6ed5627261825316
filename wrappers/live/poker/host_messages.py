"""What a poker host sends: messages made from the hand under way and the seats."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ....envs.holdem.hands import card_name
from ....envs.holdem.table import KINDS
from ..common.clock import Outgoing
from .hand import LiveHand
from .messages import (
    FinalStack,
    GameState,
    HandComplete,
    Last,
    Option,
    Player,
    Result,
    ServerMessage,
    TableStatus,
)
from .table_data import PokerSeat

OBSERVERS = -1
"""The receiver that stands for all who look on without a seat."""


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
    """

    def __init__(self, hand: LiveHand, seats: Mapping[int, PokerSeat]) -> None:
        self._hand = hand
        self._seats = seats

    def stack(self, seat: int) -> int:
        """Return the chips that the agent of a seat has behind."""
        return int(self._hand.table.stack[seat]) + self._seats[seat].chips

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

    def states(self, receivers: Iterable[int]) -> list[Outgoing[ServerMessage]]:
        """Return the table's state for each receiver."""
        moment = self._moment()
        return [Outgoing(receiver, self._state(receiver, moment)) for receiver in receivers]

    def results(self, rows: list[dict[str, Any]], receivers: Iterable[int]) -> list[Outgoing[ServerMessage]]:
        """Return the end of the hand for each receiver, who sees its own cards too.

        Args:
            rows: as `envs.holdem.view.results` returns them without a reader.
            receivers: to whom it is sent.
        """
        hand = self._hand
        public = [Result(**row) for row in rows]
        showdown = bool(hand.table.showdown)
        sends: list[Outgoing[ServerMessage]] = []
        for receiver in receivers:
            results = [self._with_own_cards(row) if row.seat == receiver else row for row in public]
            sends.append(Outgoing(receiver, HandComplete(hand=hand.number, results=results, showdown=showdown)))
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
