"""Principal and agent: texts in payloads, questions and answers, scores that decide a payment, foreign states."""

import pytest
from economics.matches import played, seen_as_our_own, tables_after, utilities
from parlour import envs
from parlour.envs import TurnState

NAME = "principal_agent"
POST = "post_contract", {"task_description": "Write a poem.", "success_criteria": "It rhymes."}
ASK, REPLY = ("ask_clarification", {"question": "Which form?"}), ("answer_clarification", {"answer": "A sonnet."})
DELIVER = "submit_deliverable", {"content": "Shall I compare thee"}
UP_TO_SCORE = POST, "skip_clarify", "accept_contract", DELIVER


def score(number, **more):
    return "record_outcome_score", {"score": number, **more}


@pytest.mark.parametrize(
    ("number", "label", "payment"),
    [
        (1, "fail", 0),
        (49.9, "fail", 0),
        (50, "partial", 3),
        (79, "partial", 3),
        (80, "success", 10),
        (100, "success", 10),
    ],
)
def test_the_score_decides_the_payment(number, label, payment):
    env = played(NAME, *UP_TO_SCORE, score(number, notes="as agreed"))
    assert utilities(env) == [-payment, payment]
    outcome = env.turn_state("player_1").outcome
    assert outcome["reason"] == f"task_resolved_{label}"
    assert (outcome["outcome_score"], outcome["outcome_label"], outcome["payment"]) == (number, label, payment)


def test_a_rejection_ends_the_match():
    env = played(NAME, POST, "skip_clarify", ("reject_contract", {"reason": "too little"}))
    assert utilities(env) == [0, 0]
    state = env.turn_state("player_0")
    assert (state.outcome["reason"], state.phase) == ("contract_rejected", "respond")
    assert state.game_state["accepted"] is False


def test_texts_are_messages_to_the_other():
    env = played(NAME, POST, ASK, REPLY, "skip_clarify", "accept_contract", DELIVER)
    texts = [message.content for message in env.turn_state("player_0").messages]
    assert texts == ["Write a poem.", "It rhymes.", "Which form?", "A sonnet.", "Shall I compare thee"]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [(None, 0), ({"a": [0, 2], "b": [40, 1], "c": [90, 6]}, 1), ({"a": [0, -2], "b": [40, 1]}, 0), ({"a": [0, 4]}, 4)],
)
def test_the_equilibrium_pays_least_and_refuses_a_loss(levels, expected):
    game = envs.game(NAME, outcome_levels=levels)
    tables = tables_after(game, "equilibrium", seed=5)
    assert tables["total"][0, :2].tolist() == [-expected, expected]


def state_of(me, phase, **more):
    """A state as strategic-agent-games writes it."""
    told = {
        "num_agents": 2, "agent_ids": ["bob", "ann"], "principal": "bob", "worker": "ann", "contract": None,
        "my_role": "principal" if me == "bob" else "worker", "clarifications": [], "accepted": None,
        "deliverable": None, "outcome_score": None, "outcome_label": None, "payment": None, "action_history": [],
        **more,
    }  # fmt: skip
    return TurnState("m", "principal-agent", me, phase, True, me, told)


CONTRACT = {
    "task_description": "t", "success_criteria": "s",
    "outcome_levels": [{"label": "fail", "threshold": 0, "payment": 0},
                       {"label": "partial", "threshold": 50, "payment": 3},
                       {"label": "success", "threshold": 80, "payment": 10}],
}  # fmt: skip
MOMENTS = {
    "offer": ((), {}),
    "asked": ((POST, ASK), {"contract": CONTRACT, "clarifications": [{"question": "q", "answer": None}]}),
    "answered": ((POST, ASK, REPLY), {"contract": CONTRACT, "clarifications": [{"question": "q", "answer": "a"}]}),
    "respond": ((POST, "skip_clarify"), {"contract": CONTRACT}),
    "execute": (UP_TO_SCORE[:3], {"contract": CONTRACT, "accepted": True}),
    "verify": (UP_TO_SCORE, {"contract": CONTRACT, "accepted": True, "deliverable": "poem"}),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_platforms_states_are_seen_as_our_own(moment):
    actions, told = MOMENTS[moment]
    seen_as_our_own(played(NAME, *actions), state_of, ("bob", "ann"), **told)


def test_the_levels_of_a_contract_are_those_that_the_host_sends():
    game = envs.game(NAME)
    levels = [{"label": "all", "threshold": "10", "payment": 7}]
    tables, _ = game.view.load(state_of("bob", "verify", contract={**CONTRACT, "outcome_levels": levels}))
    assert tables[0].parameter[:3].tolist() == [10, 7, 1e9]
    with pytest.raises(ValueError, match="need 1 to 4 levels"):
        game.view.load(state_of("bob", "verify", contract={**CONTRACT, "outcome_levels": levels * 5}))
