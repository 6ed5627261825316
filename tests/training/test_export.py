"""`parlour evaluate export`: decisions as conversations, with values of all legal actions."""

import json
from hashlib import sha256
from itertools import islice

import numpy as np
import pytest
from command_line import run
from parlour.envs import game
from parlour.training.evaluation.exact import flat_tree
from parlour.training.models.data_set import decisions_of, exact_values, rolled_out
from parlour.wrappers.policies.base import TabularPolicy, TrainedFor


@pytest.fixture(scope="module")
def kuhn():
    return flat_tree(game("kuhn"))


def uniform(tree):
    return TabularPolicy(tree.observations, tree.probabilities(tree.uniform()), TrainedFor.of(tree.game), seed=1)


def cards(tree, decision):
    """What the seat sees, as words: its card and the moves."""
    state = tree.game.turn_state(decision.table, decision.seat).game_state
    return state["my_card"] + "".join(move["action"][0] for move in state["action_history"])


def test_exact_values_are_those_of_kuhn_by_hand(kuhn):
    exact = exact_values(kuhn, kuhn.uniform())
    seen = {}
    for decision in islice(decisions_of(uniform(kuhn), uniform(kuhn), kuhn.game, 0), 400):
        seen[cards(kuhn, decision)] = exact(decision).tolist()
    assert len(seen) == 12
    # In the order pass, bet. After a bet, pass folds: −1; bet calls: 2 or −2, by the card of the other.
    assert seen["Kb"] == pytest.approx([-1, 2]) and seen["Jb"] == pytest.approx([-1, -2])
    assert seen["Qb"] == pytest.approx([-1, 0]) and seen["Qpb"] == pytest.approx([-1, 0])
    assert seen["Kp"] == pytest.approx([1, 1.5]) and seen["Jp"] == pytest.approx([-1, -0.5])
    # A bet first with a king: the other folds (1) or calls (2).
    assert seen["K"][1] == pytest.approx(1.5) and seen["K"][0] == pytest.approx((1 + (2 - 1) / 2) / 2)


def test_rollouts_are_the_exact_values_on_average(kuhn):
    player, exact = uniform(kuhn), exact_values(kuhn, kuhn.uniform())
    sums, counts = {}, {}
    for decision in islice(decisions_of(player, player, kuhn.game, 4), 600):
        key = cards(kuhn, decision)
        worth = rolled_out(player, kuhn.game, decision, 8, 5)
        sums[key] = sums.get(key, 0) + worth - exact(decision)
        counts[key] = counts.get(key, 0) + 1
    errors = np.array([sums[key] / counts[key] for key in sums])
    assert np.abs(errors).max() < 0.6 and np.abs(errors.mean(axis=0)).max() < 0.12


def exported(tmp_path, capsys, *arguments, code=0):
    out = tmp_path / "data.jsonl"
    result = run(capsys, "evaluate", "export", *arguments, "--out", str(out))
    assert result[0] == code, result[2]
    return out.read_bytes() if code == 0 else result[2]


def test_the_file_has_conversations_values_and_a_card(tmp_path, capsys):
    data = exported(tmp_path, capsys, "leduc", "--decisions", "120", "--explore", "0.5")
    assert data == exported(tmp_path, capsys, "leduc", "--decisions", "120", "--explore", "0.5")
    lines = [json.loads(line) for line in data.splitlines()]
    assert len(lines) == 120 and {line["source"] for line in lines} == {"exact"}
    for line in lines:
        assert [message["role"] for message in line["messages"]] == ["system", "user", "assistant"]
        assert len(line["answers"]) == len(line["values"]) == len(line["probabilities"])
        assert line["messages"][-1]["content"] in line["answers"]
        offered = json.loads(line["messages"][1]["content"])["allowed_actions"]
        assert {one["action_type"] for one in offered} == {json.loads(one)["action_type"] for one in line["answers"]}
        assert sum(line["probabilities"]) == pytest.approx(1, abs=1e-4)
    card = json.loads((tmp_path / "data.croissant.json").read_text())
    assert card["distribution"][0]["sha256"] == sha256(data).hexdigest()
    assert {field["name"] for field in card["recordSet"][0]["field"]} == set(lines[0])
    assert "NashConv" in card["description"]


def test_a_large_game_has_values_by_rollouts_and_a_skin(tmp_path, capsys):
    arguments = ("bargaining", "--decisions", "6", "--rollouts", "4", "--skin", "1", "--state-view", "compact")
    lines = [json.loads(line) for line in exported(tmp_path, capsys, *arguments).splitlines()]
    assert len(lines) == 6 and {line["source"] for line in lines} == {"rollouts"}
    assert "bargaining" not in lines[0]["messages"][0]["content"]
    assert all(np.isfinite(line["values"]).all() for line in lines)
