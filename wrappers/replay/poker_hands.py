"""Replays of the hands in the logs of our poker tables, with all cards."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from ...envs.core.game import Game
from ...envs.core.turn_state import Action, TurnState
from ...envs.holdem import game as holdem
from ...envs.holdem import rules
from ...envs.holdem.actions import parse
from ...envs.holdem.hands import card_number
from ...envs.holdem.table import RAISE, SEATS
from ..agents.base import sentence
from .moment import Moment, distinct


def replay_hand(entry: Mapping[str, Any], match: int) -> Iterator[Moment]:
    """Play a hand of our poker host again, with all cards that are known."""
    game = table_of(entry["small_blind"], entry["big_blind"], entry.get("ante", 0))
    table: Any = game.tables(1)[0]
    cards, board = np.full((SEATS, 2), -1, np.int8), np.full(5, -1, np.int8)
    players = {row["seat"]: row for row in entry["players"]}
    for seat, row in players.items():
        table.stack[seat] = row["stack"]
        if row["cards"]:  # none: they are not known
            cards[seat] = [card_number(card) for card in row["cards"]]
    board[: len(entry["board"])] = [card_number(card) for card in entry["board"]]
    table.dealer = entry["dealer"]
    rules.deal_known(table, cards, board)
    names = distinct(
        [str(players[seat]["name"] or players[seat].get("agent_id") or f"seat {seat}") for seat in sorted(players)]
    )
    named = dict(zip(sorted(players), names, strict=True))
    title = f"hand {entry['hand']}" + (f" · table {entry['table_id']}" if "table_id" in entry else "")

    def states() -> dict[str, TurnState]:
        return {named[seat]: _seen(game, table, seat, named, entry["hand"]) for seat in named}

    for action in entry["actions"]:
        if table.turn != action["seat"]:
            raise ValueError(f"hand {entry['hand']}: seat {action['seat']} acts, it is seat {int(table.turn)}'s turn")
        payload = {"amount": action["amount"]} if action["kind"] == "raiseTo" else {}
        answer = Action(action["kind"], payload)
        cause = {"timeout": "its time was up", "left": "it has left"}.get(action.get("cause", ""), "")
        think = str(action.get("reasoning", ""))
        yield Moment(match, title, states(), named[action["seat"]], sentence(answer), think=think, note=cause)
        # A recorded raise where our rules do not reopen the betting; no host of ours writes it.
        move = rules.Move(RAISE, action["amount"]) if action.get("reopened") else parse(table, answer)
        if not isinstance(move, rules.Move):
            raise ValueError(f"hand {entry['hand']}: {move.error_detail}")
        rules.step(table, move)
    yield Moment(match, title, states(), note=_winners(entry, named))


@cache
def table_of(small_blind: int, big_blind: int, ante: int = 0) -> Game:
    """Return the game of a table with these stakes, with room for any number of players."""
    return holdem(seats=SEATS, stacks=100 * big_blind + ante, small_blind=small_blind, big_blind=big_blind, ante=ante)


def _seen(game: Game, table: Any, seat: int, named: Mapping[int, str], hand: int) -> TurnState:
    """Return the TurnState of a seat, without the empty seats, with the players' names."""
    state = game.turn_state(table, seat, ())
    players = [row for row in state.game_state["players"] if row["seat"] in named]
    state.game_state |= {"hand": hand, "players": [row | {"name": named[row["seat"]]} for row in players]}
    ours = {f"player_{number}": name for number, name in named.items()}
    state.agent_id = named[seat]
    state.current_turn_agent_id = ours.get(state.current_turn_agent_id or "")
    if state.outcome is not None:
        payoffs = [
            row | {"agent_id": ours[row["agent_id"]]} for row in state.outcome["payoffs"] if row["agent_id"] in ours
        ]
        state.outcome |= {"payoffs": payoffs}
    return state


def _winners(entry: Mapping[str, Any], named: Mapping[int, str]) -> str:
    won = [f"{named[row['seat']]} takes {row['won']}" for row in entry["results"] if row["won"]]
    return ", ".join(won)
