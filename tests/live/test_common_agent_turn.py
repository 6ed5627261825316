"""The turn of a live agent, in every game: what a player answers with a legal action is offered."""

from dataclasses import dataclass

import pytest
from parlour.envs import Action, AllowedAction, TurnState
from parlour.envs.core.aec import GameEnv
from parlour.envs.core.turn_state import NOTHING
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.agent_turn import Turn, read_response
from parlour.wrappers.policies.base import RandomPolicy

DECISIONS = 60


def test_legal_answers_are_played_as_they_are(game):
    env = GameEnv(game, "flat")
    env.reset(seed=5)
    player = PolicyAgent(env.game, RandomPolicy(seed=5))
    for _ in range(DECISIONS):
        if env.table.done:
            break
        agent = env.agent_selection
        state = env.turn_state(agent)
        answer = player.respond(state)
        assert Turn(state).settle(lambda answer=answer: answer) == (answer, None)
        assert env.submit(agent, answer).ok


def offered(action_type, schema, **more):
    offers = [AllowedAction(action_type, "", schema), AllowedAction("pass", "", NOTHING)]
    return Turn(TurnState("m", "g", "ann", "play", True, allowed_actions=offers), **more)


@pytest.mark.parametrize(
    ("schema", "payload", "sent"),
    [
        ({"outcome_levels": {"type": "object"}, "wage": {"type": "number"}}, {"wage": 3.0}, {"wage": 3.0}),
        ({"reason": {"type": "string"}}, {}, {}),
        ({"n": {"type": ["number", "null"]}}, {}, {}),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"x": 1}, {"x": 1}),
        ({"quantity": {"type": "number"}}, {"quantity": "30"}, {"quantity": 30.0}),
        ({"n": {"type": "integer", "maximum": 5.5}}, {"n": 9}, {"n": 5}),
        ({"n": {"type": "number", "minimum": 9, "maximum": 2}}, {"n": 5}, {"n": 2}),
        ({"n": {"type": "number", "maximum": 10**400}}, {"n": 5}, {"n": 5}),
        (
            {"type": "object", "properties": {"amount": {"type": "integer"}}, "additionalProperties": False},
            {"amount": 10, "reasoning": "…"},
            {"amount": 10, "reasoning": "…"},
        ),
    ],
    ids=str,
)
def test_what_a_platforms_schema_does_not_forbid_in_a_known_form_is_sent(schema, payload, sent):
    response, problem = offered("act", schema).settle(lambda: Action("act", payload))
    assert (response.action, problem) == (Action("act", sent), None)


def test_of_two_offers_of_one_action_an_answer_has_to_fit_one():
    one = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    other = {"type": "object", "properties": {"k": {"type": "number"}}, "required": ["k"]}
    offers = [AllowedAction("act", "", one), AllowedAction("act", "", other)]
    turn = Turn(TurnState("m", "g", "ann", "play", True, allowed_actions=offers))
    for payload in ({"n": 1}, {"k": 1}):
        assert turn.settle(lambda payload=payload: Action("act", payload))[1] is None
    assert turn.settle(lambda: Action("act", {}))[1] == "act: n is missing"


def test_an_agent_that_changes_what_it_sees_changes_no_offer():
    turn = offered("raise", {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}})
    seen = turn.shown()
    seen.allowed_actions[0].payload_schema["properties"]["n"]["maximum"] = 10**6
    seen.allowed_actions.clear()
    assert turn.read(Action("raise", {"n": 5000})).action == Action("raise", {"n": 9})
    assert turn.safe().action == Action("pass")


@dataclass
class Noted:
    """An answer with notes of its own, which are no JSON."""

    action: Action
    messages: list
    notes: object
    phase: object


def test_of_an_answer_only_its_own_fields_are_read():
    noted = Noted(Action("act"), [], object(), ValueError("no JSON"))
    for answer in (noted, vars(noted), type("Both", (), {"action": Action("act"), "action_type": "shortcut"})()):
        assert read_response(answer).action == Action("act")
