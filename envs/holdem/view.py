"""Record ──► TurnState of a seat, and back. Simulation and live tables use the same functions."""

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from reprlib import repr
from typing import Annotated, Any

import msgspec
import numpy as np
from gymnasium import spaces
from msgspec import UNSET, Struct, UnsetType, field

from ..core import turn_state as ts
from ..core.record import Tables
from ..core.turn_state import (
    NOTHING,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    TurnState,
    about,
    payoffs_in,
)
from ..core.view import ActionRange
from .hands import card_name, card_number, card_set, describe, set_strength, strength
from .rules import Move, decode, entry_bet, entry_kind, entry_seat, legal, log_entry, open_board
from .table import (
    CALL,
    CALL_ACTION,
    FIRST_FRACTION,
    FOLD,
    FOLD_ACTION,
    KEPT,
    KINDS,
    LEAST_RAISE,
    LOG,
    PHASES,
    PREFLOP,
    RAISE,
)


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


STREETS = PHASES[PREFLOP : PREFLOP + 4]


def phase(table: Any) -> str:
    """Return the phase's name in Moltpoker's `game_state`."""
    return PHASES[int(table.phase)]


def game_state(table: Any, seat: int) -> HoldemState:
    """Return the table as `seat` may see it."""
    return _seen(table, seat)


def public(table: Any) -> HoldemState:
    """Return the public view of the table: no cards but those that were shown; `seat` is None."""
    return _seen(table, None)


def _seen(table: Any, seat: int | None) -> HoldemState:
    turn = int(table.turn)
    mine = seat is not None and turn == seat
    last = None
    if table.last_seat >= 0:
        last = LastAction(int(table.last_seat), KINDS[int(table.last_kind)], int(table.last_amount))
    return HoldemState(
        seat=seat,
        hand=int(table.hand),
        hands=int(table.hands),
        phase=phase(table),
        board=[card_name(card) for card in table.board[: table.board_count].tolist()],
        pot=int(table.pot),
        players=_players(table, seat),
        dealer=int(table.dealer),
        turn=turn if turn >= 0 else None,
        last=last,
        actions=offers(table) if mine else [],
        to_call=int(table.to_call) if mine else 0,
        small_blind=int(table.small_blind),
        big_blind=int(table.big_blind),
        ante=int(table.ante),
        history=_history(table),
        history_missing=int(table.log_dropped) or UNSET,
    )


def _players(table: Any, seat: int | None) -> list[Player]:
    chips = zip(table.stack.tolist(), table.bet.tolist(), table.committed.tolist(), strict=True)
    folded, seated = table.folded.tolist(), table.seated.tolist()
    players = []
    for other, (stack, bet, committed) in enumerate(islice(chips, int(table.seats))):
        player = Player(seat=other, name=f"player_{other}", stack=stack, bet=bet, committed=committed)
        player.folded = bool(folded[other])
        player.all_in = bool(seated[other]) and not folded[other] and stack == 0
        shown = seat is None and bool(table.done) and table.strength[other] >= 0
        if (shown or other == seat) and table.cards[other, 0] >= 0:
            player.cards = [card_name(card) for card in table.cards[other].tolist()]
            player.rank = describe(_rank(table, other))
        players.append(player)
    return players


def _rank(table: Any, seat: int) -> int:
    count = int(table.board_count)
    return strength(np.concatenate((table.cards[seat], table.board[:count])), 2 + count)


def _history(table: Any) -> list[HistoryEntry]:
    return [
        HistoryEntry(STREETS[street], entry_seat(entry), KINDS[entry_kind(entry)], entry_bet(entry))
        for street, (first, end) in enumerate(pairwise([0, *table.log_end]))
        for entry in map(int, table.log[first:end])
    ]


def results(table: Any, seat: int | None) -> list[dict[str, Any]]:
    """Return the results of `hand_complete`: one row per seat dealt in; with cards if shown or `seat`'s."""
    rows = []
    for other in range(int(table.seats)):
        if table.seated[other]:
            row: dict[str, Any] = {"seat": other}
            shown = bool(table.strength[other] >= 0)
            if (shown or other == seat) and table.cards[other, 0] >= 0:
                row["cards"] = [card_name(int(card)) for card in table.cards[other]]
            if shown:
                row["rank"] = describe(int(table.strength[other]))
            row["won"] = int(table.won[other])
            rows.append(row)
    return rows


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome of the episode: its payoffs in chips, and `hand_complete` of the last hand."""
    return {
        "payoffs": [{"agent_id": f"player_{i}", "utility": int(table.total[i])} for i in range(int(table.seats))],
        "reason": "showdown" if table.showdown else "fold",
        "hand": int(table.hand),
        "results": results(table, seat),
        "showdown": bool(table.showdown),
    }


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    The record serves for observations and legal actions. It is not complete, so it cannot be played further. If the
    state has more seats than `blank`, some are left out: empty seats first, then folded ones, then those with the
    smallest commitment. Without ``seat`` the observer is the player with the agent's name. Rows of the history that are
    no actions are ignored; of too many, the latest are kept.

    Args:
        blank: a table with the options that TurnState does not have (number of seats, pot fractions).
        state: hold'em's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field of `game_state`, or holds what cannot be.
    """
    game = HoldemState.of(state)
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    me = _named(game.players, state.agent_id) if game.seat is None else game.seat
    seats = _seating(game.players, int(table.seats), me)
    table.big_blind, table.ante, table.small_blind = game.big_blind, game.ante, game.small_blind
    # A live table has no end: there every hand is an episode.
    table.hand, table.hands = min(game.hand, game.hands), game.hands
    table.phase = PHASES.index(game.phase)
    table.dealer = _behind(game.dealer, seats)
    turn = me if state.is_my_turn else game.turn
    table.turn = -1 if turn is None else seats.get(turn, -1)
    table.pot = game.pot
    table.board[:] = -1
    table.board[: len(game.board)] = [card_number(card) for card in game.board]
    open_board(table, len(game.board))
    _load_players(table, game.players, seats)
    _load_actions(table, game, seats[me])
    _load_history(table, game, seats)
    if state.game_over:
        table.done = True
        for agent, utility in payoffs_in(state):
            number = agent.removeprefix("player_")
            if number.isdecimal() and int(number) < len(table.total):
                table.total[int(number)] = utility
        _load_results(table, state.outcome or {}, seats)
    return tables, seats[me]


def familiar(blank: Tables, table: Any) -> None:
    """Cut stacks and raises to the game's deepest where one is above all chips of the game, in big blinds.

    So a policy plays such stacks as the deepest that it knows.
    """
    unit = table.big_blind / blank[0].big_blind
    if (table.stack + table.committed).max() <= table.stacks.sum() * unit:
        return
    room = np.maximum(int(table.stacks.max() * unit) - table.committed, table.big_blind)
    table.stack[:] = np.minimum(table.stack, room)
    if table.turn >= 0:
        stack = table.stack[table.turn]
        table.to_call = min(table.to_call, stack)
        table.raise_max = min(table.raise_max, table.bet[table.turn] + stack)
        if table.raise_max < table.raise_min:
            table.raise_min = table.raise_max = 0


def _named(players: list[Player], name: str) -> int:
    """Return the seat of the player of this name.

    Raises:
        ValueError: if there is none.
    """
    for player in players:
        if name in (player.name, player.agent_id):
            return player.seat
    raise ValueError(f"neither seat nor players tell where {name!r} sits")


def _seating(players: list[Player], room: int, me: int) -> dict[int, int]:
    """Map the state's seats to the record's: the same numbers if they fit, else the kept seats in order."""
    if all(player.seat < room for player in players):
        return {player.seat: player.seat for player in players}

    def weight(player: Player) -> tuple[bool, bool, bool, int]:
        playing = player.stack > 0 or player.committed > 0
        return player.seat == me, playing, playing and not player.folded, player.committed

    kept = sorted(players, key=weight, reverse=True)[:room]
    return {seat: i for i, seat in enumerate(sorted(player.seat for player in kept))}


def _behind(dealer: int, seats: dict[int, int]) -> int:
    """Return the nearest kept seat at or before `dealer`, so that the order of play stays the same."""
    return seats[max((seat for seat in seats if seat <= dealer), default=max(seats))]


def _load_players(table: Any, players: list[Player], seats: dict[int, int]) -> None:
    # A field lookup takes longer than filling it, so each field is looked up once.
    cards, stack, bet, committed = table.cards, table.stack, table.bet, table.committed
    folded, seated = table.folded, table.seated
    cards[:] = -1
    table.strength[:] = -1
    for player in players:
        seat = seats.get(player.seat)
        if seat is not None:
            stack[seat], bet[seat], committed[seat] = player.stack, player.bet, player.committed
            folded[seat] = player.folded
            seated[seat] = player.stack > 0 or player.committed > 0
            if player.cards:
                cards[seat] = [card_number(card) for card in player.cards]


def _load_actions(table: Any, game: HoldemState, seat: int) -> None:
    if game.actions:
        owed = max(player.bet for player in game.players) - table.bet[seat]
        table.to_call = min(owed, table.stack[seat]) if game.to_call < 0 else game.to_call
        # With a short blind, the bet to call is above every bet on the table; a short stack calls with less.
        table.current_bet = table.bet[seat] + max(owed, table.to_call)
        for action in game.actions:
            if action.kind == "raiseTo":
                table.raise_min, table.raise_max = action.min, action.max


def _load_history(table: Any, game: HoldemState, seats: dict[int, int]) -> None:
    table.last_seat = -1
    streets, log = _streets(game.history, seats), table.log
    beyond = sum(map(len, streets)) - LOG
    table.log_dropped = max(0, beyond)
    if game.history_missing:
        table.log_dropped += game.history_missing
    place = 0
    for street, entries in enumerate(streets):
        cut = max(0, min(beyond, len(entries) - KEPT))
        beyond -= cut
        for entry in entries[cut:]:
            log[place] = log_entry(seats[entry.seat], KINDS.index(entry.kind), entry.bet)
            place += 1
        table.log_end[street] = place
    last = game.last
    if last and last.kind in KINDS and last.seat in seats:
        table.last_seat, table.last_kind = seats[last.seat], KINDS.index(last.kind)
        table.last_amount = last.amount


def _load_results(table: Any, outcome: dict[str, Any], seats: dict[int, int]) -> None:
    table.showdown = outcome.get("reason") == "showdown"
    for row in outcome.get("results") or ():
        seat = seats.get(row.get("seat"))
        if seat is not None:
            table.won[seat] = int(row.get("won", 0))
            if row.get("cards") and row.get("rank"):  # shown, and not only the reader's own
                table.cards[seat] = [card_number(card) for card in row["cards"]]
                table.strength[seat] = set_strength(card_set(table.cards[seat], 2) | table.board_set)


def _streets(history: list[HistoryEntry], seats: dict[int, int]) -> list[list[HistoryEntry]]:
    """Return the actions of the seats that are seen, on each street."""
    streets: list[list[HistoryEntry]] = [[] for _ in STREETS]
    for entry in history:
        if entry.kind in KINDS and entry.street in STREETS and entry.seat in seats:
            streets[STREETS.index(entry.street)].append(entry)
    return streets


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw every card that `seat` cannot see again, in place, and the stream. Cards shown at the end stay."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    holders = [
        other
        for other in range(int(table.seats))
        if table.seated[other] and other != seat and not (table.done and table.strength[other] >= 0)
    ]
    hidden = 5 - int(table.board_count)
    seen = {int(card) for card in table.board[: table.board_count]}
    for other in range(int(table.seats)):
        if table.seated[other] and other not in holders:
            seen.update(int(card) for card in table.cards[other])
    unseen = generator.permutation([card for card in range(52) if card not in seen])
    for other in holders:
        table.cards[other], unseen = unseen[:2], unseen[2:]
    table.board[5 - hidden :], unseen = unseen[:hidden], unseen[hidden:]
    table.deck[:] = generator.permutation(52)


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table.

    Seats differ only if the table has more players: a policy for nine seats knows smaller tables. Stacks differ if the
    player's own one is more than a tenth away, in big blinds; only its first turn shows what the table gave.
    """
    game_state = state.game_state
    blind, players = game_state["bigBlind"], game_state["players"]
    different: dict[str, Any] = {}
    if len(players) > options["seats"]:
        different["seats"] = len(players)
    if game_state["smallBlind"] * options["big_blind"] != options["small_blind"] * blind:
        different |= {"small_blind": game_state["smallBlind"], "big_blind": blind}
    own = next((player for player in players if player["seat"] == game_state["seat"]), None)
    if first and own is not None:
        stack, trained = own["stack"] + own["committed"], float(np.mean(options["stacks"])) / options["big_blind"]
        if abs(stack / blind - trained) > 0.1 * trained:
            different |= {"small_blind": game_state["smallBlind"], "big_blind": blind, "stacks": stack}
    return different


class RaiseTo(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `raiseTo`: the total bet on this street, in chips."""

    amount: int


def action_spaces(most_chips: int) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload; `most_chips` are all chips on the table."""
    empty = spaces.Dict({})
    amount = spaces.Box(0, most_chips, (), np.int64)
    return {"fold": empty, "check": empty, "call": empty, "raiseTo": spaces.Dict({"amount": amount})}


def action_ranges(fractions: Sequence[float]) -> tuple[ActionRange, ...]:
    """Return the action ranges. Of several raises to the same amount only one is legal."""
    raises = [
        "raise to the least legal amount",
        *(f"raise by {part:.3g} × the pot after the call" for part in fractions),
    ]
    return (
        ActionRange(FOLD_ACTION, FOLD_ACTION + 1, ("fold",), "give up the hand"),
        ActionRange(CALL_ACTION, CALL_ACTION + 1, ("check", "call"), "check; call where there is something to call"),
        *(
            ActionRange(action, action + 1, ("raiseTo",), meaning)
            for action, meaning in enumerate([*raises, "all-in"], start=LEAST_RAISE)
        ),
    )


def offers(table: Any) -> list[Offer]:
    """Return the legal actions of the acting seat as `game_state` has them: fold, check or call, raiseTo."""
    legal = [Offer("fold"), Offer("call" if table.to_call > 0 else "check")]
    if table.raise_max > 0:
        legal.append(Offer("raiseTo", int(table.raise_min), int(table.raise_max)))
    return legal


def allowed(game_state: HoldemState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds: ``actions`` and ``toCall`` of its state."""
    called = f"put in {game_state.to_call} more"
    words = {"fold": "give up the hand", "check": "stay in for nothing", "call": called}
    return [
        _raise_between(offer.min, offer.max, any(player.bet for player in game_state.players))
        if offer.kind == "raiseTo"
        else AllowedAction(offer.kind, words[offer.kind], NOTHING)
        for offer in game_state.actions
    ]


def _raise_between(low: int, high: int, bets: bool) -> AllowedAction:
    schema = ts.payload_schema({"amount": {"type": "integer", "minimum": low, "maximum": high}})
    does = "raise the bet to a total of" if bets else "bet"
    return AllowedAction("raiseTo", f"{does} {low} to {high} ({high} is all-in)", schema)


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    if move.kind == FOLD:
        return AgentResponse(Action("fold"))
    if move.kind == CALL:
        return AgentResponse(Action("call" if table.to_call > 0 else "check"))
    return AgentResponse(Action("raiseTo", {"amount": int(move.amount)}))


def parse(table: Any, action: Action) -> Move | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    kind = action.action_type
    if kind not in KINDS:
        return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(kind)} is not an action of hold'em: {', '.join(KINDS)}")
    if kind == "raiseTo":
        return _parse_raise(table, action.payload)
    if action.payload:
        return ts.unwanted_payload(action)
    if kind == "check" and table.to_call > 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot check: there are {int(table.to_call)} to call")
    if kind == "call" and table.to_call == 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, "there is nothing to call: check")
    return Move(FOLD if kind == "fold" else CALL, 0)


def _parse_raise(table: Any, payload: dict[str, Any]) -> Move | ActionResult:
    try:
        amount = msgspec.convert(payload, RaiseTo).amount
    except msgspec.ValidationError as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"raiseTo needs {{'amount': whole chips}}: {error}")
    low, high = int(table.raise_min), int(table.raise_max)
    if high == 0:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot raise to {repr(amount)}: this seat may not raise now")
    if not low <= amount <= high:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot raise to {repr(amount)}: the bounds are {low} to {high}")
    return Move(RAISE, amount)


def nearest(table: Any, move: Move) -> int:
    """Return the action index of `move`; for a raise between the indices, the legal raise with the nearest amount."""
    if move.kind == FOLD:
        return FOLD_ACTION
    if move.kind == CALL:
        return CALL_ACTION
    mask = np.zeros(FIRST_FRACTION + int(table.num_fractions) + 1, np.int8)
    legal(table, mask)
    raises = [int(action) for action in np.flatnonzero(mask) if action >= LEAST_RAISE]
    return min(
        raises, key=lambda action: (abs(decode(table, action).amount - move.amount), action), default=CALL_ACTION
    )


def safe(table: Any) -> int:
    """Return the action index of the safe action: check where nothing is to call, else fold."""
    return CALL_ACTION if table.to_call == 0 else FOLD_ACTION
