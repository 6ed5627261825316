"""What stands between games and players: learners' tables, policies, agents, logs, text games, live bridges.

The names below are the public ones; each is loaded at its first use. Adapters to other frameworks are modules of their
own (`parlour.wrappers.jax`, `rllib`, `torchrl`, `openspiel`, …), and protocols are in `parlour.wrappers.live`.
"""

from typing import TYPE_CHECKING

from .lazy import lazy

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
    from .live.poker.agent import ClientSettings as ClientSettings
    from .live.poker.agent import Monitoring as Monitoring
    from .live.poker.agent import PlayLength as PlayLength
    from .live.poker.agent import SeatRequest as SeatRequest
    from .live.poker.agent import play as _play
    from .live.poker.host import PokerHost as PokerHost
    from .live.poker.host import PokerRoom as PokerRoom
    from .live.poker.host import PokerRules as PokerRules
    from .live.poker.host import PokerTimes as PokerTimes
    from .logs.match_log import MatchLog as MatchLog
    from .logs.match_log import read as _read
    from .policies.loading import load_policy as load_policy
    from .policies.loading import load_run as load_run
    from .policies.loading import make_policy as make_policy
    from .policies.mlp import MlpPolicy as MlpPolicy
    from .rl.gymnasium_env import TablesVectorEnv as TablesVectorEnv
    from .rl.sb3 import sb3_env as sb3_env
    from .rl.tables import Pool as Pool
    from .text import TextGame as TextGame
    from .text import play_text as play_text

    play_poker = _play
    read_log = _read
else:
    __getattr__, __dir__, __all__ = lazy(__name__, __file__)
