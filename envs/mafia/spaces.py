"""The spaces of the payloads: one of a few values, and text."""

from typing import Any

import numpy as np
from gymnasium import spaces

from ..core.turn_state import MESSAGE_LENGTH


class Among(spaces.Space[Any]):
    """The space of a few values, such as names or None."""

    def __init__(self, values: list[Any], seed: int | np.random.Generator | None = None) -> None:
        self.values = list(values)
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return one of the values, drawn uniformly."""
        return self.values[int(self.np_random.integers(len(self.values)))]

    def contains(self, x: Any) -> bool:
        """Return whether `x` is one of the values."""
        return any(type(value) is type(plain) and value == plain for plain in [_plain(x)] for value in self.values)

    @property
    def is_np_flattenable(self) -> bool:
        """False: the values are not numbers."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Among) and other.values == self.values

    def __repr__(self) -> str:
        return f"Among({self.values})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 else value


def text_space() -> spaces.Text:
    """Return the space of what is said."""
    return spaces.Text(MESSAGE_LENGTH, min_length=0, charset=frozenset(map(chr, range(32, 127))))
