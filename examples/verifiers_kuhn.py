"""Kuhn poker as an environment of verifiers: a scripted model learns from the rewards of its seats when to bet.

This file is the module that verifiers loads; with an endpoint of a language model, `vf-eval verifiers_kuhn` plays it.
The model of the demonstration is a table behind an endpoint on loopback. It plays both seats.

pip install 'parlour[verifiers]'
python examples/verifiers_kuhn.py
"""

import argparse
import asyncio
import json
import random
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean

import verifiers.v1 as vf
from parlour.wrappers.verifiers import GameTaskset, SeatHarness, game_env

KuhnEnv = game_env("kuhn")
__all__ = ["GameTaskset", "KuhnEnv", "SeatHarness"]
ACTIONS = "pass", "bet"


class Model:
    """The mean return of every action by the conversation before it, with an endpoint of OpenAI's form."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.explore = 1.0
        self.values: dict[tuple[str, str], list[float]] = {}
        model = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = {"role": "assistant", "content": model.answer(body["messages"])}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "table", "choices": [choice]}
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            log_message = lambda *words: None  # noqa: E731  it prints nothing

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, messages) -> str:
        """Answer a conversation."""
        before = json.dumps([one["content"] for one in messages])
        means = [fmean(self.values.get((before, action), [0.0])) for action in ACTIONS]
        best = ACTIONS[means.index(max(means))]
        return json.dumps({"action_type": self.random.choice(ACTIONS) if self.random.random() < self.explore else best})

    def learn(self, trace: vf.Trace) -> None:
        """Remember what the decisions of a seat have brought."""
        messages = [one.message for one in trace.nodes]
        for number, message in enumerate(messages):
            if message.role == "assistant":
                before = json.dumps([one.content for one in messages[:number]])
                action = json.loads(message.content)["action_type"]
                self.values.setdefault((before, action), []).append(trace.reward)


async def train(model: Model, hands: int, seed: int) -> list[float]:
    """Play hands against the random bot; return what the model has won in each."""
    sys.path.insert(0, str(Path(__file__).parent))  # where verifiers finds this module
    taskset = {"id": "verifiers_kuhn", "episodes": hands, "first": seed * 1_000_000, "seats": ["player_0", "player_1"]}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, "opponents": "random"}))
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{model.server.server_port}/v1", api_key_var="NONE")
    context, won = vf.ModelContext(model="table", client=client, sampling=vf.SamplingConfig()), []
    async with env.serving():
        for hand, task in enumerate(env.taskset):
            model.explore = 1.0 if hand < hands / 3 else 0.2 if hand < hands * 2 / 3 else 0.0
            episode = await env.run_episode(task, context)
            (mine,) = [trace for trace in episode.traces if "opponent" not in trace.info]
            model.learn(mine)
            won.append(mine.reward)
    return won


def main(argv=None):
    """Play against the random bot; return the chips per hand of the first third, played at random, and of the last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    model = Model(settings.seed)
    won, third = asyncio.run(train(model, settings.hands, settings.seed)), settings.hands // 3
    model.server.shutdown()
    first, last = sum(won[:third]) / third, sum(won[-third:]) / third
    print(f"{first:+.2f} chips per hand at random, {last:+.2f} with what it has learned")
    return first, last


if __name__ == "__main__":
    main()
