"""The platforms' games that our games can play, and the translation of their states and answers.

In `ultimatum` an offer has shares for all n agents, and all others must accept it. The game `ultimatum` plays it as it
is, with up to 4 agents. A policy for bargaining sees it as bargaining with one other agent over 2/n of the pie, with
the same reservation value. An offer gives the agent the share that it demands and the others equal parts of the rest.
With two agents this is bargaining itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ....envs.core.game import Game
from ....envs.core.turn_state import (
    Action,
    AgentResponse,
    MessageIntent,
    MessageScope,
    TurnState,
    amount,
    moves_in,
    named_order,
    round_of,
)

OTHERS = "others"
"""The name of all others together in an `ultimatum` of more than two agents."""


def _to_all(response: AgentResponse, state: TurnState) -> AgentResponse:
    """Return an answer whose numbers by agent, if there are any, are those of all agents of the match.

    Raises:
        ValueError: if they are not; the policy then knows another number of agents.
    """
    order = named_order(state)
    for name, shares in response.action.payload.items():
        if order and isinstance(shares, Mapping) and set(shares) != set(order):
            raise ValueError(f"{name} of {', '.join(shares)}, but the agents are {', '.join(order)}: see --seats")
    return response


@dataclass(frozen=True)
class PlatformGame:
    """A platform's game."""

    name: str
    seen: Callable[[TurnState], TurnState]
    options: Mapping[str, Any] = field(default_factory=dict)
    played: Callable[[AgentResponse, TurnState], AgentResponse] | None = None
    hosted: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, game: Game, hosted: bool = False) -> bool:
        """Return True if a policy for `game` can play this; or, `hosted`, if it has its payloads and terms too."""
        options = {**self.options, **(self.hosted if hosted else {})}
        same = all(game.options.get(key) == value for key, value in options.items())
        return game.name == self.name and same and not (hosted and self.played is not None)


def _with(state: TurnState, game_state: Mapping[str, Any]) -> TurnState:
    return msgspec.structs.replace(state, game_state={**state.game_state, **game_state})


def _moves(state: TurnState, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of the history that are moves, with rounds from 1."""
    rows = [dict(row) for row in moves_in(state.game_state.get("action_history"), kinds, state.phase)]
    from_0 = any(round_of(row) == 0 for row in rows)
    return [{**row, "round": round_of(row) + 1} for row in rows] if from_0 else rows


# unfair-split and the auctions: fields and rows that are missing, and rows that are no moves.


def _auction(state: TurnState) -> TurnState:
    game, history = state.game_state, _moves(state, ("submit_bid", "pass"))
    others = game.get("opponents_with_bid")
    if not isinstance(others, list):  # the two-bidder form has no names
        names = [row["agent_id"] for row in history if row["agent_id"] != state.agent_id]
        others = (names[:1] or ["opponent"]) if game.get("opponent_has_bid") else []
    filled = {
        "my_bid": None,
        "num_bidders": len(named_order(state)) or game.get("num_agents", 2),
        "num_bids_submitted": len(others) + (game.get("my_bid") is not None),
        **game,
        "opponents_with_bid": others,
        "action_history": history,
    }
    return _with(state, filled)


# ultimatum.


def _order(state: TurnState) -> list[str]:
    order = state.game_state.get("agent_ids")
    if not isinstance(order, list) or state.agent_id not in order or len(order) < 2:
        raise ValueError(f"agent_ids is {order!r:.80}: it should list the agents, {state.agent_id} among them")
    return order


def _negotiation(state: TurnState) -> TurnState:
    """Return an `ultimatum` as bargaining between the agent and one other."""
    game, me, order = state.game_state, state.agent_id, _order(state)
    other = next(agent for agent in order if agent != me) if len(order) == 2 else OTHERS
    total = amount(game.get("total"), "total") * 2 / len(order)

    def proposed(shares: Any, by: Any) -> float:
        """Return the proposer's part of `total`, from what the agent would get."""
        mine = amount(shares.get(me) if isinstance(shares, Mapping) else None, f"the share of {me}")
        return mine if by == me else max(total - mine, 0.0)

    offer, by = game.get("current_offer"), game.get("last_offer_by")
    seen = {
        **game,
        "total": total,
        "current_offer": None if offer is None else proposed(offer, by),
        "last_offer_by": by if by in (me, None) else other,
        "action_history": _two_sided(state, other, proposed),
        "agent_ids": [me, other] if order[0] == me else [other, me],
    }
    turn = state.current_turn_agent_id
    return msgspec.structs.replace(state, game_state=seen, current_turn_agent_id=turn if turn in (me, None) else other)


def _two_sided(state: TurnState, other: str, proposed: Callable[[Any, Any], float]) -> list[dict[str, Any]]:
    """Return the history with one row for all others between two rows of the agent: their last offer, else the last."""
    me = state.agent_id
    rows: list[dict[str, Any]] = []
    for row in _moves(state, ("submit_offer", "accept", "reject")):
        by = row["agent_id"]
        move = {**row, "agent_id": me if by == me else other}
        if row["action"] == "submit_offer":
            move["my_share"] = proposed(move.pop("shares", None), by)
        if by != me and rows and rows[-1]["agent_id"] == other:
            if move["action"] == "submit_offer" or rows[-1]["action"] != "submit_offer":
                rows[-1] = move
        else:
            rows.append(move)
    return rows


def _shares(response: AgentResponse, state: TurnState) -> AgentResponse:
    """Return a demand as shares of all agents, which sum to the total: the others get equal parts of the rest."""
    if response.action.action_type != "submit_offer" or "my_share" not in response.action.payload:
        return response
    order, total = _order(state), amount(state.game_state.get("total"), "total")
    mine = amount(response.action.payload["my_share"], "my_share")
    part = (total - mine) / (len(order) - 1)
    shares = {agent: mine if agent == state.agent_id else part for agent in order}
    return AgentResponse(Action("submit_offer", {"shares": shares}), response.messages)


# werewolf.


def _aloud(response: AgentResponse, state: TurnState) -> AgentResponse:
    """Return an answer whose words are a message, as the platform does not send those of the payload.

    Where the platform only asks to acknowledge the night, which our game passes over, the agent does.
    """
    if any(offer.action_type == "acknowledge" for offer in state.allowed_actions):
        return AgentResponse(Action("acknowledge"))
    text = response.action.payload.get("content", "") if response.action.action_type == "send_public_message" else ""
    said = [MessageIntent(MessageScope.PUBLIC, text)] if text.strip() else []
    return AgentResponse(response.action, [*response.messages, *said])


SPLITS = ("submit_offer", "accept", "reject", "pass")
_SIMPLE_AUCTION = {"reserve": 0.0, "entry_fee": 0.0, "units": 1, "values": "private"}

PLATFORM_GAMES = {
    "unfair-split": PlatformGame("bargaining", lambda state: _with(state, {"action_history": _moves(state, SPLITS)})),
    "ultimatum": PlatformGame("bargaining", _negotiation, played=_shares),
    "first-price-auction": PlatformGame("auction", _auction, {"rule": "first-price"}, hosted=_SIMPLE_AUCTION),
    "all-pay-auction": PlatformGame("auction", _auction, {"rule": "all-pay"}, hosted=_SIMPLE_AUCTION),
}
"""By the platforms' ids. A game with a `Game.platform_id` takes the platform's states as they are, and is not listed.
In the chat phase of `all-pay-auction` no bid is offered, so our bidder passes."""


PLAYED = {"werewolf": _aloud}
"""How answers are sent in a game with a `Game.platform_id`, if not as they are."""


def platform_game(game_id: str, game: Game) -> PlatformGame | None:
    """Return the platform's game that a policy for `game` plays under this id; None: there is none."""
    if game_id == game.platform_id:
        return PlatformGame(game.name, lambda seen: seen, played=PLAYED.get(game_id, _to_all))
    platform = PLATFORM_GAMES.get(game_id)
    return platform if platform is not None and platform.fits(game) else None


def supported_games(game: Game) -> list[str]:
    """Return the platforms' ids of the games that a policy for `game` can play; our own id if there is none."""
    if game.platform_id is not None:
        return [game.platform_id]
    return [name for name, platform in PLATFORM_GAMES.items() if platform.fits(game)] or [game.id]


def hosted_games(game: Game) -> list[str]:
    """Return the platforms' ids under which we can host `game`: those with its payloads and terms; else our own id."""
    own = (game.id, game.platform_id)
    names = [name for name in supported_games(game) if name in own or PLATFORM_GAMES[name].fits(game, hosted=True)]
    return names or [game.id]
