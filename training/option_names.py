"""Names of options: what an unknown one may mean."""

from collections.abc import Iterable

from ..envs.core.options import nearest

COUNTS = ("matches", "deals", "hands", "games", "episodes")
"""Words for how much is played. A match is a hand or an episode; a deal is played once in every seat."""
OF_VERSION_0_2 = {"name": "run", "evaluate-every": "evaluate-against"}
"""Options of version 0.2, and what does their work now."""


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return the option that an unknown one may mean: one that begins with it, another count, or the most similar.

    >>> meant("minute", ["mute", "minutes"]), meant("hands", ["seats", "matches"]), meant("name", ["seed", "run"])
    ('minutes', 'matches', 'run')
    >>> meant("x", ["minutes"])

    Args:
        name: the option, without dashes at its beginning.
        known: the options that there are.
    """
    names = list(known)
    likely = [one for one in names if one.startswith(name)]
    if name in COUNTS:
        likely += [one for one in COUNTS if one in names]
    likely += [one for one in names if one == OF_VERSION_0_2.get(name)]
    return likely[0] if likely else nearest(name, names)
