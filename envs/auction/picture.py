"""The auction as a picture: a row per bidder, with an envelope, its valuation as a bar, its bid as a mark, its gain."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.turn_state import TurnState, payoffs_in
from ..render.svg import (
    COLOURS,
    FAINT,
    INK,
    LINE,
    TURN,
    agents,
    box,
    ceiling,
    document,
    drawn,
    group,
    line,
    number,
    remembered,
    short,
    speech,
    text,
)
from .view import TERMS

TOP, BOTTOM = 74.0, 384.0
LEFT, RIGHT = 264.0, 552.0
"""The area of the rows, and of the money axis in them."""


def picture(states: Sequence[TurnState]) -> str:
    """Draw the table from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    names = _bidders(states)
    valuations = {state.agent_id: state.game_state["my_valuation"] for state in states if state.agent_id}
    bids = {state.agent_id: state.game_state["my_bid"] for state in states if state.agent_id}
    deeds = {entry["agent_id"]: entry["action"] for entry in game["action_history"]}
    gains = dict(payoffs_in(first))
    most = ceiling(max([1.0, *valuations.values(), *(bid for bid in bids.values() if bid is not None)]))
    height = min(72.0, (BOTTOM - TOP) / len(names))
    bids_in = f"{game['num_bids_submitted']} of {game['num_bidders']} bids are in"
    things = [
        text(24, 34, "Sealed-bid auction", 20, bold=True),
        text(616, 34, bids_in, 13, fill=FAINT, anchor="end"),
        *_axis(most, TOP + height * len(names)),
    ]
    for place, name in enumerate(names):
        turn = name == first.current_turn_agent_id and not first.game_over
        sealed = deeds.get(name) == "submit_bid"
        status = "bids now" if turn else _status(deeds.get(name))
        row = _Row(TOP + height * place, height, COLOURS[place % len(COLOURS)])
        things += [
            row.frame(turn=turn),
            row.name(name, status, own=len(states) == 1 and name == first.agent_id),
            row.envelope(sealed=sealed, won=name in _winners(first)),
            row.valuation(valuations.get(name), most),
            row.bid(bids.get(name), most, sealed=sealed),
            row.gain(gains.get(name)),
        ]
    known = "values" not in game and "risk_aversion" not in game  # then a gain tells what was paid
    paid = {name: valuations[name] - gain for name, gain in gains.items() if known and name in valuations}
    result = _result(first, bids, paid)
    things += [text(24, 424, result, 14, bold=True), *speech(states, 444, 2)]
    return document(f"Auction: {result}", things)


def _winners(state: TurnState) -> list[str]:
    outcome = state.outcome or {}
    return outcome.get("winners") or [name for name in [outcome.get("winner")] if name]


def _bidders(states: Sequence[TurnState]) -> list[str]:
    names = agents(states)
    names += [name for state in states for name in state.game_state.get("opponents_with_bid", ()) if name not in names]
    count = drawn(states[0].game_state["num_bidders"], "num_bidders")
    ours = [f"player_{seat}" for seat in range(count)]
    if set(names) <= set(ours):
        return ours
    if len(states) == 1:  # the observer first: then no row moves when another bidder becomes known
        names.sort(key=lambda name: name != states[0].agent_id)
    return [*names, *(f"bidder {place + 1}" for place in range(len(names), count))]


def _status(deed: str | None) -> str:
    return {"submit_bid": "has bid", "pass": "passed"}.get(deed or "", "yet to bid")


def _result(state: TurnState, bids: dict[str, Any], paid: dict[str, float]) -> str:
    if not state.game_over:
        return f"{short(state.current_turn_agent_id, 24)} is to bid or to pass"
    winner = (state.outcome or {}).get("winner")
    if winner is None:
        unsold = (state.outcome or {}).get("reason") in ("max_rounds_exceeded", "no_sale")
        return "Over: nobody gets it" if unsold else "Over"
    bid = f" with a bid of {number(bids[winner])}" if bids.get(winner) is not None else ""
    return f"Over: {short(winner, 24)} gets it{bid}" + (f", and pays {number(paid[winner])}" if winner in paid else "")


@remembered
def _axis(most: float, below: float) -> tuple[str, ...]:
    """Return the scale above the rows, and its lines down to `below`."""
    marks = [(LEFT + (RIGHT - LEFT) * part / 4, most * part / 4) for part in range(5)]
    return (
        group(*(line([(x, TOP - 4), (x, below)], LINE) for x, _ in marks)),
        group(*(text(x, TOP - 9, number(mark), 11, fill=FAINT, anchor="middle") for x, mark in marks)),
        text(24, TOP - 9, "bidder", 11, fill=FAINT),
        text(LEFT - 12, TOP - 9, "valuation", 11, fill=FAINT, anchor="end"),
        text(616, TOP - 9, "gain", 11, fill=FAINT, anchor="end"),
    )


class _Row(NamedTuple):
    """A bidder's row: its upper edge, its height, its colour."""

    top: float
    height: float
    colour: str

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    @property
    def bar(self) -> float:
        return min(26.0, self.height * 0.5)

    @remembered
    def frame(self, *, turn: bool) -> str:
        edge, thick = (TURN, 2.5) if turn else (LINE, 1)
        return box(14, self.top + 2, 612, self.height - 4, "#fff", round=6, stroke=edge, thick=thick)

    @remembered
    def name(self, name: str, status: str, *, own: bool) -> str:
        size = 13 if self.height > 36 else 11
        words = short(name, 11) + " (you)" if own else short(name, 17)
        who = text(34, self.middle + (-2 if self.height > 36 else 4), words, size, bold=True)
        mark = box(22, self.middle - self.bar / 2, 5, self.bar, self.colour, round=2)
        below = text(34, self.middle + 14, status, 11, fill=FAINT) if self.height > 36 else ""
        return group(mark, who, below)

    @remembered
    def envelope(self, *, sealed: bool, won: bool) -> str:
        """Return the bidder's envelope: with a seal after the bid, in gold for the winner."""
        tall = min(24.0, self.height * 0.62)
        wide = tall * 1.5
        x, y = 182 - wide / 2, self.middle - tall / 2
        fill = TURN if won else "#f0e4c3" if sealed else "none"
        edge = "#a58d52" if sealed else LINE
        flap = line([(x, y), (x + wide / 2, y + tall * 0.55), (x + wide, y)], edge, 1.2)
        seal = f'<circle cx="{x + wide / 2:.5g}" cy="{y + tall * 0.55:.5g}" r="{tall * 0.16:.3g}" fill="#b3362b"/>'
        return group(box(x, y, wide, tall, fill, round=2, stroke=edge, thick=1.2), flap, seal if sealed else "")

    @remembered
    def valuation(self, value: float | None, most: float) -> str:
        """Return the bar, and the number to the left of the axis, where no bid covers it."""
        words = text(LEFT - 8, self.middle + 4, "?" if value is None else number(value), 12, anchor="end")
        width = (RIGHT - LEFT) * (value or 0.0) / most
        return group(
            words,
            f'<rect x="{LEFT:g}" y="{self.middle - self.bar / 2:.5g}" width="{width:.5g}" height="{self.bar:.5g}" '
            f'fill="{self.colour}" fill-opacity="0.4"/>',
        )

    @remembered
    def bid(self, bid: float | None, most: float, *, sealed: bool) -> str:
        if bid is None or not sealed:
            return ""
        x = LEFT + (RIGHT - LEFT) * min(bid, most) / most
        half, right = self.bar / 2, x < (LEFT + RIGHT) / 2
        mark = line([(x, self.middle - half - 3), (x, self.middle + half + 3)], INK, 3)
        where = x + 6 if right else x - 6
        return group(mark, text(where, self.middle + 4, number(bid), 12, anchor="start" if right else "end", bold=True))

    @remembered
    def gain(self, won: float | None) -> str:
        if won is None:
            return ""
        fill = "#2f7d4f" if won > 0 else "#b3362b" if won < 0 else FAINT
        words = ("+" if won > 0 else "") + number(won)
        return text(616, self.middle + 4, words, 13, fill=fill, anchor="end", bold=True)


def render(rule: str, rounds: int, states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`). `rounds`: how many there are at most."""
    first = states[0]
    game, history, turn = first.game_state, first.game_state["action_history"], first.current_turn_agent_id
    own = {state.agent_id: state.game_state for state in states if state.agent_id}
    sealed = {row["agent_id"] for row in history if row["action"] == "submit_bid"}
    played = [row["round"] for row in history if first.game_over or row["agent_id"] == turn]
    fields = (field for field, _ in TERMS.values() if field in game)
    terms = "".join(f" · {field.replace('_', ' ')} {game[field]}" for field in fields)
    lines = [f"{rule} auction · round {max(played, default=0) + (not first.game_over)} of {rounds}{terms}"]
    for name in _bidders(states):
        valuation, bid = "?", "sealed" if name in sealed else "-"
        if name in own:
            valuation = f"{own[name]['my_valuation']:.2f}"
            bid = f"{own[name]['my_bid']:g}" if name in sealed else bid
        lines.append(f"{'>' if name == turn else ' '} {name:<9} valuation {valuation:>7}  bid {bid:>7}")
    if first.outcome is not None:
        winners = _winners(first)
        won = f"{' and '.join(winners)} win{'s' * (len(winners) == 1)}" if winners else "nobody wins"
        if not winners and first.outcome["reason"] == "auction_resolved":  # an observer's state does not tell who
            won = "sold"
        lines.append(f"over: {won}; " + ", ".join(f"{name} {gain:+.2f}" for name, gain in payoffs_in(first)))
    return "\n".join(lines)
