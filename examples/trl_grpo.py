"""A tiny language model learns Kuhn poker with TRL: by GRPO alone, and after supervised learning.

The model is `player_1` and acts by calls of the tool `play`; `player_0` is an equilibrium. A model that makes no call
does not end the hand: the game's safe action plays the rest of it, and each such turn costs the penalty.

The model begins with random weights, without a download, and first sees what a call looks like: any legal action is
right. Then one copy takes all updates by GRPO. Another one takes most of them by supervised learning of the
equilibrium's answers, from a data set of `parlour evaluate export`, and the rest by GRPO. Measured exactly, of the
model's legal calls: the chips per hand that they win from the equilibrium (no play wins more than 0.056), and
NashConv, which says how much a best response wins beyond what the game is worth.

pip install 'parlour[train,trl]'
python examples/trl_grpo.py
"""

import argparse
import json
import random
import tempfile
from functools import partial
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
import torch
from datasets import Dataset, disable_progress_bars
from parlour import envs
from parlour.training import cli, flat_tree, nash_conv, values
from parlour.wrappers import Prompting, make_policy
from parlour.wrappers.trl import GameEnvironment, log_faults
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

IMITATION, SUPERVISED, GRPO = 60, 100, 20
"""Updates by legal calls, by the equilibrium's answers, and by GRPO after them."""
METHOD = {"num_generations": 4, "max_completion_length": 10, "loss_type": "dr_grpo", "scale_rewards": "none"}
"""Of GRPO: answers have room for one call, and a chip more counts the same in every deal."""
SEAT, END = 1, "<|im_end|>"
SPECIAL = {"pad_token": "<|endoftext|>", "eos_token": END, "additional_special_tokens": ["<|im_start|>", "<tool_call>"]}
TEXTS = {"system": "You are $agent.", "call": "", "answer": ""}
"""What is asked: the model is too small to read rules."""
game = envs.game("kuhn")
prompting = Prompting(prompts=msgspec.structs.replace(Prompting().prompts, **TEXTS), view="compact", legal=False)
who = {"opponents": "zoo:kuhn", "seat": game.agents[SEAT]}
table = partial(GameEnvironment, game, prompting=prompting, retries=0, penalty=-1.0, **who)
tool = table().play


def exported(folder: Path, decisions: int) -> list[dict]:
    """Return decisions of the model's seat, as `parlour evaluate export` writes them."""
    (folder / "prompts.toml").write_text("\n".join(f'{name} = "{text}"' for name, text in TEXTS.items()))
    how = ["--prompts", str(folder / "prompts.toml"), "--state-view", "compact", "--no-legal-actions"]
    cli.main(["evaluate", "export", "kuhn", "--decisions", str(decisions), "--out", str(folder / "kuhn.jsonl"), *how])
    return [line for line in map(json.loads, (folder / "kuhn.jsonl").open()) if line["agent"] == game.agents[SEAT]]


def asked(tokenizer, messages) -> str:
    """Return a decision as the environment asks it."""
    user = {"role": "user", "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
    return tokenizer.apply_chat_template([user], tools=[tool], tokenize=False, add_generation_prompt=True)


def called(answer: str) -> str:
    """Return an answer of the data set as a call of the tool."""
    call = {"name": "play", "arguments": {"action_type": json.loads(answer)["action_type"]}}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>{END}"


def tokenizer_of(lines) -> PreTrainedTokenizerFast:
    """Return a tokenizer that is trained on the data set."""
    plain = Tokenizer(models.BPE())
    # Texts are not split at spaces, so that what never changes becomes few tokens.
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    plain.decoder = decoders.ByteLevel()
    template = files("trl").joinpath("chat_templates/qwen3.jinja").read_text()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, chat_template=template, **SPECIAL)
    texts = [text for line in lines for text in (asked(tokenizer, line["messages"]), *map(called, line["answers"]))]
    return tokenizer.train_new_from_iterator(texts, 1_000, show_progress=False)


@torch.no_grad()
def measured(model, tokenizer, after: str) -> tuple[float, float]:
    """Return what the model's legal calls win from the equilibrium, and their NashConv, in chips per hand."""
    tree = flat_tree(game)
    chances = tree.probabilities(tree.strategy_of(make_policy("zoo:kuhn", game))).astype(float)
    for i in np.flatnonzero(tree.seat == SEAT):
        prompt = tokenizer(asked(tokenizer, prompting.chat(game.turn_state(tree.tables[i], SEAT)))).input_ids
        for action in np.flatnonzero(tree.masks[i]):
            call = tokenizer(called(msgspec.json.encode(game.view.encode(tree.tables[i], action).action))).input_ids
            logits = model(torch.tensor([prompt + call])).logits[0, len(prompt) - 1 : -1]
            chances[i, action] = torch.log_softmax(logits, -1)[range(len(call)), call].sum().exp()
    strategy = tree.strategy(chances / chances.sum(axis=1, keepdims=True))
    won, lost = values(tree, strategy)[SEAT] / game.payoffs.unit, nash_conv(tree, strategy) / game.payoffs.unit
    print(f"{after}: {won:+.3f} chips per hand from the equilibrium, NashConv {lost:.3f}", flush=True)
    return won, lost


def imitate(model, tokenizer, common, steps: int, lines, choose) -> None:
    """Learn the answers that `choose` returns to the lines of the data set."""
    rows = [{"prompt": asked(tokenizer, line["messages"]), "completion": called(choose(line))} for line in lines]
    settings = SFTConfig(**common, max_steps=steps, learning_rate=3e-3)
    SFTTrainer(model, settings, train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()


def play(model, tokenizer, common, steps: int) -> None:
    """Learn from the returns of hands: GRPO."""
    settings = GRPOConfig(**common, **METHOD, max_steps=steps, learning_rate=1e-3)
    rows = [{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(100_000, 110_000)]
    hands = Dataset.from_list(rows)
    GRPOTrainer(model, log_faults, settings, hands, processing_class=tokenizer, environment_factory=table).train()


def main(argv=None):
    """Train; return both measures after imitation, after GRPO alone, and after supervised learning and GRPO."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    torch.manual_seed(settings.seed)
    disable_progress_bars()
    chosen, total = random.Random(settings.seed), SUPERVISED + GRPO
    with tempfile.TemporaryDirectory() as folder:
        lines = exported(Path(folder), 2_000)
        tokenizer = tokenizer_of(lines)
        common = {"output_dir": folder, "report_to": [], "seed": settings.seed, "use_cpu": True, "bf16": False}
        common |= {"disable_tqdm": True, "save_strategy": "no", "logging_steps": 20, "gradient_checkpointing": False}
        common |= {"per_device_train_batch_size": 64, "lr_scheduler_type": "constant"}
        size = {"n_positions": 256, "n_embd": 64, "n_layer": 1, "n_head": 4, "vocab_size": len(tokenizer)}
        size |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0) | {"initializer_range": 0.1}
        size |= dict.fromkeys(("bos_token_id", "eos_token_id"), tokenizer.eos_token_id)
        alone, taught = (GPT2LMHeadModel(GPT2Config(**size)) for _ in range(2))
        imitate(alone, tokenizer, common, IMITATION, lines, lambda line: chosen.choice(line["answers"]))
        taught.load_state_dict(alone.state_dict())
        results = [measured(alone, tokenizer, "legal calls imitated")]
        play(alone, tokenizer, common, total)
        results.append(measured(alone, tokenizer, f"{total} updates by GRPO"))
        imitate(taught, tokenizer, common, SUPERVISED, lines, lambda line: line["messages"][-1]["content"])
        measured(taught, tokenizer, f"{SUPERVISED} supervised updates")
        play(taught, tokenizer, common, GRPO)
        results.append(measured(taught, tokenizer, f"… and {GRPO} by GRPO"))
    return results


if __name__ == "__main__":
    main()
