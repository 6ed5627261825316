"""Record ──► TurnState of a negotiator, and back. `game_state` and `outcome` are those of the TurnState platforms."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Annotated, Any

import msgspec
import numpy as np
from gymnasium import spaces
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.record import Tables
from ..core.structured_talk import LIMIT, StructuredTalk, spoken
from ..core.turn_state import (
    NOTHING,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    MessageIntent,
    MessageScope,
    TurnState,
    about,
    amount,
    moves_in,
    named_order,
    own_turns_left,
    payoffs_in,
    round_of,
)
from ..core.view import ActionRange
from .rules import ACCEPT, KINDS, OFFER, PASS, REJECT, TALK, decode, draw_reservation
from .rules import Move as RuleMove


class Move(Struct):
    """A move."""

    agent_id: str
    action: Annotated[str, about("the action type")]
    my_share: Annotated[float | UnsetType, about("of an offer: the proposer's")] = UNSET
    round: Annotated[int, about("from 1")] = 0


class BargainingState(GameState, kw_only=True):
    """The negotiation as a seat sees it."""

    total: Annotated[float, about("the size of the pie")]
    current_offer: Annotated[float | None, about("the proposer's share in the offer that stands")] = None
    last_offer_by: str | None = None
    my_reservation_value: Annotated[float | UnsetType, about("what the seat has without an agreement")] = UNSET
    action_history: list[Move]
    opponent_reservation_value: Annotated[float | UnsetType, about("with the option `public`")] = UNSET
    messages_left: Annotated[int | UnsetType, about("with talk: what the acting seat may still send")] = UNSET


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "negotiation"


def public(table: Any) -> BargainingState:
    """Return the public view of the negotiation: the offers."""
    stands = table.last_offer_by >= 0
    return BargainingState(
        total=float(table.total),
        current_offer=float(table.current_offer) if stands else None,
        last_offer_by=_name(int(table.last_offer_by)) if stands else None,
        action_history=_history(table),
    )


def game_state(table: Any, seat: int) -> BargainingState:
    """Return the negotiation as `seat` may see it."""
    seen = public(table)
    seen.my_reservation_value = float(table.my_reservation_value[seat])
    if table.public:
        seen.opponent_reservation_value = float(table.my_reservation_value[1 - seat])
    if table.talk:
        seen.messages_left = LIMIT - int(table.spoken) if seat == table.turn else LIMIT
    return seen


def _name(seat: int) -> str:
    return f"player_{seat}"


def _history(table: Any) -> list[Move]:
    moves = int(table.moves)
    kinds, shares = table.log_kind[:moves].tolist(), table.log_share[:moves].tolist()
    return [
        Move(_name(move % 2), KINDS[kind], share if kind == OFFER else UNSET, move // 2 + 1)
        for move, (kind, share) in enumerate(zip(kinds, shares, strict=True))
    ]


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: both utilities, the reason, and the split by agent (None without agreement)."""
    split = None
    if table.agreed:
        offer, proposer = float(table.current_offer), int(table.last_offer_by)
        split = {_name(i): offer if i == proposer else float(table.total) - offer for i in range(2)}
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(2)],
        "reason": "agreement" if table.agreed else "max_rounds_exceeded",
        "split": split,
    }


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seat's private reservation value again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities reveal the value.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.public and not table.agreed:
        table.my_reservation_value[1 - seat] = draw_reservation(table, 1 - seat)


Row = Mapping[str, Any]
NAMES = ("player_0", "player_1")


def load(blank: Tables, talk: StructuredTalk, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names (see `_seat`). What a host adds is left out: unknown fields, and rows of the history that
    are no moves. What it leaves out is filled: a pass that it did not log, a reservation value (0). A pie of another
    size is seen in proportion. Of a history that is longer than the game, the latest moves are seen. If the host ends
    the match earlier (`own_turns_left`), passes come first, so that as many turns are left.

    Args:
        blank: a table with the options that TurnState does not have.
        talk: the words of this game.
        state: the negotiation's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: naming a field that should hold a number and does not.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    _load_total(table, amount(game.get("total", table.total), "total"))
    history = moves_in(game.get("action_history"), KINDS[:TALK], state.phase)
    seat = _seat(state, history)
    table.my_reservation_value[seat] = amount(game.get("my_reservation_value") or 0.0, "my_reservation_value")
    if table.public:
        theirs = game.get("opponent_reservation_value", (table.low[1 - seat] + table.high[1 - seat]) / 2)
        table.my_reservation_value[1 - seat] = amount(theirs, "opponent_reservation_value")
    _load_offer(table, state, seat, history)
    table.turn = seat if state.is_my_turn else 1 - seat
    _load_history(table, state, seat, history)
    if state.game_over:
        _load_end(table, state, seat)
    if table.talk:
        others = {message.sender_id for message in state.messages}
        talk.load(table, seat, state.messages, dict.fromkeys(others, 1 - seat) | {state.agent_id: seat})
        if state.is_my_turn:
            table.spoken = spoken(state.messages, state.agent_id, game.get("messages_left"))
    return tables, seat


def _load_total(table: Any, total: float) -> None:
    """Take the size of the pie. If it differs from the game's, all amounts are scaled."""
    if total <= 0:
        raise ValueError(f"a pie of {total:g}: it must be above 0")
    if total != table.total:
        factor = total / float(table.total)
        table.total, table.per_total = total, 1 / total
        table.offer_step = total / (int(table.offers) - 1)
        table.low *= factor
        table.high *= factor


def _seat(state: TurnState, history: Sequence[Row]) -> int:
    """Return the seat of `state`: by its name, else by the host's order, else by the first mover of a round.

    Not by the first row alone: a host may leave out the passes before it.
    """
    if state.agent_id in NAMES:
        return NAMES.index(state.agent_id)
    order = named_order(state)
    if len(order) == len(NAMES):
        return order.index(state.agent_id)
    first = history[0]["agent_id"] if history else state.current_turn_agent_id
    for one, other in pairwise(history):
        if one["agent_id"] != other["agent_id"]:
            first = one["agent_id"] if round_of(one) == round_of(other) else other["agent_id"]
            break
    return 0 if first == state.agent_id else 1


def _load_offer(table: Any, state: TurnState, seat: int, history: Sequence[Row]) -> None:
    offer, by = state.game_state.get("current_offer"), state.game_state.get("last_offer_by")
    if offer is None:
        return
    if by is None:  # then the latest offer decides
        by = next((row["agent_id"] for row in reversed(history) if row["action"] == KINDS[OFFER]), None)
    table.current_offer = min(max(amount(offer, "current_offer"), 0.0), float(table.total))
    table.last_offer_by = seat if by == state.agent_id else 1 - seat


def _load_history(table: Any, state: TurnState, seat: int, history: Sequence[Row]) -> None:
    """Fill the log, in which the seats strictly alternate: if one moved twice in a row, the other passed."""
    moves: list[tuple[int, float]] = []
    for row in history:
        if len(moves) % 2 != (seat if row["agent_id"] == state.agent_id else 1 - seat):
            moves.append((PASS, 0.0))
        kind = KINDS.index(row["action"])
        moves.append((kind, amount(row.get("my_share", 0.0), "my_share") if kind == OFFER else 0.0))
    if not state.game_over and len(moves) % 2 != table.turn:
        moves.append((PASS, 0.0))
    left = own_turns_left(state, 2)
    if left is not None:  # the host ends the match earlier: as if the first turns had been passed
        moves = [(PASS, 0.0)] * (2 * (int(table.rounds) - left) + seat - len(moves)) + moves
    # Whose turn it is has a move left.
    excess = max(0, len(moves) - 2 * int(table.rounds) + (not state.game_over))
    moves = moves[excess + excess % 2 :]
    table.moves = len(moves)
    for move, (kind, share) in enumerate(moves):
        table.log_kind[move], table.log_share[move] = kind, share


def _load_end(table: Any, state: TurnState, seat: int) -> None:
    table.done, table.turn = True, -1
    table.agreed = (state.outcome or {}).get("reason") == "agreement"
    for agent, utility in payoffs_in(state):
        table.rewards[seat if agent == state.agent_id else 1 - seat] = utility


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the pie, the rounds where they are shown, and reservation values
    that were never drawn in training."""
    game_state, total = state.game_state, options["total"]
    different: dict[str, Any] = {}
    if game_state["total"] != total:
        different["total"] = game_state["total"]
    if game_state.get("max_rounds", options["rounds"]) != options["rounds"]:
        different["rounds"] = game_state["max_rounds"]
    ranges = options["reservations"] or [[0, total / 2]]
    mine = game_state["my_reservation_value"]
    if not any(low <= mine <= high for low, high in ranges):
        different["reservations"] = [min(0, mine), game_state["total"]]
    return different


TYPES = (*KINDS[:TALK], "message_only")


class SubmitOffer(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `submit_offer`: the share that the proposer demands for itself."""

    my_share: float


def action_spaces(total: float) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    share = spaces.Dict({"my_share": spaces.Box(0.0, total, (), np.float64)})
    return {name: share if name == "submit_offer" else spaces.Dict({}) for name in TYPES}


def action_ranges(offers: int, total: float, talk: StructuredTalk | None) -> tuple[ActionRange, ...]:
    """Return the action ranges, with those of `talk` if it is not None."""
    kinds = {ACCEPT: "accept the standing offer", REJECT: "reject it", PASS: "do nothing; a standing offer stays"}
    return (
        ActionRange(0, offers, ("submit_offer",), f"demand 0, {total / (offers - 1):g}, … {total:g} for oneself"),
        *(
            ActionRange(offers + i, offers + i + 1, (KINDS[kind],), meaning)
            for i, (kind, meaning) in enumerate(kinds.items())
        ),
        *(talk.action_ranges(offers + len(kinds)) if talk else ()),
    )


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds, from its `view.BargainingState`."""
    total = game_state.total
    schema = ts.payload_schema({"my_share": {"type": "number", "minimum": 0, "maximum": total}})
    actions = [AllowedAction("submit_offer", f"demand my_share of {total:g}; the other gets the rest", schema)]
    if game_state.last_offer_by not in (None, f"player_{seat}"):
        left = total - game_state.current_offer
        actions.append(AllowedAction("accept", f"take the {left:g} that you are offered", NOTHING))
        actions.append(AllowedAction("reject", "turn the offer down", NOTHING))
    actions.append(AllowedAction("pass", "do nothing; a standing offer stays", NOTHING))
    actions.append(AllowedAction("message_only", "send messages and decide later in this turn", NOTHING))
    return actions


def _offered(table: Any) -> bool:
    return bool(table.last_offer_by >= 0 and table.last_offer_by != table.turn)


def encode(talk: StructuredTalk, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index; a talk action is a public message."""
    move = decode(table, action)
    if move.kind == OFFER:
        return AgentResponse(Action("submit_offer", {"my_share": float(move.value)}))
    if move.kind == TALK:
        said = MessageIntent(MessageScope.PUBLIC, talk.sentence(int(move.value)))
        return AgentResponse(Action("message_only"), [said])
    return AgentResponse(Action(KINDS[move.kind]))


def parse(table: Any, action: Action) -> RuleMove | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    name = action.action_type
    if name == "submit_offer":
        return _parse_offer(table, action.payload)
    if name not in KINDS[:TALK]:
        return ts.unknown_action(action, TYPES)
    if action.payload:
        return ts.unwanted_payload(action)
    kind = KINDS.index(name)
    if kind in (ACCEPT, REJECT) and not _offered(table):
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name}: the other has no standing offer")
    return RuleMove(kind, 0.0)


def _parse_offer(table: Any, payload: dict[str, Any]) -> RuleMove | ActionResult:
    try:
        share = msgspec.convert(payload, SubmitOffer).my_share
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"submit_offer needs {{'my_share': number}}: {error}")
    total = float(table.total)
    if not isfinite(share) or not 0 <= share <= total:
        return ts.refused(ts.INVALID_PAYLOAD, f"cannot demand {share}: the bounds are 0 to {total:g}")
    return RuleMove(OFFER, share + 0.0)  # no −0


def nearest(table: Any, move: RuleMove) -> int:
    """Return the action index of `move`, or of the nearest offer on the grid."""
    offers = int(table.offers)
    if move.kind == TALK:
        return offers + 3 + int(move.value)
    if move.kind != OFFER:
        return offers + int(move.kind) - ACCEPT
    return min(offers - 1, round(move.value / float(table.offer_step)))


def worth(num_actions: int, table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth`: the own share of an offer less the reservation value, float64[num_actions]."""
    offers, own = int(table.offers), float(table.my_reservation_value[table.turn])
    gains = np.full(num_actions, np.inf)
    gains[:offers] = table.offer_step * np.arange(offers) - own
    gains[offers] = table.total - table.current_offer - own
    return gains


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.offers) + 2
