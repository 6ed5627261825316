"""The TurnState types convert to and from dicts and JSON: documented defaults, unknown fields."""

import json

import msgspec
import pytest
from beginnings import episode
from parlour.envs import Action, ActionResult, AgentResponse, AllowedAction, Message, MessageIntent, TurnState
from parlour.envs.core.turn_state import MessageScope, refused

EVERY = [
    Action("raiseTo", {"amount": 137}),
    ActionResult(False, "invalid_payload", "why"),
    AgentResponse(Action("fold"), [MessageIntent(MessageScope.PRIVATE, "psst", ["player_1"])]),
    AllowedAction("fold", "give up", {"type": "object"}),
    Message("1", "player_0", MessageScope.PUBLIC, "hello", [], 5),
    MessageIntent(MessageScope.PUBLIC, "hello"),
    TurnState(
        "m", "holdem-v0", "player_0", "flop", True, "player_0", {"pot": 3},
        [Message("1", "player_1", MessageScope.PUBLIC, "hé", None)], [AllowedAction("fold")], False, None,
    ),
]  # fmt: skip


@pytest.mark.parametrize("value", EVERY, ids=lambda value: type(value).__name__)
def test_there_and_back(value):
    kind = type(value)
    assert kind.from_dict(value.to_dict()) == value
    assert kind.from_json(value.to_json()) == value
    assert json.loads(value.to_json()) == value.to_dict()


def test_the_fields_of_turn_state_are_the_documents():
    assert list(EVERY[-1].to_dict()) == [
        "match_id", "game_id", "agent_id", "phase", "is_my_turn", "current_turn_agent_id", "game_state", "messages",
        "allowed_actions", "game_over", "outcome",
    ]  # fmt: skip


def test_documented_defaults_and_unknown_fields():
    least = {"match_id": "m", "game_id": "g", "agent_id": "a", "phase": "p", "is_my_turn": False, "colour": "red"}
    state = TurnState.from_dict(least)
    assert (state.messages, state.allowed_actions, state.game_over, state.outcome) == ([], [], False, None)
    assert state.current_turn_agent_id is None
    assert Action.from_json('{"action_type": "fold"}') == Action("fold", {})
    assert AgentResponse.from_json('{"action": {"action_type": "fold"}}').messages == []
    assert AllowedAction.from_dict({"action_type": "fold"}) == AllowedAction("fold", "", {})


def test_what_does_not_fit_is_named():
    with pytest.raises(msgspec.ValidationError, match="phase"):
        TurnState.from_dict({"match_id": "m", "game_id": "g", "agent_id": "a", "phase": 5, "is_my_turn": True})
    with pytest.raises(msgspec.DecodeError):
        TurnState.from_json("not JSON")


def test_a_refusal_can_always_travel_and_does_not_grow():
    result = refused("invalid_payload", "\ud800" + "x" * 10_000)
    assert ActionResult.from_json(result.to_json()) == result
    assert len(result.error_detail) == 500


@pytest.mark.parametrize("field", ["history", "actions", "last", "ante", "smallBlind"])
def test_null_is_as_good_as_a_field_that_is_left_out(field):
    env = episode("holdem", seats=2)
    state = env.turn_state(env.agent_selection)
    without = {name: value for name, value in state.game_state.items() if name != field}
    loaded = [
        env.game.view.load(msgspec.structs.replace(state, game_state=game))
        for game in (without, {**without, field: None})
    ]
    assert loaded[0][0].tobytes() == loaded[1][0].tobytes()
