"""A tangram that several players build together (protocol: tangram.md and its notes)."""

from .game import game

__all__ = ["game"]
