"""Everything on the board: what a player sees (version 0), for nothing of it is hidden."""

from dataclasses import replace
from typing import Any

from ...core.encoder import Encoder
from . import v0


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    return replace(v0.encoder(table), full_information=True)
