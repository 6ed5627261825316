"""Record ──► TurnState of a seat, and back. Simulation and live tables use the same functions."""

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Any

import numpy as np
from msgspec import UNSET

from ..core.game_state import payoffs_in
from ..core.record import Tables
from ..core.turn_state import TurnState
from .actions import offers
from .hands import card_name, card_number, card_set, describe, set_strength, strength
from .rules import entry_bet, entry_kind, entry_seat, log_entry, open_board
from .state import HistoryEntry, HoldemState, LastAction, Player
from .table import KEPT, KINDS, LOG, PHASES, PREFLOP

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
    shown = state.game_state
    blind, players = shown["bigBlind"], shown["players"]
    different: dict[str, Any] = {}
    if len(players) > options["seats"]:
        different["seats"] = len(players)
    if shown["smallBlind"] * options["big_blind"] != options["small_blind"] * blind:
        different |= {"small_blind": shown["smallBlind"], "big_blind": blind}
    own = next((player for player in players if player["seat"] == shown["seat"]), None)
    if first and own is not None:
        stack, trained = own["stack"] + own["committed"], float(np.mean(options["stacks"])) / options["big_blind"]
        if abs(stack / blind - trained) > 0.1 * trained:
            different |= {"small_blind": shown["smallBlind"], "big_blind": blind, "stacks": stack}
    return different
