"""Soak tests: hosts and agents in processes of their own, for hours, with faults between them.

`faults` draws the faults, `proxy` applies them between the two ends, `processes` starts, kills and measures the ends,
`claims` collects what was measured and what was broken, and `soak` runs it all. A protocol adds the two ends and a
`Watch`, which knows the frames that open and close a turn.
"""

from importlib import import_module
from typing import Any

PROTOCOLS = {
    "poker": ("PokerSoak", "PokerSoakSettings"),
}
"""The protocols: the name of the module, and in it the class of the two ends and that of its settings."""


def protocol_of(name: str) -> tuple[Any, Any]:
    """Return the classes of a protocol. Only its module is loaded."""
    module = import_module(f".{name}", __name__)
    ends, settings = PROTOCOLS[name]
    return getattr(module, ends), getattr(module, settings)
