"""Record ──► TurnState of a seat, and back. Simulation and live tables use the same functions.

`game_state` has the fields of `game_state` in Moltpoker's agent format. It also has what an agent there collects from
several messages or gets when it joins: ``seat``, ``smallBlind``, ``bigBlind``, ``ante``, ``hands`` (per episode; 1
where unknown), ``players[].committed`` (chips put in in this hand), own ``players[].rank``, and
``history``: this hand's actions in order, ``{street, seat, kind, bet}`` with the actor's bet on that street afterwards.
The history is whole. Of a hand with more than `table.LOG` actions the first ones are missing, and ``historyMissing``
says how many.
"""

from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..core.loading import payoffs_in
from ..core.record import Tables
from ..core.turn_state import TurnState
from .actions import offers
from .hands import card_name, card_number, card_set, describe, set_strength, strength
from .rules import entry_bet, entry_kind, entry_seat, log_entry, open_board
from .table import KEPT, KINDS, LOG, PHASES, PREFLOP

STREETS = PHASES[PREFLOP : PREFLOP + 4]


def phase(table: Any) -> str:
    """Return the phase's name in Moltpoker's `game_state`."""
    return PHASES[int(table.phase)]


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the table as `seat` may see it."""
    return _seen(table, seat)


def public(table: Any) -> dict[str, Any]:
    """Return the public view of the table: no cards but those that were shown; ``seat`` is None."""
    return _seen(table, None)


def _seen(table: Any, seat: int | None) -> dict[str, Any]:
    turn = int(table.turn)
    mine = seat is not None and turn == seat
    last = None
    if table.last_seat >= 0:
        last = _entry(int(table.last_seat), int(table.last_kind), int(table.last_amount))
    return {
        "seat": seat,
        "hand": int(table.hand),
        "hands": int(table.hands),
        "phase": phase(table),
        "board": [card_name(card) for card in table.board[: table.board_count].tolist()],
        "pot": int(table.pot),
        "players": _players(table, seat),
        "dealer": int(table.dealer),
        "turn": turn if turn >= 0 else None,
        "last": last,
        "actions": offers(table) if mine else [],
        "toCall": int(table.to_call) if mine else 0,
        "smallBlind": int(table.small_blind),
        "bigBlind": int(table.big_blind),
        "ante": int(table.ante),
        **_history(table),
    }


def _players(table: Any, seat: int | None) -> list[dict[str, Any]]:
    chips = zip(table.stack.tolist(), table.bet.tolist(), table.committed.tolist(), strict=True)
    folded, seated = table.folded.tolist(), table.seated.tolist()
    players = []
    for other, (stack, bet, committed) in enumerate(islice(chips, int(table.seats))):
        player: dict[str, Any] = {
            "seat": other,
            "name": f"player_{other}",
            "stack": stack,
            "bet": bet,
            "committed": committed,
        }
        if folded[other]:
            player["folded"] = True
        elif seated[other] and stack == 0:
            player["allIn"] = True
        shown = seat is None and bool(table.done) and table.strength[other] >= 0
        if (shown or other == seat) and table.cards[other, 0] >= 0:
            player["cards"] = [card_name(card) for card in table.cards[other].tolist()]
            player["rank"] = describe(_rank(table, other))
        players.append(player)
    return players


def _rank(table: Any, seat: int) -> int:
    count = int(table.board_count)
    return strength(np.concatenate((table.cards[seat], table.board[:count])), 2 + count)


def _entry(seat: int, kind: int, amount: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"seat": seat, "kind": KINDS[kind]}
    if amount:
        entry["amount"] = amount
    return entry


def _history(table: Any) -> dict[str, Any]:
    history = [
        {
            "street": STREETS[street],
            "seat": entry_seat(entry),
            "kind": KINDS[entry_kind(entry)],
            "bet": entry_bet(entry),
        }
        for street, (first, end) in enumerate(pairwise([0, *table.log_end]))
        for entry in map(int, table.log[first:end])
    ]
    missing = int(table.log_dropped)
    return {"history": history} | ({"historyMissing": missing} if missing else {})


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
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    players = [_player(player) for player in game["players"]]
    me = int(game["seat"]) if game.get("seat") is not None else _named(players, state.agent_id)
    seats = _seating(players, int(table.seats), me)
    table.big_blind, table.ante = int(game["bigBlind"]), int(game.get("ante", 0))
    table.small_blind = int(game.get("smallBlind", table.big_blind // 2))
    # A live table has no end: there every hand is an episode.
    hands = int(game.get("hands", 1))
    table.hand, table.hands = min(int(game.get("hand", 1)), hands), hands
    table.phase = PHASES.index(game["phase"])
    table.dealer = _behind(int(game["dealer"]), seats)
    turn = me if state.is_my_turn else game.get("turn")
    table.turn = -1 if turn is None else seats.get(int(turn), -1)
    table.pot = int(game["pot"])
    table.board[:] = -1
    count = len(game["board"])
    table.board[:count] = [card_number(card) for card in game["board"]]
    open_board(table, count)
    _load_players(table, players, seats)
    _load_actions(table, game, players, seats[me])
    _load_history(table, game, seats)
    if state.game_over:
        table.done = True
        for agent, utility in payoffs_in(state):
            number = agent.removeprefix("player_")
            if number.isdecimal() and int(number) < len(table.total):
                table.total[int(number)] = utility
        _load_results(table, state.outcome or {}, seats)
    return tables, seats[me]


def _player(player: dict[str, Any]) -> dict[str, Any]:
    """Return a player with its chips as numbers; what was put in and is not told is the bet."""
    bet = int(player.get("bet", 0))
    chips = {"stack": int(player["stack"]), "bet": bet, "committed": int(player.get("committed", bet))}
    return {**player, "seat": int(player["seat"]), **chips}


def _named(players: list[dict[str, Any]], name: str) -> int:
    """Return the seat of the player of this name.

    Raises:
        ValueError: if there is none.
    """
    for player in players:
        if name in (player.get("name"), player.get("agent_id")):
            return int(player["seat"])
    raise ValueError(f"neither seat nor players tell where {name!r} sits")


def _seating(players: list[dict[str, Any]], room: int, me: int) -> dict[int, int]:
    """Map the state's seats to the record's: the same numbers if they fit, else the kept seats in order."""
    if all(player["seat"] < room for player in players):
        return {player["seat"]: player["seat"] for player in players}

    def weight(player: dict[str, Any]) -> tuple[bool, bool, bool, int]:
        playing = player["stack"] > 0 or player["committed"] > 0
        return player["seat"] == me, playing, playing and not player.get("folded", False), player["committed"]

    kept = sorted(players, key=weight, reverse=True)[:room]
    return {seat: i for i, seat in enumerate(sorted(player["seat"] for player in kept))}


def _behind(dealer: int, seats: dict[int, int]) -> int:
    """Return the nearest kept seat at or before `dealer`, so that the order of play stays the same."""
    return seats[max((seat for seat in seats if seat <= dealer), default=max(seats))]


def _load_players(table: Any, players: list[dict[str, Any]], seats: dict[int, int]) -> None:
    # A field lookup takes longer than filling it, so each field is looked up once.
    cards, stack, bet, committed = table.cards, table.stack, table.bet, table.committed
    folded, seated = table.folded, table.seated
    cards[:] = -1
    table.strength[:] = -1
    for player in players:
        seat = seats.get(player["seat"])
        if seat is not None:
            stack[seat] = player["stack"]
            bet[seat] = player["bet"]
            committed[seat] = player["committed"]
            folded[seat] = player.get("folded", False)
            seated[seat] = player["stack"] > 0 or player["committed"] > 0
            if player.get("cards"):
                cards[seat] = [card_number(card) for card in player["cards"]]


def _load_actions(table: Any, game: dict[str, Any], players: list[dict[str, Any]], seat: int) -> None:
    if game.get("actions"):
        owed = max(player["bet"] for player in players) - table.bet[seat]
        table.to_call = int(game.get("toCall", min(owed, table.stack[seat])))
        # With a short blind, the bet to call is above every bet on the table; a short stack calls with less.
        table.current_bet = table.bet[seat] + max(owed, table.to_call)
        for action in game["actions"]:
            if action["kind"] == "raiseTo":
                table.raise_min, table.raise_max = int(action["min"]), int(action["max"])


def _load_history(table: Any, game: dict[str, Any], seats: dict[int, int]) -> None:
    table.last_seat = -1
    streets, log = _streets(game.get("history"), seats), table.log
    beyond = sum(map(len, streets)) - LOG
    table.log_dropped = max(0, beyond) + int(game.get("historyMissing", 0))
    place = 0
    for street, entries in enumerate(streets):
        cut = max(0, min(beyond, len(entries) - KEPT))
        beyond -= cut
        for entry in entries[cut:]:
            kind, bet = KINDS.index(entry["kind"]), int(entry.get("bet", 0))
            log[place] = log_entry(seats[int(entry["seat"])], kind, bet)
            place += 1
        table.log_end[street] = place
    last = game.get("last")
    if last and last.get("kind") in KINDS and last.get("seat") in seats:
        table.last_seat, table.last_kind = seats[last["seat"]], KINDS.index(last["kind"])
        table.last_amount = int(last.get("amount", 0))


def _load_results(table: Any, outcome: dict[str, Any], seats: dict[int, int]) -> None:
    table.showdown = outcome.get("reason") == "showdown"
    for row in outcome.get("results") or ():
        seat = seats.get(row.get("seat"))
        if seat is not None:
            table.won[seat] = int(row.get("won", 0))
            if row.get("cards") and row.get("rank"):  # shown, and not only the reader's own
                table.cards[seat] = [card_number(card) for card in row["cards"]]
                table.strength[seat] = set_strength(card_set(table.cards[seat], 2) | table.board_set)


def _streets(history: Any, seats: dict[int, int]) -> list[list[dict[str, Any]]]:
    """Return the actions of the seats that are seen, on each street."""
    found: list[list[dict[str, Any]]] = [[] for _ in STREETS]
    for entry in history or ():
        if entry.get("kind") in KINDS and entry.get("street") in STREETS and int(entry.get("seat", -1)) in seats:
            found[STREETS.index(entry["street"])].append(entry)
    return found


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw every card that `seat` cannot see again, in place, and the stream. Cards shown at the end stay."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    holders = [
        other
        for other in range(int(table.seats))
        if table.seated[other] and other != seat and not (table.done and table.strength[other] >= 0)
    ]
    hidden = 5 - int(table.board_count)
    known = {int(card) for card in table.board[: table.board_count]}
    for other in range(int(table.seats)):
        if table.seated[other] and other not in holders:
            known.update(int(card) for card in table.cards[other])
    unseen = generator.permutation([card for card in range(52) if card not in known])
    for other in holders:
        table.cards[other], unseen = unseen[:2], unseen[2:]
    table.board[5 - hidden :], unseen = unseen[:hidden], unseen[hidden:]
    table.deck[:] = generator.permutation(52)
