"""Immutable: the base of classes whose objects never change after they are made."""

from typing import Any, Self


class Immutable:
    """Its deep copy is the object itself, so that copies of an environment share it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
