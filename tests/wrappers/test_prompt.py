"""How a language model is asked: texts in a file, three views of a state, histories; the same for every game."""

import json

import endpoint
import numpy as np
import pytest
from aiohttp import web
from needs import library
from parlour import envs
from parlour.envs import Match, how_to_play
from parlour.wrappers.agents.language_model import Model, ModelError
from parlour.wrappers.agents.llm import LLMAgent
from parlour.wrappers.agents.prompt import Prompting, in_words, load_prompts
from parlour.wrappers.text import TextGame

VIEWS = ("json", "compact", "words")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_the_state_and_the_offers_of_every_game(game, view):
    match = Match(game)
    match.reset(3)
    rng = np.random.default_rng(3)
    for _ in range(12):
        if match.done:
            break
        state = match.turn_state(match.game.agents[match.turn])
        shown, hidden = (Prompting(view=view, legal=legal).state(state) for legal in (True, False))
        offers = [offer.action_type for offer in state.allowed_actions]
        assert len(hidden) < len(shown)
        if view == "json":
            assert json.loads(hidden)["game_state"] == json.loads(json.dumps(state.game_state))
            assert [offer["action_type"] for offer in json.loads(shown)["allowed_actions"]] == offers
        else:
            lines = shown.partition("\nYou may:\n")
            assert lines[0] == hidden
            assert [line.removeprefix("- ").split()[0].rstrip(":") for line in lines[2].splitlines()] == offers
        if view == "compact":
            assert {line.partition(":")[0] for line in hidden.splitlines()} >= set(state.game_state)
        if view == "words":
            assert len(hidden.splitlines()) >= len(state.game_state)
        match.play(int(rng.choice(np.flatnonzero(match.mask))))


def test_words_are_words():
    state = {"phase": "betting", "myCard": "K", "board": [], "last_offer_by": None, "talk": True, "to_call": 2.0}
    assert in_words(state | {"moves": [{"agent_id": "a", "chips": {"b": 1.5}}]}).splitlines() == [
        "Phase is betting.",
        "My card is K.",
        "Board: none.",
        "Last offer by is not there.",
        "Talk: yes.",
        "To call is 2.",
        "Moves: a, chips (b 1.5).",
    ]


def test_the_rules_are_told_and_texts_are_replaced(tmp_path):
    game = TextGame("leduc")
    system, turn = game.reset(seed=1).prompt
    assert system["content"].startswith(how_to_play(game.game)) and "You are player_0" in system["content"]
    file = tmp_path / "mine.toml"
    file.write_text('system = "Play $game as $agent for $$1. $answer"\nanswer = "One word."\nturn = "Look: $state"\n')
    mine = TextGame("leduc", prompting=Prompting(prompts=load_prompts(file), view="compact"))
    system, turn = mine.reset(seed=1).prompt
    assert system["content"] == "Play leduc-v0 as player_0 for $1. One word."
    assert turn["content"].startswith("Look: phase: first\n")
    assert mine.step("what?").prompt[-1]["content"].endswith("One word.")
    for wrong in ('system = "$nothing"', 'turns = "$state"', "turn = 3", "turn"):
        file.write_text(wrong)
        with pytest.raises(ValueError, match=r"mine\.toml"):
            load_prompts(file)


def test_a_conversation_has_the_own_turns_and_answers_and_no_others():
    game = TextGame("leduc", prompting=Prompting(conversation=True, turns=1))
    first = game.reset(seed=1)
    second = game.step("call")
    assert [message["role"] for message in second.prompt] == ["system", "user"]
    game.step("raise")
    third = game.step("call")
    assert third.agent == first.agent
    *_, past, answer, _ = third.prompt
    assert (past, answer["content"]) != (first.prompt[-1], "call")  # only the latest turn is kept
    assert [message["role"] for message in third.prompt] == ["system", "user", "assistant", "user"]
    assert [message["role"] for message in game.reset(seed=2).prompt] == ["system", "user"]


def test_a_model_that_is_not_shown_the_legal_actions_is_not_told_them_by_the_schema_either():
    library("openai")
    game = envs.game("leduc")
    match = Match(game)
    match.reset(1)
    answers = iter(['{"action_type": "fold", "payload": {}}', '{"action_type": "raise", "payload": {}}'] * 2)

    def played(prompting):
        async def answer(request, body):
            asked.append(body)
            return web.json_response({**endpoint.said(next(answers)), "usage": endpoint.USAGE})

        asked = []
        with endpoint.answering(answer) as url:
            agent = LLMAgent(Model(name="stub", base_url=url, prices=(1e6, 2e6)), None, prompting=prompting)
            assert agent.respond(match.turn_state("player_0")).action.action_type == "raise"
        return json.dumps(asked), agent.statistics

    hidden, statistics = played(Prompting(legal=False))
    assert "raise" not in hidden and "call" not in hidden
    assert dict(statistics.faults) == {"illegal": 1} and (statistics.decisions, statistics.replaced) == (1, 0)
    assert (statistics.input_size, statistics.output_size, statistics.cost) == (22, 14, 22 + 28)
    assert "raise" in played(Prompting())[0]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (endpoint.no_json, "unparsable"),
        (endpoint.talking(choice='{"action_type": "fly", "payload": {}}'), "illegal"),
        (endpoint.MISBEHAVIOURS["slow"], "late"),
        (endpoint.MISBEHAVIOURS["refuses"], "refused"),
        (endpoint.MISBEHAVIOURS["500"], "failed"),
    ],
)
def test_faults_of_answers_are_counted_apart(answer, fault):
    library("openai")
    match = Match(envs.game("kuhn"))
    match.reset(1)
    with endpoint.answering(answer) as url:
        agent = LLMAgent(Model(name="stub", base_url=url, timeout=0.5 if fault == "late" else 30, retries=0), None)
        with pytest.raises(ModelError) as error:
            agent.respond(match.turn_state("player_0"))
    assert error.value.fault == fault
    row = agent.statistics.row()
    tries = 2 if fault in ("unparsable", "illegal") else 1
    assert {name: row[name] for name in ("illegal", "unparsable", "late", "refused", "failed") if row[name]} == {
        fault: tries
    }
    assert row["decisions"] == row["replaced"] == 1
