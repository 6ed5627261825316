"""The match as text."""

from typing import Any

from ..core.record import plain
from .statements import act_of, sentence
from .table import DISCUSSION, NIGHT, PHASES, ROLES, UNKNOWN, VOTING, WINNERS
from .view import knows, log, name, visible_turn


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose known roles and votes are shown; None: all."""
    table = plain(table)
    phase = int(table.phase)
    day = int(table.round_number) - (phase == NIGHT)
    lines = [f"{PHASES[phase]} · round {int(table.round_number)} · day {day} of {int(table.max_days)}"]
    lines.append(_last_night(table, int(table.round_number) - (phase == NIGHT)))
    acting = int(table.turn) if seat is None else visible_turn(table, seat)
    for other in range(int(table.players)):
        role = ROLES[int(table.role[other]) if seat is None or knows(table, seat, other) else UNKNOWN]
        marks = [_said(table, other, day)] if phase in (DISCUSSION, VOTING) else []
        if seat is None or seat == other:
            marks.append(_chose(table, other))
        gone = int(table.eliminated_round[other])
        if gone:
            marks = [f"{'voted out' if table.voted_out[other] else 'killed'} in round {gone}"]
        line = f"{'>' if acting == other else ' '} {name(other):<4}{role:<9} {'  '.join(filter(None, marks))}"
        lines.append(line.rstrip())
    if table.votings:
        votes = log(table, "votes")[int(table.votings) - 1].tolist()
        cast = ", ".join(f"{name(voter)} {name(target)}" for voter, target in enumerate(votes) if target >= 0)
        lines.append(f"latest vote: {cast or 'all abstained'}")
    if table.done:
        winner = WINNERS[int(table.winner)]
        lines.append(f"over: {winner} wins" if winner else "over: no winner")
    return "\n".join(lines)


def _last_night(table: Any, nights: int) -> str:
    if not nights:
        return "the first night"
    return f"last night {name(int(table.killed))} was killed" if table.killed >= 0 else "last night nobody died"


def _said(table: Any, seat: int, day: int) -> str:
    """Return the statements of a player today."""
    if not table.talk:
        return ""
    rounds, ids = int(table.discussion_rounds), [name(other) for other in range(int(table.seats))]
    codes = log(table, "said")[(day - 1) * rounds : day * rounds, seat].tolist()
    return " ".join(f'"{sentence(act_of(code), seat, ids)}"' for code in codes if code)


def _chose(table: Any, seat: int) -> str:
    """Return a player's choice of tonight, or its vote while the votes are sealed."""
    row = int(table.round_number) - 1
    if table.phase == NIGHT and log(table, "night")[row, seat] >= 0:
        return f"chose {name(int(log(table, 'night')[row, seat]))}"
    if table.phase == VOTING and table.alive[seat] and 0 <= seat < table.turn:
        target = int(log(table, "votes")[row, seat])
        return f"voted for {name(target)}" if target >= 0 else "abstained"
    return ""
