"""`parlour train`: MaskablePPO against a league of the learner's past selves and bots.

A run folder explains itself: ``config.toml`` (every setting, the game's options included), ``command.txt``,
``model.zip`` (Stable-Baselines3), ``policy.npz`` (the same policy for play without torch), ``metrics.jsonl`` (a line
per iteration), ``tensorboard/``, ``snapshots/`` (the learner's past selves, by steps).
"""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import tyro

from ..algorithms.maskable_ppo import resume, train
from ..learning.config import TrainConfig, load_config


def main(argv: Sequence[str] | None = None) -> Path:
    """Run ``parlour train GAME [--config FILE] [settings]``, or go on with a run: ``parlour train --resume RUN``.

    Args:
        argv: what follows ``parlour train``; None takes the process's arguments.

    Returns:
        The run folder.

    Raises:
        SystemExit: with the message of a mistake in the settings.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    command = ["parlour", "train", *args]
    name = args.pop(0) if args and not args[0].startswith("-") else None
    sources = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    sources.add_argument("--config")
    sources.add_argument("--resume")
    given, rest = sources.parse_known_args(args)
    try:
        if given.resume:
            more = argparse.ArgumentParser("parlour train --resume RUN", description=resume.__doc__)
            more.add_argument("--steps", type=int, default=argparse.SUPPRESS, help="decisions in all")
            more.add_argument("--minutes", type=float, default=argparse.SUPPRESS, help="from now on")
            more.add_argument("--no-progress", dest="progress", action="store_false")
            return resume(given.resume, command=command, **vars(more.parse_args(rest)))
        if not (name or given.config or {"-h", "--help"} & set(rest)):
            raise ValueError("give a game, as in `parlour train holdem`, a --config FILE, or a run to --resume")
        if given.config and not given.config.endswith(".toml"):
            raise ValueError(f"--config {given.config}: need a TOML file, *.toml")
        chosen = {"game": name} if given.config and name else {}
        default = load_config(given.config or name or "holdem", **chosen)
        config = tyro.cli(
            TrainConfig,
            prog=f"parlour train {name or 'GAME'}",
            description="Train a policy. --config FILE: settings from a TOML file; --resume RUN: go on with a run.",
            default=default,
            args=rest,
        )
        return train(dataclasses.replace(config, options={**default.options, **config.options}), command)
    except (ValueError, OSError) as error:
        raise SystemExit(f"parlour train: {error}") from None
