"""Four more games of the platform, with the bounds that its states have and its schemas have not.

The least raise is in ``min_next_bid``, the longest time in ``max_time``, and the highest price in ``max_budget``, which
only the buyer is told. Schemas say no more than ``minimum: 0``. Who has folded may still get a turn, without actions.
"""

from live.arena_platform import AllowedAction, Message, TurnState

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
        seen = {"agent_ids": list(self.agent_ids), "action_history": [dict(row) for row in self.history]}
        return TurnState(
            match_id=self.match_id, game_id=self.game_id, agent_id=agent_id, phase=self.phase, is_my_turn=mine,
            current_turn_agent_id=self.acting, game_state=seen | self.seen(agent_id), messages=self.messages,
            allowed_actions=offers, game_over=self.outcome is not None, outcome=self.outcome,
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


class WarOfAttrition(GameMatch):
    game_id, phase, told = "war-of-attrition", "choose_time", ("t",)

    def __init__(self, agent_ids, most, number=0):
        super().__init__(agent_ids, number)
        self.most, self.times = most, {}

    def offered(self, agent_id):
        return {**({} if agent_id in self.times else {"submit_time": {"t": NUMBER}}), "pass": {}, "message_only": {}}

    def seen(self, agent_id):
        return {"prize": 10.0, "cost_rate": 1.0, "max_time": self.most, "submitted_agents": list(self.times),
                "my_time": self.times.get(agent_id)}  # fmt: skip

    def play(self, agent_id, kind, payload):
        if kind == "submit_time":
            if not isinstance(payload.get("t"), int | float) or not 0 <= payload["t"] <= self.most:
                return "invalid_payload"
            self.times[agent_id] = payload["t"]
            if len(self.times) == 2:
                least, winner = min(self.times.values()), max(self.times, key=self.times.get)
                self._end([10.0 * (one == winner) - least for one in self.agent_ids], "attrition_resolved")
        return None


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
