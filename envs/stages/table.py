"""The record of all games in stages. All of them share this dtype, so most compiled functions are compiled once.

Seats choose a number or a named action in each stage; a named action is stored as a number too.
"""

from ..core.record import record

SEATS = 8
"""The most seats."""
STAGES = 4
"""The most stages of a round."""
KINDS = 6
"""The most action types, `pass` included."""
PARAMETERS = 8
"""The most numbers that a game's payoffs depend on."""
MEMORY = 4
"""The rounds that the history of a repeated game shows: the last ones."""
NOTHING = -1.0
"""Stands in the history for a seat that made no choice. Numbers are 0 or more."""

TABLE = record(
    # The fields of every decision first: with less memory in use, many tables are faster.
    ("stream", "u8"),
    ("turn", "i2"),
    ("stage", "i2"),
    ("cycle", "i2"),  # of the stage, from 0; in a cycle every seat that has not chosen has one turn
    ("done", "?"),
    ("truncated", "?"),
    ("timeout", "?"),  # the last round ended because nobody chose in time
    ("revealed", "?"),  # all choices of the round are known
    ("round_number", "i4"),  # rounds that are over
    # options
    ("rounds", "i4"),
    ("seats", "i2"),
    ("stages", "i2"),
    ("kinds", "i2"),  # action types; the last one is `pass`
    ("pass_is_final", "?"),
    ("sealed", "i1", STAGES),  # whether the choices of a stage are hidden until all are made
    ("limit", "i2", STAGES),  # cycles of a stage
    ("actors", "i4", STAGES),  # bit mask of the seats that choose
    ("offers", "i4", STAGES),  # bit mask of the action types
    ("first", "i2", KINDS + 1),  # the first action index of each type, and the number of all indices
    ("origin", "f8", KINDS),  # the number of the first index of a type
    ("gap", "f8", KINDS),  # the step of its grid; 0 for a named action
    ("per_number", "f8", STAGES),  # 1 / the highest number of a stage
    ("per_unit", "f8"),  # 1 / the least part of a utility: 100 for hundredths
    ("per_private", "f8"),
    ("per_payoff", "f8"),
    ("parameter", "f8", PARAMETERS),
    # the round
    ("least", "f8", KINDS),  # bounds of this turn
    ("most", "f8", KINDS),
    ("open", "i1", KINDS),  # whether the type is legal where its stage offers it
    ("chosen", "i1", (STAGES, SEATS)),  # 1 + the action type; 0: not yet
    ("chosen_in", "i2", (STAGES, SEATS)),  # the cycle of the choice
    ("number", "f8", (STAGES, SEATS)),
    ("private", "f8", SEATS),  # a cost, a valuation, a reservation value; 0 in games without
    ("rewards", "f8", SEATS),  # of the last step
    ("total", "f8", SEATS),  # of all rounds so far
    ("private_low", "f8", SEATS),
    ("private_high", "f8", SEATS),
    ("past", "f8", (MEMORY, STAGES, SEATS)),  # choices of the last rounds, the latest first
)
