"""A tangram that several players build together, as in TangramCollaborativeAI."""

from .game import game

__all__ = ["game"]
