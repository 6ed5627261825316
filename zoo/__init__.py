"""Trained policies to take away: for a game the weights of one policy, and a card that says how good it is.

``zoo:holdem`` names a policy wherever a run or a policy file can stand: ``parlour play holdem --agents zoo:holdem``,
``make_policy("zoo:holdem", game)``. The weights are ``.npz`` files, which are played by NumPy alone. `parlour list
zoo:holdem` shows a card, and in a checkout ``.ci/zoo.py --take RUN`` replaces the policy of a game by that of a run.

A game may have further policies for other numbers of seats, its variants, such as ``ultimatum-3``. They play as
``zoo:ultimatum`` at tables at which that policy cannot play. A further policy with another name, such as
``holdem-blueprint``, plays only where it is named.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

PREFIX = "zoo:"
"""With it begins the name of a policy of the zoo."""
LARGEST = 5 * 2**20
"""Bytes that the weights of a policy may have."""
FOLDER = Path(__file__).parent
"""Where the weights and the cards are."""


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured figure, with its 95 % interval.

    Attributes:
        name: the opponent that wins so much from the policy; or what was measured on held-out tasks.
        kind: of the opponent, such as ``"bot"``, ``"local"``, ``"learned"`` or ``"exact"``; or ``"held out"``.
        mean: the figure.
        low: lower end of the interval.
        high: upper end.
        unit: the unit of the figure.
        team: the policy's team that loses it; empty: the game has no teams.
    """

    name: str
    kind: str
    mean: float
    low: float
    high: float
    unit: str
    team: str = ""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a policy.

    Attributes:
        game: the game's id, such as ``"holdem-v0"``.
        encoder: the version of the encoder of its observations.
        command: the command that made it.
        seed: the seed of the training.
        budget: what the training cost.
        licence: the licence of the weights.
        measured_by: the command that measured it. A small budget there finds weak opponents only.
        measures: the figures, the worst opponent first.
        seats: the numbers of seats at which it plays without its variants; empty: those of its training.
        search: whether it searches at tables, where nothing else is asked for.
    """

    game: str
    encoder: str
    command: str
    seed: int
    budget: str
    licence: str
    measured_by: str
    measures: list[Measure]
    seats: list[int] = []
    search: bool = False


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of all policies in a folder: those of their games, ``GAME-SEATS`` or ``GAME-WORD``."""
    return sorted(file.stem for file in folder.glob("*.npz"))


def variants(name: str, folder: Path = FOLDER) -> list[str]:
    """Return the name of a policy, and those of its variants for other numbers of seats, in the order of these."""
    counts = (other.removeprefix(f"{name}-") for other in names(folder))
    return [name, *(f"{name}-{count}" for count in sorted(filter(str.isdecimal, counts), key=int))]


def weights(name: str, folder: Path = FOLDER, *, seats: int | None = None) -> Path:
    """Return the file of a policy, by its name with or without ``zoo:``.

    Args:
        name: the name.
        folder: the folder of the zoo.
        seats: the number of seats of the table: the file is that of the variant for this number, else of the first
            variant whose card names it. None: the policy of this very name.

    Raises:
        ValueError: if there is none, with the most similar name.
    """
    known = _known(name, folder)
    if seats is not None and len(all_seats := variants(known, folder)) > 1:
        exact = f"{known}-{seats}"
        able = (one for one in all_seats if seats in card(one, folder).seats)
        known = exact if exact in all_seats else next(able, known)
    return folder / f"{known}.npz"


def seats_of(name: str, folder: Path = FOLDER) -> list[int]:
    """Return the numbers of seats at which a policy or one of its variants plays."""
    return sorted({seats for one in variants(name, folder) for seats in card(one, folder).seats})


def card(name: str, folder: Path = FOLDER) -> Card:
    """Return the card of a policy, by its name with or without ``zoo:``.

    Raises:
        ValueError: if there is none, with the most similar name.
    """
    from ..envs.core.files import read_text  # loads the games

    return msgspec.toml.decode(read_text(folder / f"{_known(name, folder)}.toml"), type=Card)


def span(counts: Sequence[int]) -> str:
    """Return whole numbers in a row as text.

    >>> span([2]), span([5, 6, 7, 10])
    ('2', '5 to 7, 10')
    """
    ends = [one for one in counts if one + 1 not in counts]
    starts = [one for one in counts if one - 1 not in counts]
    return ", ".join(f"{one}" if one == last else f"{one} to {last}" for one, last in zip(starts, ends, strict=True))


def _known(name: str, folder: Path) -> str:
    short, known = str(name).removeprefix(PREFIX), names(folder)
    if short not in known:
        near = get_close_matches(short, known, 1, 0.5)
        hint = f"did you mean {PREFIX}{near[0]}?" if near else f"choose from {', '.join(PREFIX + one for one in known)}"
        raise ValueError(f"the zoo has no policy {short!r}; {hint}")
    return short
