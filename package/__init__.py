"""Parlour: multi-agent reinforcement learning environments for parlour games, with training and live play.

`parlour.envs` has the games, `parlour.wrappers` what plays them elsewhere, `parlour.training` training and evaluation,
`parlour.zoo` trained policies. Each is imported by itself, so that nobody waits for what they do not need.
"""

from importlib.metadata import version

__version__ = version("parlour")
