"""A server of OpenEnv and its client: a scripted model learns from the rewards of its decisions when to bet.

The model is a table of two numbers for each card and question. Replace `Model` by a language model and its update.

pip install 'parlour[openenv]'
python examples/openenv_kuhn.py
"""

import argparse
import json
import random
import socket
import threading
import time

import uvicorn
from parlour.wrappers.openenv import TextClient, app, play

ACTIONS = "pass", "bet"


class Model:
    """The mean reward of every action by what its seat sees.

    It plays at random with the probability `explore`, and otherwise the action with the highest mean.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.explore = 1.0
        self.values: dict[tuple[str, str], list[float]] = {}

    def __call__(self, seen) -> str:
        """Answer an observation."""
        means = [self.mean(seen.prompt, action) for action in ACTIONS]
        best = ACTIONS[means.index(max(means))]
        return json.dumps({"action_type": self.random.choice(ACTIONS) if self.random.random() < self.explore else best})

    def mean(self, prompt, action: str) -> float:
        """Return the mean reward of an action after a prompt."""
        rewards = self.values.get((prompt[-1]["content"], action), [0.0])
        return sum(rewards) / len(rewards)

    def learn(self, decisions) -> None:
        """Remember the rewards of an episode's decisions."""
        for prompt, message, reward in decisions:
            key = prompt[-1]["content"], json.loads(message)["action_type"]
            self.values.setdefault(key, []).append(reward)


def main(argv=None):
    """Play against the random bot; return the chips per hand of the first third, played at random, and of the last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(argv)
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app("kuhn"), log_level="warning"))
    threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    model, won = Model(settings.seed), []
    url = f"http://127.0.0.1:{place.getsockname()[1]}"
    with TextClient(base_url=url, message_timeout_s=300, websocket_ping_interval_s=None).sync() as client:
        third = settings.hands // 3
        for hand in range(settings.hands):
            model.explore = 1.0 if hand < third else 0.2 if hand < 2 * third else 0.0
            seat = f"player_{hand % 2}"
            episode = play(client, model, seed=settings.seed * 1_000_000 + hand, opponents="random", seat=seat)
            model.learn(episode.decisions[seat])
            won.append(episode.returns[seat])
    server.should_exit = True
    first, last = sum(won[:third]) / third, sum(won[-third:]) / third
    print(f"{first:+.2f} chips per hand at random, {last:+.2f} with what it has learned")
    return first, last


if __name__ == "__main__":
    main()
