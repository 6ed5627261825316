"""A state and an offer as text, for language models: of any game, from the names in its `game_state`."""

import re
from collections.abc import Mapping
from typing import Any

from ...envs.core.turn_state import AllowedAction
from .schemas import properties_of


def compact(state: Mapping[str, Any]) -> str:
    """Return a state as lines of ``name: value``, without quotation marks.

    >>> print(compact({"my_card": "K", "board": [], "chips": {"player_0": 1, "player_1": 3}}))
    my_card: K
    board: []
    chips: {player_0: 1, player_1: 3}
    """
    return "\n".join(f"{name}: {_short(value)}" for name, value in state.items())


def _short(value: Any) -> str:
    match value:
        case Mapping():
            return "{" + ", ".join(f"{name}: {_short(one)}" for name, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_short, value)) + "]"
    return _word(value)


def _word(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.10g}"
    return str(value)


def in_words(state: Mapping[str, Any]) -> str:
    """Return a state in natural language: a sentence for every field.

    >>> print(in_words({"my_card": "K", "board": [], "moves": [{"agent_id": "player_0", "action": "raise"}]}))
    My card is K.
    Board: none.
    Moves: player_0, action raise.
    >>> in_words({"μ255": 2})
    'μ255 is 2.'
    """
    return "\n".join(_sentence(name, value) for name, value in state.items())


def _sentence(name: str, value: Any) -> str:
    subject = _spoken(name)
    if not re.fullmatch(r"\D\d+", name):  # a code of a skin, which the rules write in lower case
        subject = subject[:1].upper() + subject[1:]
    if isinstance(value, Mapping | list | tuple):
        return f"{subject}: {_listed(value)}."
    if isinstance(value, bool):
        return f"{subject}: {_word(value)}."
    return f"{subject} is {'not there' if value is None else _word(value)}."


def _spoken(name: str) -> str:
    """Return a name in JSON as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


def _listed(value: Any) -> str:
    match value:
        case Mapping():
            return ", ".join(_named(name, one) for name, one in value.items()) or "none"
        case list() | tuple():
            return ("; " if any(isinstance(one, Mapping) for one in value) else ", ").join(
                map(_listed, value)
            ) or "none"
    return _word(value)


def _named(name: str, value: Any) -> str:
    # Whose row it is needs no name before it.
    if name in ("agent_id", "id", "playerId", "player_id"):
        return _word(value)
    inside = _listed(value)
    return f"{_spoken(name)} ({inside})" if isinstance(value, Mapping | list | tuple) else f"{_spoken(name)} {inside}"


def offer_in_words(offer: AllowedAction) -> str:
    """Return an offer in a line: its action type, what its payload needs, and its description.

    >>> schema = {"properties": {"amount": {"type": "integer", "minimum": 4, "maximum": 200}}}
    >>> offer_in_words(AllowedAction("raiseTo", "raise the bet", schema))
    'raiseTo with amount (integer, 4 to 200): raise the bet'
    """
    needs = [f"{name} ({_kind(schema)})" for name, schema in properties_of(offer.payload_schema).items()]
    payload = f" with {', '.join(needs)}" if needs else ""
    return f"{offer.action_type}{payload}{f': {offer.description}' if offer.description else ''}"


def _kind(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    options = schema.get("enum") or [one.get("const") for one in schema.get("anyOf", ()) if "const" in one]
    if options:
        return "one of " + ", ".join(map(_word, options))
    kind = schema.get("type", "any")
    if kind == "object":
        return ", ".join(f"{name}: {_kind(one)}" for name, one in properties_of(schema).items()) or "object"
    words = "/".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f", {_word(low)} to {_word(high)}" if low is not None and high is not None else ""
    return words + bounds
