"""The record of all games in phases. All of them share this dtype, so most compiled functions are compiled once.

Seats choose a number or a named action in each phase; a named action is stored as a number too.
"""

from ..core.record import record

SEATS = 8
"""The most seats."""
DIVIDED = 4
"""The most seats among which an offer divides something."""
PHASES = 5
"""The most phases of a round."""
KINDS = 9
"""The most action types, `pass` included."""
PARAMETERS = 8
"""The most numbers that a game's payoffs depend on."""
FACTS = 4
"""The most numbers of a round that everybody knows, besides the choices."""
MEMORY = 4
"""The rounds that the history of a repeated game shows: the last ones."""
LOG = 32
"""The actions that the history of an open phase, or of a round that may go back, shows: the last ones."""
NOTHING = -1.0
"""Stands in the history for a seat that made no choice. Numbers are 0 or more."""

TABLE = record(
    # The fields of every decision first: with less memory in use, many tables are faster.
    ("stream", "u8"),
    ("turn", "i2"),
    ("phase", "i2"),
    ("cycle", "i2"),  # of the phase, from 0; in a cycle every seat that has not chosen has one turn
    ("done", "?"),
    ("timeout", "?"),  # the last round ended because nobody chose in time
    ("revealed", "?"),  # all choices of the round are known
    ("event", "?"),  # whether the event has happened that decides the payoffs of the last round (`PhaseGame.odds`)
    ("round_number", "i4"),  # rounds that are over
    # options
    ("rounds", "i4"),
    ("seats", "i2"),
    ("phases", "i2"),
    ("kinds", "i2"),  # action types; the last one is `pass`
    ("pass_is_final", "?"),
    ("sealed", "i1", PHASES),  # whether the choices of a phase are hidden until all are made
    ("limit", "i2", PHASES),  # cycles of a phase
    ("actors", "i4", PHASES),  # bit mask of the seats that choose
    ("offers", "i4", PHASES),  # bit mask of the action types
    ("first", "i2", KINDS + 1),  # the first action index of each type, and the number of all indices
    ("origin", "f8", KINDS),  # the number of the first index of a type
    ("gap", "f8", KINDS),  # the step of its grid; 0 for a named action
    ("block", "i2", KINDS),  # action indices for each number: above 1 for a type with further numbers
    ("per_number", "f8", PHASES),  # 1 / the highest number of a phase
    ("per_unit", "f8"),  # 1 / the least part of a utility: 100 for hundredths
    ("per_private", "f8"),
    ("per_payoff", "f8"),
    ("parameter", "f8", PARAMETERS),
    ("per_parameter", "f8", PARAMETERS),  # below 1 for amounts, where a host's are larger than the game's own
    # the round
    ("least", "f8", KINDS),  # bounds of this turn
    ("most", "f8", KINDS),
    ("open", "i1", KINDS),  # whether the type is legal where its phase offers it
    ("chosen", "i1", (PHASES, SEATS)),  # 1 + the action type; 0: not yet
    ("chosen_in", "i2", (PHASES, SEATS)),  # the cycle of the choice
    ("number", "f8", (PHASES, SEATS)),
    ("private", "f8", SEATS),  # a cost, a valuation, a reservation value; 0 in games without; −1: not dealt yet
    ("rewards", "f8", SEATS),  # of the last step
    ("total", "f8", SEATS),  # of all rounds so far
    ("fact", "f8", FACTS),  # numbers that everybody knows; the first ones are the further numbers of choices, by seat
    ("private_low", "f8", SEATS),
    ("private_high", "f8", SEATS),
    ("past", "f8", (MEMORY, PHASES, SEATS)),  # choices of the last rounds, the latest first
    ("past_fact", "f8", (MEMORY, FACTS)),
    ("per_fact", "f8", FACTS),  # 1 / the highest number of a fact
    ("further", "i2"),  # how many further numbers a choice has
    ("further_gap", "f8", 2),  # the steps of the grids of further numbers
    ("further_points", "i2", 2),  # and how many numbers they have
    ("loops", "?"),  # whether a round may go back to an earlier phase
    # the actions so far, of an open phase or of a round that may go back
    ("acts", "i4"),
    ("log_seat", "i1", LOG),  # the last actions, as a ring: action i is in place i % LOG
    ("log_phase", "i1", LOG),
    ("log_kind", "i1", LOG),
    ("log_cycle", "i2", LOG),
    ("log_number", "f8", LOG),
    # an open phase: options
    ("forced", "i1", PHASES),  # whether a seat that does not choose in time has chosen 0
    ("keeps", "?"),  # whether the last number of every seat is kept
    ("divides", "?"),  # whether the standing number is part of a division among all seats
    ("start", "f8"),  # the standing number at the beginning
    ("closes", "i4"),  # bit masks of the action types by their effect
    ("leaves", "i4"),
    ("clears", "i4"),
    ("recalls", "i4"),
    # an open phase: the round
    ("standing", "f8"),  # the standing number: a price, the highest bid, a count
    ("owner", "i2"),  # the seat whose number it is; -1: nobody's
    ("within", "i4"),  # bit mask of the seats that have not left
    ("closer", "i2"),  # the seat that closed the phase, or the last one in it; -1: nobody
    ("closed_by", "i2"),  # the action type that closed it; -1: none
)
