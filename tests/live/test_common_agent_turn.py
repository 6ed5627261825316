"""The turn of a live agent, in every game: what a player answers with a legal action is offered."""

import pytest
from cases import CASES
from parlour import envs
from parlour.envs.core.aec import GameEnv
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.policies.base import RandomPolicy

DECISIONS = 60


@pytest.mark.parametrize(("game_id", "options"), [case.values[0] for case in CASES], ids=[case.id for case in CASES])
def test_legal_answers_are_played_as_they_are(game_id, options):
    env = GameEnv(envs.game(game_id, **options), "flat")
    env.reset(seed=5)
    player = PolicyAgent(env.game, RandomPolicy(seed=5))
    for _ in range(DECISIONS):
        if env.table.done:
            break
        agent = env.agent_selection
        state = env.turn_state(agent)
        answer = player.respond(state)
        assert Turn(state).settle(lambda answer=answer: answer) == (answer, None)
        assert env.submit(agent, answer).ok
