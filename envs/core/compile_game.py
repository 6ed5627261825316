"""Compiles what one table of a game needs: ``python -m parlour.envs.core.compile_game TASK`` (see `plain_start`)."""

import json
import sys

from .match import Match
from .registry import game


def main(task: str) -> None:
    """Play with every bot of the game, so that each function is compiled and kept on disk.

    Args:
        task: a JSON object with the game's id, its options, and the name of the encoder.
    """
    asked = json.loads(task)
    match = Match(game(asked["game"], **asked["options"]), asked["encoder"])
    bots = [make(match.game, 0) for make in match.game.bots.values()]
    match.reset(seed=0)
    for decision in range(40):
        if match.done:
            match.reset()
        state = match.turn_state(match.game.agents[match.turn])
        match.game.view.load(state)
        for seat in range(match.game.seats):
            match.observation(seat)
        batch = match.batch
        actions = [int(bot.act(batch.observations, batch.masks)[0]) for bot in bots] or [int(batch.masks[0].argmax())]
        action = actions[decision % len(actions)]
        if decision % 2:
            match.play(action)
        else:
            match.submit(state.agent_id, match.game.view.encode(match.table, action))


if __name__ == "__main__":
    main(sys.argv[1])
