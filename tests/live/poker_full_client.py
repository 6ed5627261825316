"""A client of the full-table form, written from the platform's public sources: it checks all that it reads."""

import json
import random

RANKS, SUITS = "23456789TJQKA", "shdc"


def is_card(one):
    return set(one) == {"rank", "suit"} and one["rank"] in RANKS and one["suit"] in SUITS


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def check_state(state, seat, table_id):
    """Assert that a state has the platform's fields, and no cards but the reader's own."""
    assert state["tableId"] == table_id
    assert is_count(state["handNumber"]) and is_count(state["seq"]) and is_count(state["minRaise"])
    assert state["phase"] in ("waiting", "preflop", "flop", "turn", "river", "showdown", "ended")
    assert all(is_card(one) for one in state["communityCards"])
    seats = [player["seatId"] for player in state["players"]]
    for pot in state["pots"]:
        assert pot["amount"] > 0 and set(pot["eligibleSeats"]) <= set(seats)
    for player in state["players"]:
        assert isinstance(player["agentId"], str) and is_count(player["stack"]) and is_count(player["bet"])
        assert all(isinstance(player[flag], bool) for flag in ("folded", "allIn", "isActive"))
        assert "agentName" in player
        if player["seatId"] == seat:
            assert len(player["holeCards"]) == 2 and all(is_card(one) for one in player["holeCards"])
        else:
            assert player["holeCards"] is None
    assert state["dealerSeat"] in range(10) and state["currentSeat"] in (None, *seats)
    ours = state["currentSeat"] == seat
    assert ("turn_token" in state) == ours == (state["legalActions"] is not None)
    if state["lastAction"] is not None:
        assert state["lastAction"]["kind"] in ("fold", "check", "call", "raiseTo")


class FullClient:
    """Plays at random in the full-table form.

    Attributes:
        hands: that ended. errors: codes of errors. reason: why the table ended; "" before.
    """

    def __init__(self, http, host, seed):
        self.http, self.host, self.rng = http, host, random.Random(seed)
        self.hands, self.errors, self.reason = 0, [], ""
        self.chips = None

    async def call(self, path, body, key=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        async with self.http.post(self.host.url + path, data=json.dumps(body), headers=headers) as answer:
            assert answer.ok, await answer.text()
            return await answer.json()

    async def play(self):
        """Register, join, and play until the table ends."""
        agent = await self.call("/v1/agents", {"name": "full"})
        assert {"agent_id", "api_key", "protocol_version", "skill_doc_url"} <= set(agent)
        joined = await self.call("/v1/tables/auto-join", {"client_protocol_version": "0.1"}, agent["api_key"])
        assert joined["action_timeout_ms"] > 0 and joined["skill_doc_url"].endswith("/skill.md")
        self.seat, self.table_id, self.agent_id = joined["seat_id"], joined["table_id"], agent["agent_id"]
        async with self.http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}") as socket:
            await socket.send_json({"type": "ping", "payload": {"timestamp": 1}})
            async for frame in socket:
                for answer in self.hear(json.loads(frame.data)):
                    await socket.send_json(answer)
        left = await self.call(f"/v1/tables/{self.table_id}/leave", {}, agent["api_key"])
        assert left["success"] is True
        return self

    def hear(self, envelope):
        assert set(envelope) <= {"type", "table_id", "seq", "ts", "payload"} and envelope["ts"] > 10**12
        assert envelope["table_id"] == self.table_id
        payload = envelope["payload"]
        match envelope["type"]:
            case "welcome":
                assert (payload["seat_id"], payload["agent_id"]) == (self.seat, self.agent_id)
            case "game_state":
                assert envelope["seq"] == payload["seq"]
                check_state(payload, self.seat, self.table_id)
                if payload["currentSeat"] == self.seat:
                    return [self.choose(payload)]
            case "ack":
                assert payload["success"] is True and payload["turn_token"] == self.token
            case "error":
                self.errors.append(payload["code"])
            case "hand_complete":
                self.check_results(payload)
                self.hands += 1
            case "table_status":
                self.reason = payload.get("reason", "")
            case "pong":
                assert payload == {"timestamp": 1}
            case kind:
                assert kind in ("player_joined", "player_left") and is_count(payload["seatId"])
        return []

    def choose(self, state):
        """Any offered action but a fold that nothing forces; raises are small, so that tables last."""
        offers = [one for one in state["legalActions"] if one["kind"] != "fold"]
        assert state["legalActions"][0] == {"kind": "fold"}
        offer = self.rng.choices(offers, [1 if one["kind"] == "raiseTo" else 4 for one in offers])[0]
        self.token = state["turn_token"]
        action = {"turn_token": self.token, "kind": offer["kind"]}
        if offer["kind"] == "raiseTo":
            assert 0 < offer["minAmount"] <= offer["maxAmount"]
            action["amount"] = offer["minAmount"]
        elif offer["kind"] == "call":
            assert offer["minAmount"] == offer["maxAmount"] == state["toCall"]
        return {"type": "action", "action": action, "expected_seq": state["seq"]}

    def check_results(self, payload):
        assert payload["handNumber"] > 0 and len(payload["communityCards"]) in (0, 3, 4, 5)
        pots = sum(pot["amount"] for pot in payload["finalPots"])
        assert sum(row["winnings"] for row in payload["results"]) == pots > 0
        for row in payload["results"]:
            assert isinstance(row["agentId"], str) and all(is_card(one) for one in row["holeCards"])
            assert payload["showdown"] or row["seatId"] == self.seat or row["holeCards"] == []
            assert not row.get("handRank") or payload["showdown"]
