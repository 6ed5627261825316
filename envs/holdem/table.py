"""The record: the whole state of one hold'em table. Names are those of Moltpoker's `game_state` where it has one.

Amounts are whole chips. A card is ``4 * rank + suit`` (see `hands`), −1 for no card or an unknown one.
"""

from ..core.record import record

SEATS = 10
"""The most seats of a table."""
LOG = 160
"""Actions of a hand that the record holds. Heads-up with 100 big blinds no hand has more: a raise adds at least a big
blind. More would cost every table memory, and speed with it."""
KEPT = 20
"""Of a longer hand the oldest actions are dropped, from streets that have more than so many; `log_dropped` counts."""
FRACTIONS = 12
"""The most pot fractions."""

PHASES = ("waiting", "preflop", "flop", "turn", "river", "showdown", "ended")
WAITING, PREFLOP, FLOP, TURN, RIVER, SHOWDOWN, ENDED = range(7)

KINDS = ("fold", "check", "call", "raiseTo")
FOLD, CHECK, CALL, RAISE = range(4)

FOLD_ACTION, CALL_ACTION, LEAST_RAISE, FIRST_FRACTION = range(4)
"""Action indices: fold; check or call; the least raise; the first pot fraction. The last index is all-in."""

TABLE = record(
    # options
    ("seats", "i4"),
    ("small_blind", "i8"),
    ("big_blind", "i8"),
    ("ante", "i8"),
    ("stacks", "i8", SEATS),  # at the start of an episode
    ("hands", "i4"),  # hands per episode
    ("fewest", "i4"),  # the fewest players of an episode; 0: no seat is empty but by `stacks`
    ("button", "i4"),  # the first hand's dealer; −1: drawn
    ("dead_button", "?"),  # the rule by which the button moves; see `rules.move_button`
    ("raise_cap", "i4"),  # bets and raises per street, blinds not counted; −1: no cap
    ("fractions", "f8", FRACTIONS),
    ("num_fractions", "i4"),
    # chance
    ("stream", "u8"),
    ("deck", "i1", 52),
    ("cards", "i1", (SEATS, 2)),
    ("board", "i1", 5),  # all five; the first `board_count` are open
    ("board_count", "i4"),
    ("board_rank", "i4"),  # category of the open cards
    ("board_set", "i8"),  # the open cards as a set (`hands`)
    # the hand
    ("hand", "i4"),  # from 1
    ("phase", "i4"),
    ("dealer", "i4"),
    ("small_seat", "i4"),  # whose small blind it is; with a dead button it may have no chips, and nobody posts it
    ("turn", "i4"),
    ("stack", "i8", SEATS),
    ("bet", "i8", SEATS),  # on this street
    ("committed", "i8", SEATS),  # in this hand, antes included
    ("seated", "i1", SEATS),  # dealt into this hand
    ("folded", "i1", SEATS),
    ("acted", "i1", SEATS),  # since the last full raise
    ("pot", "i8"),  # all chips put in
    ("current_bet", "i8"),
    ("full_raise", "i8"),  # size of the last full bet or raise
    ("raises", "i4"),  # on this street
    # the acting seat's options
    ("to_call", "i8"),
    ("raise_min", "i8"),  # raise to; 0: it may not raise
    ("raise_max", "i8"),
    # the betting of this hand
    ("log_end", "i4", 4),  # for every street from preflop, the number of actions in the log up to its end
    ("log_dropped", "i4"),  # actions that are no longer in the log
    ("last_seat", "i4"),  # the hand's last action; −1: none yet
    ("last_kind", "i4"),
    ("last_amount", "i8"),
    # the end of a hand
    ("showdown", "?"),
    ("strength", "i4", SEATS),  # of the hands shown; −1 of all others
    ("won", "i8", SEATS),  # taken from the pots, own chips included
    # the episode
    ("rewards", "f8", SEATS),  # net chips of the hand just ended
    ("total", "i8", SEATS),  # net chips of the episode so far
    ("done", "?"),
    # at the end, so that all else lies together
    ("log", "i8", LOG),  # the actions, each as one number; see `rules.log_entry`
)
