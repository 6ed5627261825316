"""A host's offer, its ``allowed_actions``: fewer actions than the rules have, and narrower bounds of their numbers."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import Action, AgentResponse, AllowedAction
from .schemas import ROUNDING, both, bounds_of, fits, fitted_value, is_narrower, least_payload, properties_of

QUIET = ("pass", "message_only", "check", "finish", "reject", "fold")
"""Actions that commit to nothing or to little, in this order."""
IDLE = QUIET[:2]
"""Actions that decide nothing, in every game."""


def offered_mask(game: Game, table: Any, mask: NDArray[np.int8], offers: Sequence[AllowedAction]) -> NDArray[np.int8]:
    """Return the legal action indices whose action type is offered, with numbers within the bounds of its schema.

    If no index of a type has such numbers, all of its indices stay: `fitted` moves their numbers to the bounds. It does
    not move those in an object, which may be shares of a sum.

    Args:
        game: the game.
        table: the record, in which it is the seat's turn.
        mask: its legal action indices, int8[A].
        offers: the state's ``allowed_actions``; empty: the host does not send them, and every legal action is allowed.

    Returns:
        int8[A]; all 0 if no offered action has an action index.
    """
    if not offers:
        return mask
    offered = {offer.action_type: bounds_of(offer.payload_schema) for offer in offers}
    legal = {offer.action_type: bounds_of(offer.payload_schema) for offer in game.allowed_actions(table)}
    narrow = {name for name in offered if is_narrower(offered[name], legal.get(name, {}))}
    kept, outside = mask.copy(), dict[str, list[int]]()
    for start, stop, types in _ranges(game, len(mask)):
        if types and offered.keys() >= set(types) and narrow.isdisjoint(types):
            continue
        for index in (np.flatnonzero(mask[start:stop]) + start).tolist():
            action = game.view.encode(table, index).action
            name = action.action_type
            kept[index] = name in offered and (name not in narrow or fits(offered[name], action.payload))
            if name in narrow:
                outside.setdefault(name, []).append(-1 if kept[index] else index)
    for name, indices in outside.items():
        if -1 not in indices and all(len(path) == 1 for path in offered[name]):
            kept[indices] = 1
    return kept


def acceptable(game: Game, table: Any, mask: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the action indices of `mask` that are not worth less than the outside option; if all are, the best ones.

    Args:
        game: the game; without an outside option all are acceptable (see `OutsideOption`).
        table: the record, in which it is the seat's turn.
        mask: the action indices that may be played, int8[A].
    """
    option = game.capabilities.outside_option
    if option is None or not mask.any():
        return mask
    worth = option.worth(table)
    least = min(0.0, float(worth[mask > 0].max()))
    return np.asarray(mask * (worth >= least - ROUNDING), np.int8)


def _ranges(game: Game, actions: int) -> list[tuple[int, int, tuple[str, ...]]]:
    described = [(part.start, part.stop, part.action_types) for part in game.view.action_ranges]
    return described or [(0, actions, ())]


def nearest_open(game: Game, table: Any, chosen: int, mask: NDArray[np.int8]) -> int:
    """Return the action index of `mask` to play in the place of `chosen`: the nearest one of the same action type, else
    the safe one, else the nearest one."""
    for start, stop, types in _ranges(game, len(mask)):
        if start <= chosen < stop and types and mask[start:stop].any():
            return start + _nearest(chosen - start, mask[start:stop])
    safe = game.view.safe(table)
    return safe if mask[safe] else _nearest(chosen, mask)


def _nearest(chosen: int, mask: NDArray[np.int8]) -> int:
    opened = np.flatnonzero(mask)
    return int(opened[np.argmin(np.abs(opened - chosen))])


def fitted(response: AgentResponse, offers: Sequence[AllowedAction]) -> AgentResponse:
    """Return an answer with the numbers that its offer takes.

    A whole float is an integer where the offer takes integers, and any other float goes to the nearest one. A number
    out of bounds goes to the nearest bound. What is no number, or has no such schema, stays as it is.
    """
    action = response.action
    offer = next((offer for offer in offers if offer.action_type == action.action_type), None)
    if offer is None or not action.payload:
        return response
    properties = properties_of(offer.payload_schema)
    payload = {name: fitted_value(value, properties.get(name)) for name, value in action.payload.items()}
    return AgentResponse(Action(action.action_type, payload), response.messages)


def safe_action(game: Game, table: Any, mask: NDArray[np.int8], offers: Sequence[AllowedAction]) -> Action:
    """Return the action for an agent that does not answer: the game's safe one if it is in `mask`; else the first of
    `QUIET` that is offered; else the one of `mask` that is worth most to the seat; else `quiet_action`.

    Args:
        game: the game.
        table: the record, in which it is the seat's turn.
        mask: the action indices that may be played, int8[A].
        offers: the state's ``allowed_actions``.
    """
    chosen = game.view.safe(table)
    if not mask[chosen]:
        if not mask.any() or any(offer.action_type in QUIET for offer in offers):
            return quiet_action(offers)
        option, opened = game.capabilities.outside_option, np.flatnonzero(mask)
        chosen = int(opened[0 if option is None else np.argmax(option.worth(table)[opened])])
    return fitted(game.view.encode(table, chosen), offers).action


def quiet_action(offers: Sequence[AllowedAction]) -> Action:
    """Return the action that commits to least among those that are offered, known from the offer alone.

    It is the first of `QUIET`; else the first one, with the least payload that its schema allows. Without any offer it
    is ``pass``.
    """
    for name in QUIET:
        if any(offer.action_type == name for offer in offers):
            return Action(name)
    if not offers:
        return Action("pass")
    return Action(offers[0].action_type, least_payload(offers[0].payload_schema))


def narrowed(legal: Sequence[AllowedAction], offers: Sequence[AllowedAction]) -> list[AllowedAction]:
    """Return a host's offer with the bounds of the rules, too: a number has to lie within both.

    Args:
        legal: the legal actions of the rules at a record that was loaded from the host's state.
        offers: the host's ``allowed_actions``. If there are none, the host offers nothing in our turn; then the legal
            actions are returned that decide something, because nothing else moves a match on.
    """
    if not offers:
        return [action for action in legal if action.action_type not in IDLE] or list(legal)
    own = {action.action_type: action.payload_schema for action in legal}
    return [
        msgspec.structs.replace(offer, payload_schema=both(own[offer.action_type], offer.payload_schema))
        if offer.action_type in own
        else offer
        for offer in offers
    ]
