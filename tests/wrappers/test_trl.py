"""The adapter to TRL: by itself, and through the loop of TRL's GRPOTrainer, whose tests `make frameworks` runs."""

import json
from functools import partial
from importlib.resources import files

import numpy as np
import pytest
from live.table_people import Program
from mirror import Mirror
from needs import framework
from parlour.envs import Action
from parlour.wrappers import Prompting
from parlour.wrappers.text import parse
from parlour.wrappers.trl import GameEnvironment, log_faults


def call(action_type, payload=None, name="play"):
    """The text of a tool call, as Qwen3 writes it."""
    arguments = {"action_type": action_type, **({} if payload is None else {"payload": payload})}
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Returns a function that trains for one step and returns the trainer and the conversations of its episodes.

    The model is scripted: `answer`, called with an environment and the last message of its conversation, returns what
    the model says; a text without a call ends the episode.
    """
    framework("trl")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE(vocab={one: number for number, one in enumerate([*special, *letters])}, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(special)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token=special[0], eos_token=special[2])
    tokenizer.chat_template = files("trl").joinpath("chat_templates/qwen3.jinja").read_text()

    class Model(GPT2LMHeadModel):
        def generate(self, input_ids, **options):
            rows = self.rows or list(range(len(input_ids)))
            assert len(rows) == len(input_ids)
            texts = [self.answer(row, tokenizer.decode(ids)) for row, ids in zip(rows, input_ids, strict=True)]
            self.rows = [row for row, text in zip(rows, texts, strict=True) if "</tool_call>" in text]
            said = [torch.tensor(tokenizer(f"{text}<|im_end|>").input_ids) for text in texts]
            return torch.cat([input_ids, torch.nn.utils.rnn.pad_sequence(said, batch_first=True)], 1)

    def trained(factory, answer, rewards=None, **row):
        seen = {}
        # Without layers a conversation of 100,000 tokens costs nothing.
        model = Model(GPT2Config(vocab_size=len(tokenizer), n_positions=1_000_000, n_embd=2, n_layer=0, n_head=1))
        model.rows = []
        settings = GRPOConfig(
            output_dir=str(tmp_path),
            report_to=[],
            use_cpu=True,
            gradient_checkpointing=False,
            max_steps=1,
            per_device_train_batch_size=2,
            num_generations=2,
            max_completion_length=900_000,
            logging_steps=1,
            beta=0.0,
            save_strategy="no",
            disable_tqdm=True,
        )
        rows = Dataset.from_list([{"prompt": [{"role": "user", "content": ""}], **row}] * 2)
        options = {"train_dataset": rows, "processing_class": tokenizer, "environment_factory": factory}
        trainer = GRPOTrainer(model, rewards, settings, **options)

        def answered(row, text):
            seen[row] = text
            return answer(trainer.environments[row], text.split("<|im_start|>")[-2])

        model.answer = answered
        trainer.train()
        return trainer, seen

    return trained


class Others:
    """Plays the seats of the opponents by the mirror's answers; nonsense is an illegal action."""

    def __init__(self, mirror):
        self.mirror = mirror

    def respond(self, state):
        text = self.mirror(state.agent_id)
        return parse(text) if text.startswith("{") else Action("I do not know.")


def test_an_episode_of_every_game_returns_what_the_environment_does(game, train):
    seat = game.agents[-1]

    def table():
        mirror = Mirror(game, 5, retries=0)
        others = dict.fromkeys(game.agents[:-1], Others(mirror))
        environment = GameEnvironment(game, opponents=others, retries=0, penalty=0.0)
        environment.mirror = mirror
        return environment

    def answer(environment, last):
        if environment.turn.done:
            return "Good game."
        text = environment.mirror(seat)
        action = parse(text) if text.startswith("{") else Action("I do not know.")
        return call(action.action_type, action.payload)

    trainer, _ = train(table, answer, log_faults, seed=5, seat=seat)
    for environment in trainer.environments:
        mirror = environment.mirror
        assert mirror.match.done
        assert environment.turn.returns == pytest.approx(mirror.returns)
        refused = sum(faults.total() for faults in environment.table.faults.values())
        assert (refused, environment.unplayed) == (mirror.replaced, 0)
    logged = trainer.state.log_history[0]
    assert logged["rewards/GameEnvironment/mean"] == pytest.approx(mirror.returns[seat], rel=1e-5, abs=1e-5)
    assert logged["refused"] == environment.faults.total()


def test_what_is_no_json_and_a_batch_of_nothing_are_refused_in_sentences():
    environment = GameEnvironment("leduc", opponents={"player_1": CALLS})
    environment.reset(seed=1)
    for value in ({"call"}, np.int64(3)):
        with pytest.raises(ValueError, match="need what JSON has"):
            environment.play("call", {"amount": value})
    assert not environment.turn.done and not environment.faults
    with pytest.raises(ValueError, match="at least one environment"):
        log_faults([], lambda name, value: None)


def test_who_stops_to_call_pays_for_every_turn_that_the_safe_action_plays():
    environment = GameEnvironment("leduc", opponents={"player_1": CALLS}, retries=1, penalty=-0.1)
    environment.reset(seed=1)
    environment.play("call")
    assert environment.get_reward() == environment.get_reward() == environment.turn.returns["player_0"]
    assert (environment.unplayed, environment.faults.total()) == (1, 0)
    assert environment.table.transcripts["player_0"].exchanges[-1].state.phase == "second"
    unpunished = -1 - environment.get_reward(), 1 - environment.get_reward()
    assert 0.2 in [pytest.approx(one) for one in unpunished]
    assert environment.play("call") == "The match is over, and nothing more can be played."


CALLS = Program(lambda state: Action("call"))


def test_the_first_prompt_has_the_rules_and_each_call_the_next_turn():
    environment = GameEnvironment("leduc", opponents={"player_0": CALLS}, prompting=Prompting(view="words"))
    first = environment.reset(seed=1, prompt=[{"role": "user", "content": ""}], other=None)
    assert "You are player_1" in first and "Call the tool play with" in first
    assert "Leduc" not in first  # this prompting tells no rules
    again = environment.play("call")
    assert "second" in again and "You are player_1" not in again
    assert environment.play("call").startswith("The match is over, and nothing more can be played. Your return is")
    assert "# Leduc hold'em" in GameEnvironment("leduc", opponents="random").reset(seed=1)


def test_a_row_names_the_seat_and_its_seed_gives_the_same_match():
    environment = GameEnvironment("leduc", opponents="random", seat="player_1")
    first = environment.reset(seed=3)
    assert "You are player_1" in first
    assert "You are player_0" in environment.reset(seed=3, seat="player_0")
    assert (
        environment.reset(seed=3, seat=None)
        == first
        == GameEnvironment("leduc", opponents="random").reset(3, seat="player_1")
    )


@pytest.mark.parametrize(
    ("action_type", "payload", "words"),
    [
        ("", None, "'' is not an action here"),
        ("我跟注", {}, "'我跟注' is not an action here"),
        (5, None, "no JSON object with an action_type"),
        ("call", "now", "payload is not a JSON object"),
        ("call", [{}], "payload is not a JSON object"),
        ("call", {"amount": float("nan")}, "invalid"),
        ("call", {"amount": "9" * 10_000_000}, "no JSON object with an action_type"),
        ("x" * 10_000_000, None, "no JSON object with an action_type"),
        ("\ud800", None, "is not an action here"),
    ],
)
def test_a_bad_call_gets_a_sentence_and_the_match_goes_on(action_type, payload, words):
    environment = GameEnvironment("leduc", opponents={"player_1": CALLS})
    environment.reset(seed=1)
    said = environment.play(action_type, payload)
    assert words in said and said.endswith("Call the tool play with the action_type and the payload.")
    assert len(said) < 1000
    assert environment.faults.total() == 1
    said = environment.play(action_type, payload)
    assert "A safe action was played for you.\n" in said and '"phase": "second"' in said
    assert environment.play("call").startswith("The match is over")
    assert environment.get_reward() in (pytest.approx(0.8), pytest.approx(-1.2))
    environment.reset(seed=2)
    assert environment.faults.total() == 0


def test_what_cannot_be_is_an_error_before_the_first_episode():
    for options, words in [
        ({"opponents": "self"}, "opponents='self': TRL has one conversation for a table; name who plays"),
        ({"opponents": {"player_1": "random"}, "seats": 3}, "name who plays every seat but one"),
        ({"opponents": "nobody"}, "nobody"),
        ({"opponents": "random", "seat": "dealer"}, "the agents are player_0, player_1"),
        ({"opponents": "random", "stakes": 3}, "stakes"),
    ]:
        with pytest.raises(ValueError, match=words):
            GameEnvironment("holdem", **options)
    environment = GameEnvironment("kuhn", opponents="random")
    with pytest.raises(ValueError, match="call reset"):
        environment.get_reward()
    with pytest.raises(ValueError, match="whole number"):
        environment.reset(seed="x")


@pytest.mark.parametrize(
    ("said", "faults", "unplayed"),
    [
        (["", "I think that I bet."], {}, 2),
        (["<tool_call>\n{" * 1000], {}, 2),
        ([call("call") + call("call")], {}, 0),
        ([call("call") * 5], {}, 0),
        ([call("fly"), call("call", name="shout"), call("call", "x"), "Enough."], {"illegal": 1, "unparsable": 1}, 1),
        ([json.dumps({"action_type": "call"})], {}, 2),
        ([call("call", {"amount": "9" * 100_000}), "Well."], {"unparsable": 1}, 2),
    ],
)
def test_what_a_model_says_in_trl_loses_nothing(said, faults, unplayed, train):
    answers = {}

    def answer(environment, last):
        texts = answers.setdefault(id(environment), iter(said))
        return next(texts, "Good game.")

    table = partial(GameEnvironment, "leduc", opponents={"player_1": "call"})
    trainer, seen = train(table, answer, log_faults, seed=1)
    logged = trainer.state.log_history[0]
    for environment in trainer.environments:
        assert environment.turn.done
        assert (dict(environment.faults), environment.unplayed) == (faults, unplayed)
    assert logged["rewards/GameEnvironment/mean"] == pytest.approx(environment.get_reward())
    counted = (sum(faults.values()), faults.get("illegal", 0), unplayed)
    assert (logged["refused"], logged["illegal"], logged["unplayed"]) == counted
    if said[0] == call("call") * 5:
        assert seen[0].count("nothing more can be played") == 4
    if "shout" in "".join(said):
        assert "Tool shout not found" in seen[0]
