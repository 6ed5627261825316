"""GRPO of TRL trains a tiny language model to play Kuhn poker in text: `parlour.wrappers.text`.

The model begins with random weights and needs no download. It first learns from legal answers what an
answer looks like, and then from the chips that its answers win which ones are good.

pip install 'parlour[train]' trl
python examples/trl_grpo.py
"""

import argparse
import json
import random
import tempfile
import time

import torch
from datasets import Dataset
from parlour.wrappers import Prompting
from parlour.wrappers.text import TextGame, play_text
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

LEARNER = "player_0"
END = "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
TEMPLATE = "{% for message in messages %}{{ message['content'] }}" + END + "\n{% endfor %}"
"""The chat template: what every message says, line by line, and the end after an answer."""


def moments(game: TextGame, count: int, seed: int) -> list[dict]:
    """Play at random; return decisions of the learner: prompt, legal answer, deal, and the answers before."""
    rng, rows, deal = random.Random(seed), [], seed
    while len(rows) < count:
        deal += 1
        turn, answers = game.reset(seed=deal), []
        while not turn.done and len(rows) < count:
            answer = rng.choice(turn.answers)
            if turn.agent == LEARNER:
                completion = [{"role": "assistant", "content": answer}]
                rows.append(
                    {"prompt": turn.prompt, "completion": completion, "deal": deal, "before": json.dumps(answers)}
                )
            answers.append(answer)
            turn = game.step(answer)
    return rows


class Chips:
    """The reward of an answer: the chips that the learner wins if everybody plays at random after it."""

    __name__ = "chips"

    def __init__(self, game: TextGame, seed: int) -> None:
        self.game = game
        self.random = random.Random(seed)

    def __call__(self, completions, deal, before, **columns):
        """Return the reward of every completion."""
        return [self.played(one[0]["content"], *where) for one, *where in zip(completions, deal, before, strict=True)]

    def played(self, answer: str, deal: int, before: str) -> float:
        """Play a hand up to a decision, take the answer, and play on; return what the learner has won from there."""
        turn = self.game.reset(seed=deal)
        for earlier in json.loads(before):
            turn = self.game.step(earlier)
        won = 0.0
        while not turn.done:
            turn = self.game.step(answer)
            won += turn.rewards[LEARNER]
            answer = "" if turn.done else self.random.choice(turn.answers)
        return won


def tokenizer_of(texts: list[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that is trained on these texts."""
    bpe = Tokenizer(models.BPE())
    # Texts are not split at spaces, so that what never changes becomes few tokens.
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<pad>", "<eos>"]
    bpe.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def player(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast):
    """Return the model as a function from a turn to its answer, drawn from its distribution."""

    @torch.no_grad()
    def answer(turn) -> str:
        text = tokenizer.apply_chat_template(turn.prompt, tokenize=False)
        tokens = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        output = model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            max_new_tokens=24,
            do_sample=True,
            pad_token_id=tokenizer.pad_token_id,
        )
        return tokenizer.decode(output[0, tokens.shape[1] :], skip_special_tokens=True)

    return answer


def measured(game: TextGame, model, tokenizer, deals: int) -> float:
    """Return the chips per hand that the model wins from random play in the learner's seat."""
    rng, answer = random.Random(0), player(model.eval(), tokenizer)

    def choose(turn) -> str:
        return answer(turn) if turn.agent == LEARNER else rng.choice(turn.answers)

    return sum(play_text(game, choose, seed=10_000 + deal)[LEARNER].total for deal in range(deals)) / deals


def main(argv=None):
    """Train; return the chips per hand against random play with the imitated answers, and after GRPO."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="kuhn")
    parser.add_argument("--imitation-steps", type=int, default=100)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--hands", type=int, default=600, help="hands of a measurement")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    torch.manual_seed(settings.seed)
    # The model is too small to read rules: it learns from the rewards alone.
    game = TextGame(settings.game, retries=0, penalty=-1.0, prompting=Prompting())
    rows = moments(game, 512, settings.seed)
    tokenizer = tokenizer_of([message["content"] for row in rows for message in (*row["prompt"], *row["completion"])])
    shape = {"n_positions": 512, "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": len(tokenizer)}
    model = GPT2LMHeadModel(GPT2Config(**shape, bos_token_id=1, eos_token_id=1, pad_token_id=0))
    with tempfile.TemporaryDirectory() as folder:
        common = {
            "output_dir": folder,
            "report_to": [],
            "seed": settings.seed,
            "use_cpu": True,
            "disable_tqdm": True,
            "save_strategy": "no",
        }
        imitation = SFTConfig(
            **common,
            max_steps=settings.imitation_steps,
            per_device_train_batch_size=32,
            learning_rate=2e-3,
            logging_steps=50,
        )
        pairs = Dataset.from_list(rows).select_columns(["prompt", "completion"])
        SFTTrainer(model, imitation, train_dataset=pairs, processing_class=tokenizer).train()
        before, begin = measured(game, model, tokenizer, settings.hands), time.perf_counter()
        print(f"legal answers imitated: {before:+.2f} chips per hand from random play", flush=True)
        grpo = GRPOConfig(
            **common,
            max_steps=settings.steps,
            per_device_train_batch_size=128,
            num_generations=16,
            max_completion_length=24,
            learning_rate=1e-3,
            beta=0.0,
            logging_steps=20,
        )
        questions = Dataset.from_list(rows).select_columns(["prompt", "deal", "before"])
        reward = Chips(game, settings.seed)
        GRPOTrainer(model, reward, grpo, train_dataset=questions, processing_class=tokenizer).train()
    after = measured(game, model, tokenizer, settings.hands)
    print(f"GRPO, {settings.steps} steps in {time.perf_counter() - begin:.0f} s: {after:+.2f} chips per hand")
    return before, after


if __name__ == "__main__":
    main()
