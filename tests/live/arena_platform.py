"""A test double of the platforms: their games and their runner with their quirks, written from what was seen there.

``original`` is agent-colosseum: the turn stays where an action failed. Else it is Strategic Agent Games: a failed game
action costs the turn, and after a failed ``pass`` the same agent is asked again, without end; others are asked to reply
to ``message_only``, the runner adds rounds of its own to ``game_state``, and after ten turns without a real action it
offers neither ``pass`` nor ``message_only``.

More games have bounds in their states that their schemas have not: the least raise is in ``min_next_bid``, and the
highest price in ``max_budget``, which only the buyer is told. Who has folded may still get a turn, without actions.
"""

from enum import Enum
from typing import Any

from pydantic import BaseModel


class Scope(str, Enum):  # noqa: UP042 (as the platforms write it)
    PUBLIC = "public"
    PRIVATE = "private"


class Message(BaseModel):
    message_id: str
    sender_id: str
    scope: Scope
    content: str
    to_agent_ids: list[str] = []
    timestamp_ns: int | None = None


class Action(BaseModel):
    action_type: str
    payload: dict[str, Any] = {}


class AllowedAction(BaseModel):
    action_type: str
    description: str = ""
    payload_schema: dict[str, Any] = {}


class MessageIntent(BaseModel):
    scope: Scope
    content: str
    to_agent_ids: list[str] = []


class AgentResponse(BaseModel):
    messages: list[MessageIntent] = []
    action: Action


class TurnState(BaseModel):
    match_id: str
    game_id: str
    agent_id: str
    phase: str
    is_my_turn: bool
    current_turn_agent_id: str | None = None
    game_state: dict[str, Any] = {}
    messages: list[Message] = []
    allowed_actions: list[AllowedAction] = []
    game_over: bool = False
    outcome: dict[str, Any] | None = None


NUMBER = {"type": "number", "minimum": 0}


class GameMatch:
    """One match: what the games share. A refused action changes nothing; the runner gives the turn on."""

    original, phase = False, ""

    def __init__(self, agent_ids, number=0):
        self.agent_ids, self.match_id = list(agent_ids), f"{self.game_id}-{number}"
        self.turn, self.outcome, self.history, self.messages = 0, None, [], []

    @property
    def acting(self):
        return self.agent_ids[self.turn]

    def state(self, agent_id):
        mine = agent_id == self.acting and self.outcome is None
        offers = [AllowedAction(action_type=k, payload_schema=v) for k, v in self.offered(agent_id).items() if mine]
        told = [m for m in self.messages if m.scope == "public" or agent_id in (m.sender_id, *m.to_agent_ids)]
        seen = {} if self.original else {"agent_ids": list(self.agent_ids)}
        seen |= {"action_history": [dict(row) for row in self.history], **self.seen(agent_id)}
        return TurnState(
            match_id=self.match_id, game_id=self.game_id, agent_id=agent_id, phase=self.phase, is_my_turn=mine,
            current_turn_agent_id=self.acting, game_state=seen, messages=told, allowed_actions=offers,
            game_over=self.outcome is not None, outcome=self.outcome,
        )  # fmt: skip

    def say(self, sender, intent):
        self.messages.append(Message(message_id=f"{len(self.messages)}", sender_id=sender, scope=intent.scope,
                                     content=intent.content, to_agent_ids=intent.to_agent_ids))  # fmt: skip

    def apply(self, agent_id, action):
        """Carry out an action; return what is wrong with it, or None."""
        if agent_id != self.acting:
            return "not_your_turn"
        if action.action_type not in {**self.offered(agent_id), "pass": {}, "message_only": {}}:
            return "invalid_action_type"
        problem = self.play(agent_id, action.action_type, action.payload)
        if problem is None:
            told = {name: value for name, value in action.payload.items() if name in self.told}
            self.history.append({"agent_id": agent_id, "action": action.action_type, **told, "phase": self.phase})
            if action.action_type != "message_only" and self.outcome is None:
                self.next()
        return problem

    def next(self):
        self.turn = (self.turn + 1) % len(self.agent_ids)

    def _end(self, utilities, reason, **more):
        payoffs = [{"agent_id": a, "utility": round(u, 2)} for a, u in zip(self.agent_ids, utilities, strict=True)]
        self.outcome = {"payoffs": payoffs, "reason": reason, **more}


SCHEMAS = {
    "unfair-split": {"submit_offer": {"my_share": {"type": "number"}}, "accept": {}, "reject": {}},
    "ultimatum": {"submit_offer": {"shares": {"type": "object"}}, "accept": {}, "reject": {}},
    "first-price-auction": {"submit_bid": {"bid": {"type": "number"}}},
    "all-pay-auction": {"submit_bid": {"bid": {"type": "number", "minimum": 0}}},
}
LOGS_PASS = {"all-pay-auction"}
CHAT_ROUNDS = 4


class PlatformMatch(GameMatch):
    """One match.

    Args:
        game_id: the platform's id.
        agent_ids: in their order.
        values: each agent's reservation value or valuation.
        original: which platform.
        total: the pie.
    """

    def __init__(self, game_id, agent_ids, values, *, original=False, total=100, number=0):
        self.game_id, self.values = game_id, dict(zip(agent_ids, values, strict=False))
        super().__init__(agent_ids, number)
        self.original, self.total = original, total
        self.phase = "chat" if game_id == "all-pay-auction" else "auction" if "auction" in game_id else "negotiation"
        self.round = self.chats = 0
        self.offer = self.offer_by = None
        self.accepted, self.bids = set(), {}

    def state(self, agent_id):
        if self.outcome is None:
            return super().state(agent_id)
        return TurnState(match_id=self.match_id, game_id=self.game_id, agent_id=agent_id, phase="waiting_for_players",
                         is_my_turn=False, current_turn_agent_id=self.agent_ids[0], game_over=True,
                         outcome=self.outcome)  # fmt: skip

    def offered(self, agent_id):
        types = {**SCHEMAS[self.game_id], "pass": {}, "message_only": {}}
        if agent_id == self.offer_by:
            del types["accept"]  # though it is offered where there is nothing to accept
        if agent_id in self.bids or self.phase == "chat":
            del types["submit_bid"]
        return types

    def seen(self, agent_id):
        seen = {} if self.original else {"num_agents": len(self.agent_ids)}
        if "auction" in self.game_id:
            others = [one for one in self.agent_ids if one != agent_id and one in self.bids]
            seen |= {"my_valuation": self.values[agent_id], "my_bid": self.bids.get(agent_id)}
            if self.original:
                return seen | {"opponent_has_bid": bool(others)}
            seen |= {"opponents_with_bid": others, "num_bids_submitted": len(self.bids)}
            if self.game_id == "all-pay-auction":
                return seen | {"current_phase": self.phase, "rule_reminder": "everyone pays"}
            return seen | {"num_bidders": len(self.agent_ids)}
        seen |= {"total": self.total, "current_offer": self.offer, "last_offer_by": self.offer_by}
        if agent_id in self.values:  # a third agent has none where two are configured
            seen["my_reservation_value"] = self.values[agent_id]
        return seen if self.original else seen | {"acceptances": dict.fromkeys(self.accepted, True)}

    def apply(self, agent_id, action):
        """Carry out an action; return what is wrong with it, or None."""
        kind, payload = action.action_type, action.payload
        if agent_id != self.acting:
            return "not_your_turn"
        if kind not in {**SCHEMAS[self.game_id], "pass": {}, "message_only": {}}:
            return "invalid_action_type"
        if self.phase == "chat":
            return "game_rule_violation" if kind == "submit_bid" else self._chat(agent_id, kind)
        if kind == "message_only":
            self._log(agent_id, kind, advances_turn=False)
        elif kind == "pass":
            if self.game_id in LOGS_PASS:
                self._log(agent_id, kind, advances_turn=True)
            self._next(counts="auction" in self.game_id)
        elif kind == "submit_offer":
            return self._offer(agent_id, payload)
        elif kind == "submit_bid":
            return self._bid(agent_id, payload)
        elif kind == "reject":  # the offer stands
            self.accepted.clear()
            self._log(agent_id, kind)
            self._next()
        else:
            return self._accept(agent_id)
        return None

    def _log(self, agent_id, kind, **more):
        phase = {"phase": self.phase} if self.game_id == "all-pay-auction" else {}
        self.history.append({"agent_id": agent_id, "action": kind, **phase, "round": self.round, **more})

    def _next(self, counts=True):
        self.turn = (self.turn + 1) % len(self.agent_ids)
        if self.turn == 0 and counts:
            self.round += 1
            if self.round >= (6 if self.game_id == "all-pay-auction" else 10):
                self._end([0.0] * len(self.agent_ids), "max_rounds_exceeded")

    def _chat(self, agent_id, kind):
        self._log(agent_id, kind)
        self.chats += 1
        self.turn = (self.turn + 1) % len(self.agent_ids)
        if self.chats >= CHAT_ROUNDS * len(self.agent_ids):
            self.phase, self.round, self.turn = "auction", 0, 0

    def _offer(self, agent_id, payload):
        if self.game_id == "unfair-split":
            share = payload.get("my_share")
            if not isinstance(share, int | float) or not 0 <= share <= self.total:
                return "invalid_payload"
            self.offer = float(share)
            self._log(agent_id, "submit_offer", my_share=self.offer)
        else:
            shares = payload.get("shares")
            if not isinstance(shares, dict) or set(shares) != set(self.agent_ids) or min(shares.values()) < 0:
                return "invalid_payload"
            if abs(sum(shares.values()) - self.total) > 0.01:
                return "invalid_payload"
            self.offer = {agent: float(share) for agent, share in shares.items()}
            self._log(agent_id, "submit_offer", shares=self.offer)
        self.offer_by = agent_id
        self.accepted.clear()
        self._next()
        return None

    def _accept(self, agent_id):
        if self.offer is None or self.offer_by == agent_id:
            return "game_rule_violation"
        self._log(agent_id, "accept")
        self.accepted.add(agent_id)
        if len(self.accepted) < len(self.agent_ids) - 1:
            self._next()
            return None
        if self.game_id == "ultimatum":
            shares = [self.offer[agent] for agent in self.agent_ids]
        else:
            shares = [self.offer if agent == self.offer_by else self.total - self.offer for agent in self.agent_ids]
        won = [share - self.values.get(agent, 0) for agent, share in zip(self.agent_ids, shares, strict=True)]
        self._end(won, "agreement", split=shares)
        return None

    def _bid(self, agent_id, payload):
        bid = payload.get("bid")
        if not isinstance(bid, int | float) or bid < 0:
            return "invalid_payload"
        if agent_id in self.bids:
            return "game_rule_violation"
        self.bids[agent_id] = float(bid)
        self._log(agent_id, "submit_bid")
        if len(self.bids) < len(self.agent_ids):
            self._next()
            return None
        winner = max(self.agent_ids, key=lambda agent: self.bids[agent])
        lost = [-self.bids[a] if self.game_id == "all-pay-auction" else 0.0 for a in self.agent_ids]
        won = self.values[winner] - self.bids[winner]
        self._end([won if a == winner else lose for a, lose in zip(self.agent_ids, lost, strict=True)],
                  "auction_resolved", winner=winner)  # fmt: skip
        return None


class Runner:
    """Plays matches as the platforms do, and notes what no agent should do.

    Attributes:
        wrong: actions that failed, or were not offered, with the agent and why. Nobody is told.
        calls: turns of the latest match, with those that decided nothing.
        metadata: what the agents told about themselves.
    """

    def __init__(self, most_turns=20, most_pings=5, most_stale=10):
        self.most_turns, self.most_pings, self.most_stale = most_turns, most_pings, most_stale
        self.wrong, self.metadata, self.calls = [], {}, 0

    def play(self, match, agents):
        """Play a match to its end, and return its outcome."""
        table = {agent.agent_id: agent for agent in agents}
        if not match.original:
            self.metadata = {name: agent.get_metadata() for name, agent in table.items()}
        for agent in agents:
            agent.on_match_start(match.match_id, match.game_id, list(match.agent_ids))
        turns = stale = self.calls = 0
        while match.outcome is None and turns < self.most_turns and self.calls < 500:
            name, self.calls = match.acting, self.calls + 1
            state = match.state(name)
            real = [offer for offer in state.allowed_actions if offer.action_type not in ("pass", "message_only")]
            if not match.original:
                if stale >= self.most_stale and real:
                    state.allowed_actions = real
                state.game_state |= {"current_round": turns + 1, "max_rounds": self.most_turns}
            action, failed = self._turn(match, table[name], state)
            if failed and not match.original and action.action_type not in ("pass", "message_only"):
                match.turn = (match.turn + 1) % len(match.agent_ids)
            if action.action_type == "message_only" and not match.original:
                action = self._pings(match, table, name)
            if action.action_type in ("pass", "message_only"):
                stale += 1
            else:
                turns, stale = turns + 1, 0
        if match.outcome is None:
            match._end([0.0] * len(match.agent_ids), "max_turns_exceeded")
        for agent in agents:
            agent.on_match_end(match.match_id, match.outcome)
        return match.outcome

    def _turn(self, match, agent, state):
        response = agent.act(state)
        assert type(response) is AgentResponse
        for intent in response.messages[:10]:
            match.say(agent.agent_id, intent)
        action = response.action
        offered = [offer.action_type for offer in state.allowed_actions]
        if offered and action.action_type not in offered:
            self.wrong.append((agent.agent_id, action, "not offered"))
        failed = match.apply(agent.agent_id, action)
        if failed:
            self.wrong.append((agent.agent_id, action, failed))
        return action, failed

    def _pings(self, match, table, name):
        """Let the others reply, and ask the agent again, a few times."""
        action = Action(action_type="message_only")
        for _ in range(self.most_pings):
            if match.outcome is not None or action.action_type != "message_only":
                break
            for other in match.agent_ids:
                if other != name:
                    state = match.state(other)
                    state.allowed_actions = [AllowedAction(action_type="message_only")]
                    reply = table[other].act(state)  # whatever its action is, the platform takes it as message_only
                    for intent in reply.messages[:10]:
                        match.say(other, intent)
            if match.outcome is None and match.acting == name:
                action, _ = self._turn(match, table[name], match.state(name))
        return action


class EnglishAuction(GameMatch):
    game_id, phase, told, increment = "english-auction", "auction", ("amount",), 15.0

    def __init__(self, agent_ids, values, number=0):
        super().__init__(agent_ids, number)
        self.values, self.bid, self.bidder, self.folded = dict(zip(agent_ids, values, strict=True)), 0.0, None, []

    def offered(self, agent_id):
        return {} if agent_id in self.folded else {"raise_bid": {"amount": NUMBER}, "fold": {}, "message_only": {}}

    def seen(self, agent_id):
        return {"current_bid": self.bid, "highest_bidder": self.bidder, "folded": list(self.folded),
                "my_valuation": self.values[agent_id], "min_next_bid": self.bid + self.increment}  # fmt: skip

    def play(self, agent_id, kind, payload):
        if agent_id in self.folded:
            return "game_rule_violation"
        if kind == "raise_bid":
            if not isinstance(payload.get("amount"), int | float) or payload["amount"] < self.bid + self.increment:
                return "invalid_payload"
            self.bid, self.bidder = float(payload["amount"]), agent_id
        if kind == "fold":
            self.folded.append(agent_id)
            left = [one for one in self.agent_ids if one not in self.folded]
            if len(left) == 1:
                won = self.values[left[0]] - self.bid
                self._end([won if one == left[0] else 0.0 for one in self.agent_ids], "last_standing", winner=left[0])
        return None

    def next(self):
        super().next()
        while self.acting in self.folded:
            super().next()


class BilateralTrade(GameMatch):
    game_id, phase, told = "bilateral-trade", "negotiate", ("price",)

    def __init__(self, agent_ids, values, number=0):
        super().__init__(agent_ids, number)
        self.values, self.budget, self.proposal = values, values[0], None

    def offered(self, agent_id):
        return {"propose": {"price": {"type": "number", "min": 0}}, "accept_proposal": {}, "reject_and_exit": {},
                "pass": {}, "message_only": {}}  # fmt: skip

    def seen(self, agent_id):
        seat = self.agent_ids.index(agent_id)
        told = {"num_agents": 2, "buyer": self.agent_ids[0], "seller": self.agent_ids[1],
                "my_role": ("buyer", "seller")[seat], "proposal": self.proposal,
                "my_reservation_value": self.values[seat]}  # fmt: skip
        return told if seat else told | {"max_budget": self.budget}

    def play(self, agent_id, kind, payload):
        if kind == "propose":
            price = payload.get("price")
            if not isinstance(price, int | float) or not 0 <= price <= self.budget:
                return "game_rule_violation"
            self.proposal = {"price": float(price), "proposed_by": agent_id}
        elif kind == "accept_proposal":
            if self.proposal is None or self.proposal["proposed_by"] == agent_id:
                return "game_rule_violation"
            price = self.proposal["price"]
            self._end([self.values[0] - price, price - self.values[1]], "trade_completed")
        elif kind == "reject_and_exit":
            self._end([0.0, 0.0], "negotiation_failed")
        return None


class Dictator(GameMatch):
    """The recipient is only asked to talk, which moves nothing; a refused action of the allocator gives it the turn."""

    game_id, phase, told = "dictator", "allocate", ("allocator_share", "recipient_share")

    def __init__(self, agent_ids, pie=100.0, number=0):
        super().__init__(agent_ids, number)
        self.pie = pie

    def offered(self, agent_id):
        shares = {"allocate_split": {"allocator_share": NUMBER, "recipient_share": NUMBER}, "pass": {}}
        return {**(shares if agent_id == self.agent_ids[0] else {}), "message_only": {}}

    def seen(self, agent_id):
        return {"allocator": self.agent_ids[0], "recipient": self.agent_ids[1], "pie": self.pie, "allocation": None,
                "my_reservation_value": 0.0}  # fmt: skip

    def play(self, agent_id, kind, payload):
        if kind == "pass" and agent_id != self.agent_ids[0]:
            return "game_rule_violation"
        if kind == "allocate_split":
            shares = [payload.get(key) for key in self.told]
            if agent_id != self.agent_ids[0] or None in shares or abs(sum(shares) - self.pie) > 0.01:
                return "invalid_payload"
            self._end(shares, "dictator_allocated")
        return None
