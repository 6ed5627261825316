"""The type of hold'em's `game_state`, which simulated and live tables build and `load` reads."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from ..core.game_state import GameState, about


class Player(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """A player."""

    seat: Annotated[int, about("from 0")]
    name: Annotated[str | None, about("by which the player is called")] = ""
    stack: Annotated[int, about("chips behind")]
    bet: Annotated[int, about("chips put in on this street")] = -1
    committed: Annotated[int, about("chips put in in this hand; where left out, the bet")] = -1
    folded: Annotated[bool, about("gave up the hand; left out where false")] = False
    all_in: Annotated[bool, about("in the hand with no chips behind; left out where false")] = False
    cards: Annotated[list[str] | None, about("own cards, and at the end shown ones; left out where not seen")] = []
    rank: Annotated[str | None, about("the name of the best hand with these cards; left out without them")] = ""
    agent_id: Annotated[str | None, about("an id, where a host sends it")] = field(default="", name="agent_id")

    def __post_init__(self) -> None:
        """Fill in the chips that a host leaves out."""
        self.bet = max(self.bet, 0)
        if self.committed < 0:
            self.committed = self.bet


class LastAction(Struct, omit_defaults=True):
    """The latest action of the hand."""

    seat: Annotated[int, about("who acted")] = -1
    kind: Annotated[str, about("fold, check, call or raiseTo")] = ""
    amount: Annotated[int, about("the total of a raise, or the chips of a call; left out where it is 0")] = 0


class Offer(Struct, omit_defaults=True):
    """What the seat to act may do; only raiseTo has bounds."""

    kind: Annotated[str, about("fold, check, call or raiseTo")]
    min: Annotated[int, about("the least total of raiseTo")] = 0
    max: Annotated[int, about("the highest total of raiseTo: all-in")] = 0


class HistoryEntry(Struct):
    """An action of the hand."""

    street: Annotated[str, about("preflop, flop, turn or river")] = ""
    seat: Annotated[int, about("who acted")] = -1
    kind: Annotated[str, about("fold, check, call or raiseTo")] = ""
    bet: Annotated[int, about("the actor's bet on that street afterwards")] = 0


class HoldemState(GameState, kw_only=True, rename="camel"):
    """A table of hold'em as a seat sees it.

    The fields are those of `game_state` in Moltpoker's agent format. There is also what an agent there collects from
    several messages or gets when it joins: ``seat``, ``hands``, the blinds and the ante, ``players[].committed``, own
    ``players[].rank``, and ``history``. The history is whole but for the first actions of a hand of more than
    `table.LOG`.
    """

    seat: Annotated[int | None, about("the observer's; null for who only watches")] = None
    hand: Annotated[int, about("the number of the hand in the episode, from 1")] = 1
    hands: Annotated[int, about("per episode; 1 at a live table, where every hand is an episode")] = 1
    phase: Annotated[str, about("waiting, preflop, flop, turn, river, showdown or ended")]
    board: Annotated[list[str], about("the cards on the board")]
    pot: Annotated[int, about("all chips put in; where left out, what the players have committed")] = -1
    players: Annotated[list[Player], about("by seat")]
    dealer: Annotated[int, about("the seat of the button")]
    turn: Annotated[int | None, about("the seat to act")] = None
    last: Annotated[LastAction | None, about("the latest action")] = None
    actions: Annotated[list[Offer], about("what the observer may do")] = field(default_factory=list)
    to_call: Annotated[int, about("chips that a call costs, 0 out of turn; where left out, what the bets say")] = -1
    small_blind: Annotated[int, about("in chips; where left out, half the big blind")] = -1
    big_blind: Annotated[int, about("in chips")]
    ante: Annotated[int, about("in chips")] = 0
    history: Annotated[list[HistoryEntry], about("the actions of the hand in order")] = field(default_factory=list)
    history_missing: Annotated[int | UnsetType, about("how many it lacks; left out where it is whole")] = UNSET

    def __post_init__(self) -> None:
        """Fill in the small blind and the pot that a host leaves out."""
        if self.pot < 0:
            self.pot = sum(player.committed for player in self.players)
        if self.small_blind < 0:
            self.small_blind = self.big_blind // 2
