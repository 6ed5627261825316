"""Decisions per second of making a replay page from a log."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from parlour.envs import GameEnv
from parlour.envs import game as make_game
from parlour.wrappers.logs.match_log import MatchLog, Recorder
from parlour.wrappers.replay.page import MatchPages, page

from .base import Row, Seconds, rate


def replay(seconds: Seconds) -> list[Row]:
    """`parlour replay`: from a log to a page with every view of every moment; with `--serve` only to its matches."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        match, live = Path(folder, "match.jsonl"), Path(folder, "live.jsonl")
        for what, name, options in (
            ("hold'em, 2 seats", "holdem", {"seats": 2}),
            ("hold'em, 6 seats", "holdem", {"seats": 6}),
            ("auction", "auction", {}),
            ("bargaining", "bargaining", {}),
            ("tangram", "tangram", {}),
            ("mafia, 10 seats", "mafia", {"seats": 10}),
        ):
            decisions = _logged(match, live, name, **options)
            for log, whose in ((match, "a match, every view"), (live, "one agent's live log")):
                value = rate(partial(_paged, log, decisions), seconds, 4)
                rows.append(Row("replay", f"{what}: {whose}", value, "decisions/s", 5e3 if log is live else None))
            value = rate(partial(_listed, match, decisions), seconds, 4)
            rows.append(Row("replay", f"{what}: all matches, drawn when opened", value, "decisions/s", 5e3))
    return rows


def _paged(log: Path, decisions: int) -> int:
    from parlour.wrappers.replay.log_reader import moments

    page(moments(log), "a log")
    return decisions


def _listed(log: Path, decisions: int) -> int:
    MatchPages(log, "a log").contents()
    return decisions


def _logged(match: Path, live: Path, name: str, decisions: int = 500, **options: Any) -> int:
    """Write the log of random legal matches, and what its agents' live logs would hold; return how many decisions."""
    game = make_game(name, **options)
    env, generator, count = GameEnv(game, "flat"), np.random.default_rng(0), 0
    with MatchLog(match, append=False) as log, MatchLog(live, append=False) as heard:
        while count < decisions:
            recorder = Recorder(log, env, count)
            while not env.table.done:
                state = env.turn_state(env.agent_selection)
                action = int(generator.choice(np.flatnonzero(game.mask(env.table, int(env.table.turn)))))
                heard.write("turn", turn_state=state, response=game.view.encode(env.table, action))
                recorder.play(action)
                count += 1
    return count
