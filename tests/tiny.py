"""Tiny runs of self-play, and the lines of their files."""

import json

TINY = {
    "algorithm": "selfplay",
    "total_timesteps": 2048,
    "n_envs": 64,
    "n_steps": 8,
    "batch_size": 256,
    "net_arch": (16,),
    "critic_net_arch": (16,),
    "checkpoint_every": 1000,
}


def lines(file):
    """Return what the lines of a file hold as JSON."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
