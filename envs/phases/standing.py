"""Fields of `game_state` of an open phase: the standing number, its owner, and who has left (see `fields.Field`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.loading import amount
from .fields import Field, name_of


@dataclass(frozen=True)
class Standing(Field):
    """The standing number; `owned`: None if it is nobody's."""

    owned: bool = False

    def write(self, table: Any, seat: int) -> float | None:
        """Return the number."""
        return None if self.owned and table.owner < 0 else float(table.standing)

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the number."""
        if value is not None:
            table.standing = amount(value, self.name)


class StandingBy(Field):
    """The agent whose number stands, or None. It comes after the field of the number."""

    def write(self, table: Any, seat: int) -> str | None:
        """Return the agent."""
        return name_of(int(table.owner)) if table.owner >= 0 else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the owner, and the number as its choice."""
        if isinstance(value, str) and value in seats:
            own(table, seats[value])


def own(table: Any, seat: int) -> None:
    """Write that the standing number is a seat's."""
    phase = int(table.phases) - 1
    kinds = [kind for kind in range(int(table.kinds)) if (int(table.offers[phase]) >> kind) & 1 and table.gap[kind] > 0]
    table.owner = seat
    table.chosen[phase, seat] = 1 + kinds[0]
    table.number[phase, seat] = table.standing


class WhoLeft(Field):
    """The agents that have left the phase."""

    def write(self, table: Any, seat: int) -> list[str]:
        """Return their names."""
        return [name_of(other) for other in range(int(table.seats)) if not (int(table.within) >> other) & 1]

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that they have left."""
        for agent in value if isinstance(value, list) else ():
            if isinstance(agent, str) and agent in seats:
                table.within &= ~(1 << seats[agent])
