"""Writes hands of our poker tables as PHH (https://phh.readthedocs.io), which `phh` and PokerKit read."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

BOARD = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}
"""The cards on the board, by street."""


def phhs(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return hands as a ``.phhs``, in order; for a hand that PHH cannot hold, a comment with the reason.

    Args:
        entries: the lines ``hand`` of a match log; players without cards have unknown ones.
    """
    parts = []
    for number, entry in enumerate(entries, 1):
        try:
            parts.append(f"[{number}]\n{phh(entry)}")
        except ValueError as error:
            parts.append(f"# {error}\n")
    return "\n".join(parts)


def phh(entry: Mapping[str, Any]) -> str:
    """Return a hand as a ``.phh``; the player left of the button is p1, and the button is the last one.

    Raises:
        ValueError: if somebody calls the whole big blind of a player who has posted less; PokerKit plays another call.
    """
    dealer = entry["dealer"]
    # Seats behind the dealer come first.
    players = sorted(entry["players"], key=lambda row: (row["seat"] <= dealer, row["seat"]))
    blind = players[0 if len(players) == 2 else 1]
    first = next((action["kind"] for action in entry["actions"] if action["kind"] != "fold"), "")
    if blind["stack"] < entry["big_blind"] and first == "call":
        posted = f"the big blind of {entry['big_blind']} is posted with {blind['stack']}"
        why = "and calls of the whole blind cannot be written as PHH"
        raise ValueError(f"hand {entry['hand']} is left out: {posted}, {why}")
    named = {row["seat"]: f"p{number}" for number, row in enumerate(players, 1)}
    ends = {row["seat"]: row for row in entry["results"]}
    revealed = [row["seat"] for row in players if entry["showdown"] and "rank" in ends[row["seat"]]]
    fields = {
        "variant": "NT",
        "ante_trimming_status": True,
        "antes": [0] * len(players),
        "blinds_or_straddles": [entry["small_blind"], entry["big_blind"], *[0] * (len(players) - 2)],
        "min_bet": entry["big_blind"],
        "starting_stacks": [row["stack"] for row in players],
        "actions": [
            *(f"d dh {named[row['seat']]} {''.join(row['cards']) or '????'}" for row in players),
            *_played(entry, named),
            *(f"{named[seat]} sm {''.join(ends[seat]['cards'])}" for seat in revealed),
        ],
        "hand": entry["hand"],
        "players": [row["name"] or row.get("agent_id") or f"seat {row['seat'] + 1}" for row in players],
        "finishing_stacks": [ends[row["seat"]]["stack"] for row in players],
    }
    # A list, a number or a text is the same in JSON and in TOML.
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())


def _played(entry: Mapping[str, Any], named: Mapping[int, str]) -> Iterable[str]:
    """Return the actions, and the cards of the board before the first action of each street."""
    words = {"fold": "f", "check": "cc", "call": "cc"}
    opened = 0
    for action in [*entry["actions"], None]:
        wanted = len(entry["board"]) if action is None else BOARD[action["street"]]
        for count in (3, 4, 5):
            if opened < count <= wanted:
                yield f"d db {''.join(entry['board'][opened:count])}"
                opened = count
        if action is not None:
            word = words.get(action["kind"]) or f"cbr {action['amount']}"
            yield f"{named[action['seat']]} {word}"
