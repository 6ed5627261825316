"""Parlour's environments.

A game is made by name (``parlour.envs.make("holdem", seats=2)``), from its version module
(``parlour.envs.holdem_v0.env(seats=2)``), by PettingZoo (``pettingzoo.make("aec", "parlour/holdem-v0")``) or by
Gymnasium, as a single-agent environment (``gymnasium.make("parlour/Holdem-v0")``,
``gymnasium.make_vec(…)``). Importing this package registers the games; a game's code is loaded at its first use.
"""

from .core.aec import GameEnv
from .core.capabilities import Capabilities, Chance, HiddenTurn, OutsideOption, PublicView, Setup, Talk, Teams
from .core.compiled import compiled
from .core.encoder import Element, Encoder, Layout, Slice
from .core.game import Game, Payoffs
from .core.how_to_play import how_to_play
from .core.match import Match
from .core.options import Options, from_options, schema_of, within
from .core.record import new_table, record, with_required_fields
from .core.registry import GAMES, find, game, make, register, register_installed, register_platform_id
from .core.rng import draw, streams
from .core.rollout import Policy, play_until_done
from .core.rules import Rules
from .core.turn_state import (
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    Message,
    MessageIntent,
    MessageScope,
    TurnState,
)
from .core.vector import VectorGame
from .core.view import ActionGrid, ActionRange, View, default_view
from .render.renderer import Renderer
from .render.svg import chart

__all__ = [
    "GAMES",
    "Action",
    "ActionGrid",
    "ActionRange",
    "ActionResult",
    "AgentResponse",
    "AllowedAction",
    "Capabilities",
    "Chance",
    "Element",
    "Encoder",
    "Game",
    "GameEnv",
    "GameState",
    "HiddenTurn",
    "Layout",
    "Match",
    "Message",
    "MessageIntent",
    "MessageScope",
    "Options",
    "OutsideOption",
    "Payoffs",
    "Policy",
    "PublicView",
    "Renderer",
    "Rules",
    "Setup",
    "Slice",
    "Talk",
    "Teams",
    "TurnState",
    "VectorGame",
    "View",
    "chart",
    "compiled",
    "default_view",
    "draw",
    "find",
    "from_options",
    "game",
    "how_to_play",
    "make",
    "new_table",
    "play_until_done",
    "record",
    "register",
    "register_platform_id",
    "schema_of",
    "streams",
    "with_required_fields",
    "within",
]

holdem_v0 = register("holdem-v0", words=("poker", "texas", "texas_holdem", "hold_em", "no_limit_holdem", "nlhe"))
auction_v0 = register("auction-v0", words=("sealed_bid", "vickrey"))
bargaining_v0 = register("bargaining-v0", words=("negotiation", "split", "rubinstein"))
mafia_v0 = register("mafia-v0", words=("werewolf", "werewolves"))
tangram_v0 = register("tangram-v0")
kuhn_v0 = register("kuhn-v0", "small.kuhn")
leduc_v0 = register("leduc-v0", "small.leduc")
liars_dice_v0 = register("liars_dice-v0", "small.liars_dice")
cournot_v0 = register("cournot-v0", "economics.cournot")
trust_v0 = register("trust-v0", "economics.trust")
public_project_v0 = register("public_project-v0", "economics.public_project")
voluntary_contribution_v0 = register("voluntary_contribution-v0", "economics.voluntary_contribution")
provision_point_v0 = register("provision_point-v0", "economics.provision_point")
war_of_attrition_v0 = register("war_of_attrition-v0", "economics.war_of_attrition")
dictator_v0 = register("dictator-v0", "economics.dictator")
sequential_investment_v0 = register("sequential_investment-v0", "economics.sequential_investment")
insurance_moral_hazard_v0 = register("insurance_moral_hazard-v0", "economics.insurance_moral_hazard")
hold_up_v0 = register("hold_up-v0", "economics.hold_up")
ultimatum_v0 = register("ultimatum-v0", "economics.ultimatum")
multi_issue_bargaining_v0 = register("multi_issue_bargaining-v0")
centipede_v0 = register("centipede-v0", "economics.centipede")
dutch_auction_v0 = register("dutch_auction-v0", "economics.dutch_auction")
english_auction_v0 = register("english_auction-v0", "economics.english_auction")
bilateral_trade_v0 = register("bilateral_trade-v0", "economics.bilateral_trade")
principal_agent_v0 = register("principal_agent-v0", "economics.principal_agent")
common_agency_v0 = register("common_agency-v0", "economics.common_agency")
werewolf_v0 = register("werewolf-v0")

register_platform_id("unfair-split", "bargaining")
register_platform_id("first-price-auction", "auction", rule="first-price")
register_platform_id("all-pay-auction", "auction", rule="all-pay")

register_installed()
