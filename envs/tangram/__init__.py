"""A tangram that several players build together.

The protocol is that of TangramCollaborativeAI (https://github.com/GAIPS/TangramCollaborativeAI).
"""

from .game import game

__all__ = ["game"]
