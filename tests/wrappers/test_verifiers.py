"""The adapter to verifiers, through verifiers' own loop and an endpoint on loopback. `make frameworks` runs it."""

import asyncio
import sys
import types

import pytest
from aiohttp import web
from endpoint import endpoint, said
from mirror import Mirror
from needs import framework
from parlour.wrappers import Prompting

vf = framework("verifiers.v1")
from parlour.wrappers.verifiers import GameTaskset, SeatHarness, game_env  # noqa: E402


@pytest.fixture
def module(monkeypatch):
    """Returns a function that makes the module of a game, as a user writes one."""

    def made(game, **options):
        found = types.ModuleType("game_under_test")
        found.GameTaskset, found.SeatHarness, found.Env = GameTaskset, SeatHarness, game_env(game, **options)
        found.__all__ = ["GameTaskset", "SeatHarness", "Env"]
        monkeypatch.setitem(sys.modules, found.__name__, found)
        found.__spec__ = types.SimpleNamespace(name=found.__name__)
        return found.__name__

    return made


def played(module, model, tasks=1, **settings):
    """Play tasks of a module; `model` returns the text of an answer to the body of a request."""

    async def answer(request, body):
        reply = model(body)
        return web.json_response(said(reply) if isinstance(reply, str) else said(None, "tool_calls", **reply))

    async def play():
        taskset = {"id": module, **settings.pop("taskset", {})}
        env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, **settings}))
        async with endpoint(answer) as (url, _), env.serving():
            context = vf.ModelContext(
                model="stub", client=vf.EvalClientConfig(base_url=url, api_key_var="NONE"), sampling=vf.SamplingConfig()
            )
            return [await env.run_slot(slot, context) for task in env.taskset.take(tasks) for slot in env.slots(task)]

    episodes = asyncio.run(play())
    return [({trace.agent.name: trace for trace in episode.traces}, episode) for episode in episodes]


def test_an_episode_of_every_game_returns_what_the_environment_does(game, module):
    mirror = Mirror(game, 5)
    ((seats, episode),) = played(module(game), lambda body: mirror(mirror.agent), taskset={"first": 5}, penalty=0.0)
    assert episode.ok, episode.errors
    assert mirror.match.done
    assert {name: trace.reward for name, trace in seats.items()} == pytest.approx(mirror.returns)
    assert sum(trace.metrics["refused"] for trace in seats.values()) == 2 * mirror.replaced
    assert all(trace.num_turns == trace.metrics["decisions"] for trace in seats.values())


def bets(body):
    return '{"action_type": "bet"}'


def test_opponents_are_frozen_and_a_task_names_the_seat(module):
    taskset = {"seats": ["player_0", "player_1"], "first": 7}
    episodes = played(module("kuhn"), bets, tasks=4, taskset=taskset, opponents="zoo:kuhn")
    for number, (seats, episode) in enumerate(episodes):
        assert episode.ok, episode.errors
        assert episode.task.data.seed == 7 + number
        mine, other = (seats[f"player_{seat}"] for seat in (number % 2, 1 - number % 2))
        assert (mine.agent.trainable, other.agent.trainable) == (True, False)
        assert (other.num_turns, other.info["opponent"]) == (0, "zoo:kuhn")
        assert mine.num_turns == mine.metrics["decisions"] == len(mine.info["rewards"]) == 1
        assert mine.reward == mine.info["rewards"][0] == -other.reward != 0


def test_a_seat_with_a_model_of_its_own_is_frozen(module):
    asked = []

    def model(body):
        asked.append(body["model"])
        return bets(body)

    ((seats, _),) = played(module("kuhn"), model, player_1={"model": "old"})
    assert asked == ["stub", "old"]
    assert [seats[name].agent.trainable for name in ("player_0", "player_1")] == [True, False]


def test_a_conversation_is_its_seats_own_and_refusals_are_told_and_counted(module):
    bodies = []
    answers = iter(["I bet.", '{"action_type": "call"}', '{"action_type": "bet"}', '{"action_type": "pass"}'])

    def model(body):
        bodies.append(body["messages"])
        return next(answers)

    ((seats, episode),) = played(module("kuhn", prompting=Prompting(view="words")), model, tries=3)
    assert episode.ok, episode.errors
    first, second = seats["player_0"], seats["player_1"]
    assert [
        (seat.metrics["decisions"], seat.metrics["refused"], seat.metrics["illegal"]) for seat in (first, second)
    ] == [(3, 2, 1), (1, 0, 0)]
    assert first.info["rewards"] == pytest.approx([-0.1, -0.1, 1])
    assert (first.reward, second.reward) == pytest.approx((0.8, -1))
    assert [len(messages) for messages in bodies] == [2, 4, 6, 2]
    assert bodies[2][:2] == bodies[0]
    assert "no JSON object" in bodies[1][-1]["content"]
    for messages, name in ((bodies[0], "player_0"), (bodies[3], "player_1")):
        assert messages[0]["role"] == "system"
        assert f"You are {name}" in messages[0]["content"]
    card = [messages[1]["content"] for messages in (bodies[0], bodies[3])]
    assert card[0] != card[1]
    assert len(first.branches) == 1  # one sample for a trainer


def test_a_call_of_a_tool_in_a_reply_is_a_refused_answer_and_the_episode_goes_on(module):
    call = {"id": "c1", "type": "function", "function": {"name": "bet", "arguments": "{}"}}
    bodies = []

    def model(body):
        bodies.append(body["messages"])
        return {"content": None, "tool_calls": [call]} if len(bodies) == 1 else '{"action_type": "bet"}'

    ((seats, episode),) = played(module("kuhn"), model)
    assert episode.ok, episode.errors
    assert seats["player_0"].metrics["refused"] == 1
    assert bodies[1][2]["tool_calls"] == [call]


def test_the_game_goes_on_without_a_seat_whose_turns_are_used_up(module):
    model = lambda body: '{"action_type": "call"}'  # noqa: E731
    ((seats, episode),) = played(module("leduc"), model, player_0={"max_turns": 1})
    assert episode.ok, episode.errors
    trace = seats["player_0"]
    assert trace.num_turns == 1
    assert trace.metrics["decisions"] > 1
    assert trace.metrics["refused"] == trace.metrics["decisions"] - 1
    assert seats["player_1"].metrics["refused"] == 0


def test_an_endpoint_that_fails_is_an_episode_that_failed(module):
    def model(body):
        raise web.HTTPUnauthorized(text="wrong key")

    ((_, episode),) = played(module("kuhn"), model)
    assert not episode.ok
    assert "player_0 failed" in episode.errors[-1].message


def test_what_cannot_be_is_an_error_before_the_first_episode(module):
    for settings, words in [
        ({"opponents": "nobody"}, "nobody"),
        ({"opponents": "random", "taskset": {"seats": ["dealer"]}}, "the agents are player_0, player_1"),
        ({"opponents": {"player_0": "random", "player_1": "random"}}, "not all"),
        ({"tries": 0}, "greater than or equal to 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            played(module("kuhn"), bets, **settings)
