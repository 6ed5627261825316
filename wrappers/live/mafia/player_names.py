"""Legal ids and names of the players of a match."""

from collections.abc import Sequence

from ....envs.core.counted import counted
from ....envs.core.game import Game

NAME_LENGTH = 64
"""Most characters of an id or name."""


def check_players(game: Game, ids: Sequence[str], names: Sequence[str]) -> None:
    """Check the players' ids and names, seat by seat.

    Raises:
        ValueError: if their number is not that of the seats, or they are not all different and printable.
    """
    if len(ids) != game.seats:
        raise ValueError(f"{counted(len(ids), 'agents')} for a game of {game.seats}")
    for kind, values in (("id", ids), ("name", names)):
        for value in values:
            if not isinstance(value, str) or not 1 <= len(value) <= NAME_LENGTH or not value.isprintable():
                raise ValueError(f"{kind} {value!r}: give 1 to {NAME_LENGTH} printable characters")
        if len(set(values)) != len(values):
            raise ValueError(f"{kind}s {', '.join(values)}: no two agents may have the same")
    for name, agent_id in zip(names, ids, strict=True):
        if name in ids and name != agent_id:
            raise ValueError(f"{agent_id} cannot be called {name!r}, which is another agent's id")
