"""What stands between games and players: learners' tables, policies, agents, logs, text games, live bridges.

The names below are the public ones; each is loaded at its first use. Adapters to other frameworks are modules of their
own (`parlour.wrappers.jax`, `rllib`, `torchrl`, `openspiel`, …), and protocols are in `parlour.wrappers.live`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents.base import Agent as Agent
    from .agents.base import sentence as sentence
    from .agents.language_model import LLMAgent as LLMAgent
    from .agents.language_model import Model as Model
    from .agents.policy import PolicyAgent as PolicyAgent
    from .agents.prompt import Prompting as Prompting
    from .live.arena.agent import ArenaAgent as ArenaAgent
    from .live.arena.host import ArenaHost as ArenaHost
    from .live.common.server import ServerSettings as ServerSettings
    from .live.poker import agent as _poker
    from .live.poker.agent import ClientSettings as ClientSettings
    from .live.poker.agent import Monitoring as Monitoring
    from .live.poker.agent import PlayLength as PlayLength
    from .live.poker.agent import SeatRequest as SeatRequest
    from .live.poker.host import PokerHost as PokerHost
    from .live.poker.host import PokerRoom as PokerRoom
    from .live.poker.host import PokerRules as PokerRules
    from .live.poker.host import PokerTimes as PokerTimes
    from .logs import match_log as _logs
    from .logs.match_log import MatchLog as MatchLog
    from .policies.loading import load_policy as load_policy
    from .policies.loading import load_run as load_run
    from .policies.loading import make_policy as make_policy
    from .policies.mlp import MlpPolicy as MlpPolicy
    from .rl.gymnasium_env import TablesVectorEnv as TablesVectorEnv
    from .rl.sb3 import sb3_env as sb3_env
    from .rl.tables import Pool as Pool
    from .text import TextGame as TextGame
    from .text import play_text as play_text

    play_poker, read_log = _poker.play, _logs.read

_NAMES = {
    "agents.base": "Agent sentence",
    "agents.language_model": "LLMAgent Model",
    "agents.policy": "PolicyAgent",
    "agents.prompt": "Prompting",
    "live.arena.agent": "ArenaAgent",
    "live.arena.host": "ArenaHost",
    "live.common.server": "ServerSettings",
    "live.poker.agent": "ClientSettings Monitoring PlayLength SeatRequest play_poker",
    "live.poker.host": "PokerHost PokerRoom PokerRules PokerTimes",
    "logs.match_log": "MatchLog read_log",
    "policies.loading": "load_policy load_run make_policy",
    "policies.mlp": "MlpPolicy",
    "rl.gymnasium_env": "TablesVectorEnv",
    "rl.sb3": "sb3_env",
    "rl.tables": "Pool",
    "text": "TextGame play_text",
}
"""The public names of each module."""
_SOURCES = {name: module for module, names in _NAMES.items() for name in names.split()}
_OWN = {"play_poker": "play", "read_log": "read"}
"""The names that are others in their modules."""

__all__ = [*_SOURCES]

if not TYPE_CHECKING:  # a type checker knows the names above, and reports others

    def __getattr__(name: str) -> Any:
        """Load a public name."""
        if name not in _SOURCES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_SOURCES[name]}", __name__), _OWN.get(name, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
