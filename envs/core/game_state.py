"""The type of a game's `game_state`: views and live tables build it, and JSON Schema and the games' pages show it.

`load` reads it with `GameState.of` where the game's protocol is its own. The games of the TurnState platforms read
field by field, because their hosts send fields of other kinds, which are left out.
"""

from contextlib import suppress
from typing import Any, Self, TypeVar

import msgspec

from .turn_state import TurnState, Wire

T = TypeVar("T")


class GameState(Wire):
    """What a seat sees of one game. A game's own type names the fields, each with its type and what it is `about`.

    A field that is left out where it is empty has the type ``… | UnsetType`` and the default `msgspec.UNSET`. Any other
    default is what is read where a host leaves the field out.
    """

    @classmethod
    def of(cls, state: TurnState) -> Self:
        """Read the `game_state` of a TurnState. Unknown fields are ignored; numbers may be text, or whole floats; null
        may stand for a field that may be left out.

        Raises:
            ValueError: if a field is missing or holds what cannot be; the error names it.
        """
        try:
            return msgspec.convert(state.game_state, cls, strict=False)
        except msgspec.ValidationError as error:
            first = error
        for nulls in (True, False):
            with suppress(msgspec.ValidationError):
                return msgspec.convert(_tidy(state.game_state, nulls), cls, strict=False)
        raise first


def or_else(value: T | msgspec.UnsetType, otherwise: T) -> T:
    """Return the value of a field, or `otherwise` where it was left out."""
    return otherwise if isinstance(value, msgspec.UnsetType) else value


def about(meaning: str) -> msgspec.Meta:
    """Return what JSON Schema and the games' pages say of a field: ``pot: Annotated[int, about("in chips")]``."""
    return msgspec.Meta(description=meaning)


def _tidy(value: Any, nulls: bool) -> Any:
    """Return plain data with whole floats as integers, and without `nulls` in objects."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _tidy(part, nulls) for key, part in value.items() if nulls or part is not None}
        case list() | tuple():
            return [_tidy(part, nulls) for part in value]
    return value


def as_dict(game_state: GameState | dict[str, Any]) -> dict[str, Any]:
    """Return the `game_state` of a view as plain dicts and lists; a view without a type returns such a dict."""
    return game_state.to_dict() if isinstance(game_state, GameState) else game_state
