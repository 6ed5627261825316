"""Record ──► TurnState of a negotiator."""

from collections.abc import Mapping, Sequence
from operator import index
from reprlib import repr
from typing import Annotated, Any

import numpy as np
from gymnasium import spaces
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.record import Tables
from ..core.turn_state import (
    NOTHING,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    TurnState,
    about,
    amount,
    moves_in,
    named_order,
    own_turns_left,
    payoffs_in,
)
from ..core.view import ActionRange
from .rules import ACCEPT, FIXED, KINDS, NONE, OFFER, PASS, WALK_AWAY, Step, decode, draw_preferences, draw_reservation
from .theory import gains, outcome_index, outcome_values

Issues = Mapping[str, int]
"""The number of values of each issue, by its name."""


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "negotiation"


class Move(Struct):
    """A move."""

    agent_id: str
    action: Annotated[str, about("the action type")]
    offer: Annotated[dict[str, int] | UnsetType, about("of an offer: the value of each issue")] = UNSET
    round: Annotated[int, about("from 1")] = 0


class NegotiationState(GameState, kw_only=True):
    """The negotiation as a seat sees it."""

    agent_ids: Annotated[list[str], about("in seat order")]
    issues: Annotated[dict[str, int], about("the number of values of each issue")]
    current_offer: Annotated[dict[str, int] | None, about("the value of each issue")] = None
    last_offer_by: str | None = None
    acceptances: Annotated[dict[str, bool], about("of the current offer, by agent")]
    max_rounds: int
    discount: Annotated[float, about("of the utilities, per round")]
    action_history: list[Move]
    preferences: Annotated[
        dict[str, dict[str, list[float]]] | UnsetType, about("with the option `public`: of all agents")
    ] = UNSET
    reservation_values: Annotated[dict[str, float] | UnsetType, about("with the option `public`")] = UNSET
    my_preferences: Annotated[dict[str, list[float]] | UnsetType, about("the worth of each issue's values")] = UNSET
    my_reservation_value: Annotated[float | UnsetType, about("what the seat has without an agreement")] = UNSET


def public(issues: Issues, table: Any) -> NegotiationState:
    """Return the public view of the negotiation: the offers and who has accepted, and public preferences."""
    seats, names = range(int(table.seats)), list(issues)
    stands = table.last_offer_by >= 0
    shown = NegotiationState(
        agent_ids=[_name(seat) for seat in seats],
        issues=dict(issues),
        current_offer=offer(names, table, int(table.current_offer)) if stands else None,
        last_offer_by=_name(int(table.last_offer_by)) if stands else None,
        acceptances={_name(seat): True for seat in seats if (int(table.accepted) >> seat) & 1},
        max_rounds=int(table.rounds),
        discount=float(table.discount),
        action_history=_history(names, table),
    )
    if table.public:
        shown.preferences = {_name(seat): _preferences(issues, table, seat) for seat in seats}
        shown.reservation_values = {_name(seat): float(table.reservation[seat]) for seat in seats}
    return shown


def game_state(issues: Issues, table: Any, seat: int) -> NegotiationState:
    """Return the negotiation as `seat` may see it."""
    seen = public(issues, table)
    seen.my_preferences = _preferences(issues, table, seat)
    seen.my_reservation_value = float(table.reservation[seat])
    return seen


def _name(seat: int) -> str:
    return f"player_{seat}"


def _preferences(issues: Issues, table: Any, seat: int) -> dict[str, list[float]]:
    worth = table.worth[seat]
    return {
        name: [float(worth[issue][value]) for value in range(count)]
        for issue, (name, count) in enumerate(issues.items())
    }


def _history(names: Sequence[str], table: Any) -> list[Move]:
    seats, entries = int(table.seats), []
    for move in range(int(table.moves)):
        kind = int(table.log_kind[move])
        offered = offer(names, table, int(table.log_offer[move])) if kind == OFFER else UNSET
        entries.append(Move(_name(move % seats), KINDS[kind], offered, move // seats + 1))
    return entries


def outcome(issues: Issues, table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: all utilities, the reason, and the agreement (None without one)."""
    reason = "agreement" if table.agreed else "walked_away" if table.left_by >= 0 else "max_rounds_exceeded"
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(int(table.seats))],
        "reason": reason,
        "agreement": offer(list(issues), table, int(table.current_offer)) if table.agreed else None,
    }


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the private preferences of the other seats again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities tell of the preferences.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.public or table.agreed:
        return
    for other in range(int(table.seats)):
        if other != seat:
            if table.kind != FIXED:
                draw_preferences(table, other)
            draw_reservation(table, other)


Row = Mapping[str, Any]


def load(blank: Tables, issues: Issues, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: their order is the host's, or that of their moves. A pass that the host did not log is
    filled in. Of a history that is longer than the game, the latest rounds are seen. If the host ends the match earlier
    (`own_turns_left`), passes come first, so that as many turns are left.

    Args:
        blank: a table with the options that TurnState does not have.
        issues: the issues.
        state: the negotiation's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: naming a field that should hold a number and does not.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    history = moves_in(game.get("action_history"), KINDS, state.phase)
    seats = _seating(table, state, history)
    seat = seats.get(state.agent_id, 0)
    if state.agent_id:
        _load_preferences(table, issues, seat, game.get("my_preferences"))
        table.reservation[seat] = amount(game.get("my_reservation_value") or 0.0, "my_reservation_value")
    if table.public:
        _load_public(table, issues, game, seats)
    table.turn = seats.get((state.agent_id if state.is_my_turn else state.current_turn_agent_id) or "", NONE)
    _load_history(table, issues, state, history, seats)
    if game.get("current_offer") is not None and game.get("last_offer_by") in seats:
        table.current_offer = _outcome(table, issues, game["current_offer"])
        table.last_offer_by = seats[game["last_offer_by"]]
        table.latest[table.last_offer_by] = table.current_offer
        accepted = game.get("acceptances")
        agents = [agent for agent, yes in accepted.items() if yes is True] if isinstance(accepted, Mapping) else []
        table.accepted = sum(1 << seats[agent] for agent in agents if agent in seats)
    if state.game_over:
        _load_end(table, state, seats)
    return tables, seat


def _seating(table: Any, state: TurnState, history: Sequence[Row]) -> dict[str, int]:
    """Give agents their seats: by the host's order, else by our own names, else in the order of their moves.

    With more agents than the game has seats, the last ones are not seen; the agent itself always is.
    """
    count = int(table.seats)
    agent_ids = state.game_state.get("agent_ids")
    ours = [f"player_{seat}" for seat in range(count)]
    order = named_order(state)
    if not state.agent_id:  # an observer
        order = agent_ids if isinstance(agent_ids, list) and all(isinstance(name, str) for name in agent_ids) else ours
    elif not order and state.agent_id in ours:
        order = ours
    elif not order:
        acting = [state.current_turn_agent_id] if state.current_turn_agent_id else []
        order = list(dict.fromkeys([*(row["agent_id"] for row in history), *acting, state.agent_id]))
    if state.agent_id and order.index(state.agent_id) >= count:
        order = [*order[: count - 1], state.agent_id]
    return {agent: seat for seat, agent in enumerate(order[:count])}


def _load_preferences(table: Any, issues: Issues, seat: int, preferences: Any) -> None:
    """Write what the values are worth to a seat; what is missing is worth 0."""
    for issue, (name, count) in enumerate(issues.items()):
        worth = preferences.get(name) if isinstance(preferences, Mapping) else None
        for value, utility in enumerate(worth[:count] if isinstance(worth, list) else ()):
            table.worth[seat, issue, value] = min(max(amount(utility, f"the worth of {name}"), 0.0), 1.0)


def _load_public(table: Any, issues: Issues, game: Mapping[str, Any], seats: Mapping[str, int]) -> None:
    preferences, reservations = game.get("preferences"), game.get("reservation_values")
    for agent, seat in seats.items():
        if isinstance(preferences, Mapping) and agent in preferences:
            _load_preferences(table, issues, seat, preferences[agent])
        if isinstance(reservations, Mapping) and agent in reservations:
            table.reservation[seat] = amount(reservations[agent], f"the reservation value of {agent}")


def _outcome(table: Any, issues: Issues, offer: Any) -> int:
    """Return an outcome's index.

    Raises:
        ValueError: if it has not one value of each issue.
    """
    values = []
    for name, count in issues.items():
        value = amount(offer.get(name) if isinstance(offer, Mapping) else None, f"the offer's {name}")
        if value not in range(count):
            raise ValueError(f"the offer's {name} is {value:g}: it should be a whole number from 0 to {count - 1}")
        values.append(int(value))
    return outcome_index(table, values)


def _load_history(
    table: Any, issues: Issues, state: TurnState, history: Sequence[Row], seats: Mapping[str, int]
) -> None:
    """Fill the log, in which the seats act in turn: who is missing passed."""
    count = int(table.seats)
    moves: list[tuple[int, int]] = []
    for row in history:
        if row["agent_id"] in seats:
            while len(moves) % count != seats[row["agent_id"]]:
                moves.append((PASS, 0))
            kind = KINDS.index(row["action"])
            moves.append((kind, _outcome(table, issues, row.get("offer")) if kind == OFFER else 0))
    while not state.game_over and table.turn != NONE and len(moves) % count != table.turn:
        moves.append((PASS, 0))
    left = own_turns_left(state, count)
    if left is not None:  # the host ends the match earlier: as if the first turns had been passed
        moves = [(PASS, 0)] * (count * (int(table.rounds) - left) + int(table.turn) - len(moves)) + moves
    # Whose turn it is has a move left.
    excess = max(0, len(moves) - count * int(table.rounds) + (not state.game_over))
    moves = moves[-(-excess // count) * count :]
    table.moves = len(moves)
    table.latest[:count] = NONE
    for move, (kind, made) in enumerate(moves):
        seat = move % count
        table.log_kind[move], table.log_offer[move] = kind, made
        if kind == OFFER:
            table.latest[seat], table.current_offer, table.last_offer_by, table.accepted = made, made, seat, 0
        elif kind == ACCEPT:
            table.accepted |= 1 << seat


def _load_end(table: Any, state: TurnState, seats: Mapping[str, int]) -> None:
    table.done, table.turn = True, NONE
    reason = (state.outcome or {}).get("reason")
    table.agreed = reason == "agreement"
    if reason == "walked_away" and table.moves:
        table.left_by = (int(table.moves) - 1) % int(table.seats)
    for agent, utility in payoffs_in(state):
        if agent in seats:
            table.rewards[seats[agent]] = utility


MEANINGS = {
    ACCEPT: "accept the current offer; it is agreed on when all but the proposer have",
    WALK_AWAY: "end the negotiation without an agreement",
    PASS: "do nothing; the current offer stays",
}


def action_spaces(issues: Issues) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    offer = spaces.Dict({name: spaces.Discrete(count) for name, count in issues.items()})
    return {"submit_offer": offer, **{KINDS[kind]: spaces.Dict({}) for kind in MEANINGS}, "message_only": spaces.Dict()}


def action_ranges(outcomes: int) -> tuple[ActionRange, ...]:
    """Return the action ranges."""
    offers = ActionRange(0, outcomes, ("submit_offer",), "offer an outcome; the last issue's value changes first")
    return (
        offers,
        *(
            ActionRange(outcomes + k, outcomes + k + 1, (KINDS[kind],), meaning)
            for k, (kind, meaning) in enumerate(MEANINGS.items())
        ),
    )


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, from its `view.NegotiationState`."""
    issues, own = game_state.issues, game_state.agent_ids[seat]
    values = {name: {"type": "integer", "minimum": 0, "maximum": count - 1} for name, count in issues.items()}
    may_accept = game_state.last_offer_by not in (None, own) and not game_state.acceptances.get(own, False)
    kinds = [kind for kind in MEANINGS if kind != ACCEPT or may_accept]
    return [
        AllowedAction("submit_offer", "offer a value of every issue", ts.payload_schema(values)),
        *(AllowedAction(KINDS[kind], MEANINGS[kind], NOTHING) for kind in kinds),
        AllowedAction("message_only", "send messages and decide later in this turn", NOTHING),
    ]


def _may_accept(table: Any) -> bool:
    return bool(table.last_offer_by not in (-1, table.turn) and not (int(table.accepted) >> int(table.turn)) & 1)


def offer(issues: Sequence[str], table: Any, outcome: int) -> dict[str, int]:
    """Return an outcome as the value of each issue."""
    return dict(zip(issues, outcome_values(table, outcome), strict=True))


def encode(issues: Sequence[str], table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    payload = offer(issues, table, int(move.outcome)) if move.kind == OFFER else {}
    return AgentResponse(Action(KINDS[move.kind], payload))


def parse(issues: Issues, table: Any, action: Action) -> Step | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    name = action.action_type
    if name == KINDS[OFFER]:
        return _parse_offer(issues, table, action.payload)
    if name not in KINDS:
        return ts.unknown_action(action, (*KINDS, "message_only"))
    if action.payload:
        return ts.unwanted_payload(action)
    kind = KINDS.index(name)
    if kind == ACCEPT and not _may_accept(table):
        return ts.refused(
            ts.GAME_RULE_VIOLATION, "cannot accept: there is no offer of another that you have not accepted"
        )
    return Step(kind, 0)


def _parse_offer(issues: Issues, table: Any, payload: Mapping[str, Any]) -> Step | ActionResult:
    if set(payload) != set(issues):
        return ts.refused(
            ts.INVALID_PAYLOAD, f"submit_offer needs a value of each issue ({', '.join(issues)}), got {repr(payload)}"
        )
    for name, count in issues.items():
        value = payload[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
            return ts.refused(ts.INVALID_PAYLOAD, f"{name} is {repr(value)}: give a whole number from 0 to {count - 1}")
    return Step(OFFER, outcome_index(table, [index(payload[name]) for name in issues]))


def nearest(table: Any, move: Step) -> int:
    """Return the action index of `move`; every move has one."""
    return int(move.outcome) if move.kind == OFFER else int(table.outcomes) + int(move.kind) - ACCEPT


def worth(table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth`: the utility of an offer less the reservation value, float64[outcomes + 3]."""
    outcomes = int(table.outcomes)
    surplus = np.full(outcomes + 3, np.inf)
    surplus[:outcomes] = gains(table)[int(table.turn)]
    if table.current_offer != NONE:
        surplus[outcomes] = surplus[table.current_offer]
    return surplus


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.outcomes) + PASS - ACCEPT
