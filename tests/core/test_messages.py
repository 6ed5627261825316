"""Messages of GameEnv: their readers, their limits, and what a game records of them."""

from dataclasses import replace

import numpy as np
import three_cards
from parlour import envs
from parlour.envs import Action, AgentResponse, Capabilities, GameEnv, MessageIntent, Talk
from parlour.envs.core.match import WAITS_PER_TURN
from parlour.envs.core.turn_state import MESSAGES_PER_TURN

WAIT = Action("message_only")


def table():
    env = envs.make("holdem", seats=3, button=0)
    env.reset(seed=7)
    return env


def say(content="hello", scope="public", to=None):
    return MessageIntent(scope, content, to)


def heard(env, agent):
    return [message.content for message in env.turn_state(agent).messages]


def test_messages_reach_their_readers_before_the_action():
    env = table()
    assert env.submit("player_0", AgentResponse(Action("call"), [say("all"), say("you", "private", ["player_2"])])).ok
    assert [heard(env, agent) for agent in env.agents] == [["all", "you"], ["all"], ["all", "you"]]
    message = env.turn_state("player_2").messages[1]
    assert (message.sender_id, message.scope, message.to_agent_ids) == ("player_0", "private", ["player_2"])


def test_messages_are_limited_per_turn():
    env = table()
    results = [env.send("player_2", say()) for _ in range(MESSAGES_PER_TURN + 1)]
    assert [result.ok for result in results] == [True] * MESSAGES_PER_TURN + [False]
    assert env.send("player_1", say()).ok
    env.step(1)
    assert env.send("player_2", say()).ok


def test_message_only_keeps_the_turn_until_the_limit_and_then_the_safe_action_is_played():
    env = table()
    for _ in range(WAITS_PER_TURN):
        assert env.submit("player_0", WAIT).ok
        assert env.agent_selection == "player_0"
    assert env.submit("player_0", WAIT).ok
    assert (env.agent_selection, bool(env.table.folded[0])) == ("player_1", True)
    assert env.submit("player_1", WAIT).ok
    assert env.agent_selection == "player_1"


def test_what_a_game_hears_is_observed_at_once():
    def hear(table, seat, intent):
        table.moves[0], table.count = 1, 1

    heard = Capabilities(talk=Talk(record_message=hear))
    env = GameEnv(replace(three_cards.game(), capabilities=heard), "flat")
    env.reset(seed=1)
    env.submit("player_0", AgentResponse(WAIT, [say()]))
    shown = env.observe("player_0")["observation"]
    assert np.array_equal(shown, env.game.observation(env.table, 0))
