"""Replays of the hands in the logs of our poker tables, with all cards."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from ...envs.core.game import Game
from ...envs.core.registry import own_name
from ...envs.core.turn_state import Action, TurnState
from ...envs.holdem import game as holdem
from ...envs.holdem import rules
from ...envs.holdem.actions import parse
from ...envs.holdem.hands import card_number
from ...envs.holdem.picture import chips_text
from ...envs.holdem.table import RAISE, SEATS
from ..agents.base import sentence
from .moment import Moment, distinct

AMOUNTS = {
    "pot", "stack", "bet", "committed", "amount", "min", "max", "toCall", "smallBlind", "bigBlind", "ante", "utility",
    "won",
}  # fmt: skip
"""The fields of a TurnState that are chips."""


def replay_hand(entry: Mapping[str, Any], match: int) -> Iterator[Moment]:
    """Play a hand of our poker host again, with all cards that are known."""
    table = dealt(entry)
    unit = unit_of(entry)
    named, title = names_of(entry), hand_title(entry)

    def states() -> dict[str, TurnState]:
        return {named[seat]: _seen(entry, table, seat, named) for seat in named}

    for action in entry["actions"]:
        if table.turn != action["seat"]:
            raise ValueError(f"hand {entry['hand']}: seat {action['seat']} acts, it is seat {int(table.turn)}'s turn")
        payload = {"amount": action["amount"]} if action["kind"] == "raiseTo" else {}
        answer = Action(action["kind"], payload)
        cause = {"timeout": "its time was up", "left": "it has left"}.get(action.get("cause", ""), "")
        words = sentence(answer, lambda amount: chips_text(amount / unit))
        think = str(action.get("think") or action.get("reasoning", ""))
        chances, value, who = action.get("probabilities", {}), action.get("value"), named[action["seat"]]
        yield Moment(match, title, states(), who, words, [], think, chances, value, cause)
        # A recorded raise where our rules do not reopen the betting; no host of ours writes it.
        move = rules.Move(RAISE, action["amount"]) if action.get("reopened") else parse(table, answer)
        if not isinstance(move, rules.Move):
            raise ValueError(f"hand {entry['hand']}: {move.error_detail}")
        if action is entry["actions"][-1]:
            before_showdown(entry, table)
        rules.step(table, move)
    yield Moment(match, title, states(), note=winners(entry, named), unit=currency_of(entry))


def names_of(entry: Mapping[str, Any]) -> dict[int, str]:
    """Return the players' names by seat, each of them once."""
    players = sorted(entry["players"], key=lambda row: row["seat"])
    names = distinct([str(row["name"] or row.get("agent_id") or f"seat {row['seat']}") for row in players])
    return dict(zip((row["seat"] for row in players), names, strict=True))


def hand_title(entry: Mapping[str, Any]) -> str:
    """Return what a logged hand is called."""
    return f"hand {entry['hand']}" + (f" · table {entry['table_id']}" if "table_id" in entry else "")


def unit_of(entry: Mapping[str, Any]) -> int:
    """Return the chips of one unit of money in a logged hand."""
    return int(10 ** entry.get("decimals", 0))


def hand_number(state: TurnState) -> int | None:
    """Return the number of the hand that a seat of a poker table sees; None: another game, or no number."""
    hand = state.game_state.get("hand")
    return hand if own_name(state.game_id) == _game().name and isinstance(hand, int) else None


def in_words(action: str, state: TurnState | None) -> str:
    """Return an action as text: of hold'em as poker players say it, of other games as it is."""
    kind, _, amount = action.partition(" ")
    if state is None or own_name(state.game_id) != _game().name or kind not in ("raiseTo", "call", "check", "fold"):
        return action
    if kind == "raiseTo":
        opened = any(player["bet"] for player in state.game_state["players"])
        return f"{'raises to' if opened else 'bets'} {amount}"
    owed = state.game_state.get("toCall", 0) if kind == "call" else 0
    return "folds" if kind == "fold" else f"calls {chips_text(owed)}" if owed else "checks"


def currency_of(entry: Mapping[str, Any]) -> str:
    """Return what the amounts of a logged hand are: its currency, or chips."""
    return str(entry.get("currency", "")) or _game().payoffs.reward_name


def dealt(entry: Mapping[str, Any]) -> Any:
    """Return the record of a logged hand before its first action.

    The log of a hand that was not played by our rules has ``posted``: what `rules.deal_posted` needs.
    """
    table: Any = _game().tables(1)[0]
    table.small_blind, table.big_blind, table.ante = entry["small_blind"], entry["big_blind"], entry.get("ante", 0)
    cards, board = np.full((SEATS, 2), -1, np.int8), np.full(5, -1, np.int8)
    for row in entry["players"]:
        table.stack[row["seat"]] = row["stack"]
        if row["cards"]:  # none: they are not known
            cards[row["seat"]] = [card_number(card) for card in row["cards"]]
    board[: len(entry["board"])] = [card_number(card) for card in entry["board"]]
    table.dealer = entry["dealer"]
    if "posted" not in entry:
        rules.deal_known(table, cards, board)
        return table
    posted = entry["posted"]
    antes, blinds = np.zeros((2, SEATS), np.int64)
    antes[: len(posted["antes"])], blinds[: len(posted["blinds"])] = posted["antes"], posted["blinds"]
    table.big_blind = posted["least"]
    rules.deal_posted(table, cards, board, antes, blinds, posted["after"], posted["shared"])
    return table


def before_showdown(entry: Mapping[str, Any], table: Any) -> None:
    """Take the cards of those who do not show them, before the last action of a hand."""
    for seat in entry.get("mucked", ()):
        table.cards[seat] = -1


@cache
def _game() -> Game:
    """Return a game with room for any number of players. The stakes of a hand stand in its record."""
    return holdem(seats=SEATS)


def _seen(entry: Mapping[str, Any], table: Any, seat: int, named: Mapping[int, str]) -> TurnState:
    """Return the TurnState of a seat, without the empty seats, with the players' names, and money in its own unit."""
    state = _game().turn_state(table, seat, ())
    game = state.game_state
    antes = _antes_in_the_pot(entry)
    players = [
        row | {"name": named[row["seat"]], "committed": row["committed"] + antes.get(row["seat"], 0)}
        for row in game["players"]
        if row["seat"] in named
    ]
    stakes = {"smallBlind": entry["small_blind"], "bigBlind": entry["big_blind"], "ante": entry.get("ante", 0)}
    state.game_state = game | stakes | {"hand": entry["hand"], "players": players}
    if entry.get("currency"):
        state.game_state["currency"] = entry["currency"]
    ours = {f"player_{number}": name for number, name in named.items()}
    state.agent_id = named[seat]
    state.current_turn_agent_id = ours.get(state.current_turn_agent_id or "")
    if state.outcome is not None:
        payoffs = [
            row | {"agent_id": ours[row["agent_id"]]} for row in state.outcome["payoffs"] if row["agent_id"] in ours
        ]
        state.outcome |= {"payoffs": payoffs}
    if entry.get("decimals"):
        unit = unit_of(entry)
        state.game_state, state.outcome = _in_units(state.game_state, unit), _in_units(state.outcome, unit)
    return state


def _antes_in_the_pot(entry: Mapping[str, Any]) -> dict[int, int]:
    """Return the antes that our rules do not count as committed, by seat."""
    posted = entry.get("posted", {})
    antes = posted["antes"] if posted.get("shared") else ()
    return {row["seat"]: min(ante, row["stack"]) for row, ante in zip(entry["players"], antes, strict=False)}


def _in_units(value: Any, unit: int) -> Any:
    """Return a part of a TurnState with its amounts divided by `unit`."""
    if isinstance(value, dict):
        return {name: part / unit if name in AMOUNTS else _in_units(part, unit) for name, part in value.items()}
    return [_in_units(part, unit) for part in value] if isinstance(value, list) else value


def winners(entry: Mapping[str, Any], named: Mapping[int, str]) -> str:
    """Return who has won how much in a logged hand, as text."""
    unit = unit_of(entry)

    def amount(chips: int) -> str:
        return f"{entry.get('currency', '')}{chips_text(chips / unit)}"

    won = [f"{named[row['seat']]} takes {amount(row['won'])}" for row in entry["results"] if row["won"]]
    rake = [f"of which the house keeps {amount(entry['rake'])}"] if entry.get("rake") else []
    return ", ".join(won + rake)
