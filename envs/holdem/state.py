"""The type of hold'em's `game_state`, which simulated and live tables build and `load` reads."""

import msgspec
from msgspec import UNSET, UnsetType

from ..core.game_state import GameState


class Player(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """A player.

    Attributes:
        seat: from 0.
        name: by which the player is called.
        stack: chips behind.
        bet: chips put in on this street.
        committed: chips put in in this hand; by default the bet.
        folded: whether the player gave up the hand; left out where false.
        all_in: whether the player is in the hand with no chips behind; left out where false.
        cards: the observer's two, and at the end those that were shown; left out where they are not seen.
        rank: the name of the best hand with these cards.
        agent_id: the platform's id of the player, where a host sends it.
    """

    seat: int
    name: str | None = ""
    stack: int
    bet: int = -1
    committed: int = -1
    folded: bool = False
    all_in: bool = False
    cards: list[str] | None = []
    rank: str | None = ""
    agent_id: str | None = msgspec.field(default="", name="agent_id")

    def __post_init__(self) -> None:
        """Fill in the chips that a host leaves out."""
        self.bet = max(self.bet, 0)
        if self.committed < 0:
            self.committed = self.bet


class LastAction(msgspec.Struct, omit_defaults=True):
    """The latest action of the hand.

    Attributes:
        seat: who acted.
        kind: fold, check, call or raiseTo.
        amount: the total of a raise, or the chips of a call; left out where it is 0.
    """

    seat: int = -1
    kind: str = ""
    amount: int = 0


class Offer(msgspec.Struct, omit_defaults=True):
    """What the seat to act may do.

    Attributes:
        kind: fold, check, call or raiseTo.
        min: the least total of raiseTo; other kinds have no bounds.
        max: the highest total of raiseTo: all-in.
    """

    kind: str
    min: int = 0
    max: int = 0


class HistoryEntry(msgspec.Struct):
    """An action of the hand.

    Attributes:
        street: preflop, flop, turn or river.
        seat: who acted.
        kind: fold, check, call or raiseTo.
        bet: the actor's bet on that street afterwards.
    """

    street: str = ""
    seat: int = -1
    kind: str = ""
    bet: int = 0


class HoldemState(GameState, kw_only=True, rename="camel"):
    """A table of hold'em as a seat sees it.

    The fields are those of `game_state` in Moltpoker's agent format. There is also what an agent there collects from
    several messages or gets when it joins: ``seat``, ``hands``, the blinds and the ante, ``players[].committed``, own
    ``players[].rank``, and ``history``. The history is whole but for the first actions of a hand of more than
    `table.LOG`; ``historyMissing`` says how many.

    Attributes:
        seat: the observer's; null for who only watches.
        hand: the number of the hand in the episode, from 1.
        hands: hands per episode; 1 at a live table, where every hand is an episode.
        phase: preflop, flop, turn, river, showdown or ended.
        board: the cards on the board.
        pot: all chips put in.
        players: by seat.
        dealer: the seat of the button.
        turn: the seat to act.
        last: the latest action.
        actions: what the observer may do; empty out of its turn.
        to_call: chips that a call costs, 0 out of turn; by default (−1) what the bets say.
        small_blind: in chips; by default half the big blind.
        big_blind: in chips.
        ante: in chips.
        history: the actions of the hand in order.
        history_missing: how many actions the history lacks; left out where it is whole.
    """

    seat: int | None = None
    hand: int = 1
    hands: int = 1
    phase: str
    board: list[str]
    pot: int
    players: list[Player]
    dealer: int
    turn: int | None = None
    last: LastAction | None = None
    actions: list[Offer] = msgspec.field(default_factory=list)
    to_call: int = -1
    small_blind: int = -1
    big_blind: int
    ante: int = 0
    history: list[HistoryEntry] = msgspec.field(default_factory=list)
    history_missing: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Fill in the small blind that a host leaves out."""
        if self.small_blind < 0:
            self.small_blind = self.big_blind // 2
