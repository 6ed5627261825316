"""Text episodes: prompts, legal answers, the parser, and whose reward is whose. The models are scripted."""

import json
import random
from collections import Counter

import pytest
from parlour import envs
from parlour.envs import Action
from parlour.wrappers import text
from parlour.wrappers.agents.language_model import ModelError
from parlour.wrappers.text import MOST_READ, TextGame, play_text, play_texts


def test_a_refused_answer_costs_and_is_asked_again_with_the_reason():
    game = TextGame("holdem", seats=2, button=0, retries=1, penalty=-0.25)
    turn = game.reset(seed=1)
    again = game.step('{"action_type": "raiseTo", "payload": {"amount": 1}}')
    assert (again.agent, again.done, again.info["replaced"]) == (turn.agent, False, False)
    assert again.rewards == {"player_0": -0.25, "player_1": 0}
    assert "the bounds are" in again.refused
    assert [message["role"] for message in again.prompt] == ["system", "user", "assistant", "user"]
    assert again.refused in again.prompt[-1]["content"]
    end = game.step("I do not know")
    assert (end.done, end.info["replaced"], end.prompt, end.answers) == (True, True, [], ())  # the safe action: fold
    assert end.rewards == {"player_0": -0.75, "player_1": 0.5}
    assert end.returns == {"player_0": -1.0, "player_1": 0.5}
    with pytest.raises(ValueError, match="reset"):
        game.step("fold")


@pytest.mark.parametrize(("option", "value"), [("retries", -1), ("penalty", float("nan"))])
def test_wrong_options_are_named(option, value):
    with pytest.raises(ValueError, match=f"{option}={value}"):
        TextGame("kuhn", **{option: value})


def test_a_model_plays_one_seat_of_every_game_and_opponents_by_name_the_others(game):
    others = dict.fromkeys(game.agents[1:], "random")
    table = TextGame(game, opponents=others)
    played = []
    for _ in range(2):
        rng, totals, turn, answers = random.Random(1), Counter(), table.reset(seed=5), []
        totals.update(turn.rewards)
        while not turn.done:
            assert turn.agent == game.agents[0]
            answers.append(rng.choice(turn.answers))
            turn = table.step(answers[-1])
            assert turn.refused is None and not turn.info.get("replaced")
            totals.update(turn.rewards)
        assert dict(totals) == pytest.approx(dict(turn.returns))
        played.append((answers, turn.returns, table.match.table.tobytes()))
        if game.payoffs.zero_sum:
            assert sum(turn.returns.values()) == pytest.approx(0, abs=1e-4)
    assert played[0] == played[1]  # the opponents are seeded with the episode


def test_a_policy_of_the_zoo_is_read_once_and_plays_every_episode_as_at_a_new_table(monkeypatch):
    def model(turn):
        return turn.answers[0]

    new = [play_text(TextGame("kuhn", opponents="zoo:kuhn"), model, seed) for seed in range(20)]
    table = TextGame("kuhn", opponents="zoo:kuhn")
    monkeypatch.setattr(text, "make_policy", None)  # the file is read no more
    assert [play_text(table, model, seed) for seed in range(20)] == new


def test_every_decision_gets_what_its_seat_gains_until_the_next():
    table = TextGame("holdem", seats=3, button=0, penalty=-0.25)
    turn = table.reset(seed=1)
    for answer in ("nothing", "call", "fold", "check", "check", "fold"):
        assert not turn.done
        turn = table.step(answer)
    seats = table.transcripts
    assert turn.done and turn.returns == {agent: seat.total for agent, seat in seats.items()}
    decisions = {agent: [(one.answer, one.reward) for one in seat.exchanges] for agent, seat in seats.items()}
    assert decisions == {
        "player_0": [("nothing", -0.25), ("call", 0), ("fold", -1.0)],
        "player_1": [("fold", -0.5)],
        "player_2": [("check", 0), ("check", 1.5)],  # the pot, because another seat folds
    }


def test_seats_are_given_to_models_policies_and_agents():
    class Agent:
        answers = 0

        def respond(self, state):
            self.answers += 1
            if self.answers == 1:
                raise ModelError("it is late", "late")
            return Action("fly")

    game = envs.game("kuhn")
    with pytest.raises(ValueError, match="2 models"):
        play_text(TextGame("holdem", seats=3), [lambda turn: turn.answers[0]] * 2)
    assert TextGame(game, opponents="self").opponents == {}
    assert TextGame(game, opponents="random", seat="player_1").opponents == {"player_0": "random"}
    assert TextGame(game, opponents={"player_0": "self", "player_1": "zoo:kuhn"}).opponents == {"player_1": "zoo:kuhn"}
    with pytest.raises(ValueError, match="seat='dealer'"):
        TextGame(game, opponents="random", seat="dealer")
    with pytest.raises(ValueError, match="player_1 is the model's seat"):
        TextGame(game, opponents={"player_1": "random"}, seat="player_1")
    for wrong in ({"player_2": "random"}, {"player_0": "random", "player_1": "random"}, {"player_0": "nobody"}):
        with pytest.raises(ValueError, match=r"player_|nobody"):
            TextGame(game, opponents=wrong)
    table = TextGame(game, opponents=Agent())
    for _ in range(2):  # the safe action, a pass, is played for an agent that fails
        table.reset(seed=1)
        assert table.step("pass").done
    assert table.faults["player_1"] == {"late": 1, "illegal": 1}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Ich gehe mit, denn meine Karte ist gut.",
        "我跟注，因为我的牌很好。",
        "\ud800 pass",
        "{" * 10_000_000,
        '{"name": "play", "arguments": {"action_type": "bet"}}',
        '{"tool_calls": [{"function": {"name": "bet", "arguments": "{}"}}]}',
    ],
    ids=["nothing", "German", "Chinese", "half a character", "10 MB", "a call", "tool calls"],
)
def test_what_is_no_action_is_refused_with_a_sentence_and_costs_nothing_else(answer):
    table = TextGame("kuhn", retries=1)
    before = table.reset(seed=1)
    turn = table.step(answer)
    assert "there is no JSON object with an action_type" in turn.refused
    assert (turn.agent, turn.done, turn.answers) == (before.agent, False, before.answers)
    assert table.faults == {"player_0": {"unparsable": 1}, "player_1": {}}
    json.dumps(turn.prompt).encode()
    assert sum(len(message["content"]) for message in turn.prompt) < 10_000
    assert len(table.transcripts[turn.agent].exchanges[0].answer) <= MOST_READ
    assert table.step("bet").refused is None


def test_many_episodes_at_once_are_those_played_one_by_one():
    seeds, asked = list(range(12)), []

    def model(turns):
        asked.append(len(turns))
        return [turn.answers[len(turn.prompt[-1]["content"]) % len(turn.answers)] for turn in turns]

    tables = [TextGame("leduc", opponents="random") for _ in range(4)]
    many = play_texts(tables, model, seeds)
    assert many == [play_text(tables[0], lambda turn: model([turn])[0], seed) for seed in seeds]
    assert max(asked) == 4
    for wrong, words in (([], "0 tables"), (tables[:1] * 2, "none twice"), (tables, "shorter")):
        with pytest.raises(ValueError, match=words):
            play_texts(wrong, lambda turns: [], seeds)


@pytest.mark.parametrize(
    ("name", "roles"), [("trust", {"trustor"}), ("kuhn", {None}), ("mafia", {"mafia", "doctor", "sheriff", "villager"})]
)
def test_roles_are_those_that_the_states_tell(name, roles):
    match = envs.Match(envs.game(name))
    match.reset(seed=1)
    told = [text.role_of(match.turn_state(agent)) for agent in match.game.agents]
    assert TextGame(name).reset(seed=1).role in told and roles <= set(told)
