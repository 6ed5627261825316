"""Language models as agents of any game: against endpoints that misbehave in every way, and a real small model."""

import asyncio
import json
import logging
from functools import partial

import endpoint
import pytest
from aiohttp import web
from needs import library
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.training.commands.arguments import PromptArguments
from parlour.wrappers.agents import language_model
from parlour.wrappers.agents.answers import last_choice
from parlour.wrappers.agents.language_model import Model, ModelCall, ModelError
from parlour.wrappers.agents.llm import LLMAgent
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.logs.program_log import program_log
from parlour.wrappers.policies.loading import make_policy

library("openai")
BARGAINING = envs.game("bargaining")
CHAT = [{"role": "user", "content": "Well?"}]
SCHEMA = {"type": "object", "properties": {"targetId": {"enum": ["p2"]}}, "required": ["targetId"]}
TARGET = partial(last_choice, key="targetId")


def run(main, within=120):
    return asyncio.run(asyncio.wait_for(main, within))


def model(url, **settings):
    return Model(name="stub", base_url=url, **{"timeout": 60, "retries": 1, **settings})


async def read(stream):
    return [chunk async for chunk in stream]


async def test_a_stream_without_an_end_of_a_line_is_given_up_long_before_the_timeout():
    sent = []

    async def endless(request, body):
        response = await endpoint.stream(request, b"data: ")
        while True:
            sent.append(2**18)
            await response.write(b"x" * 2**18)
            await asyncio.sleep(0)

    async with endpoint.endpoint(endless) as (url, _):
        call = ModelCall()
        with pytest.raises(ModelError, match="more than 16,777,216 bytes") as raised:
            await read(model(url, timeout=100).stream(CHAT, call))
        fault, call = raised.value.fault, call
    assert fault == "unparsable" and call.faults == ["unparsable"] and call.seconds < 60
    assert sum(sent) < 2 * language_model.MOST_STREAMED


async def test_a_choice_is_constrained_by_its_schema():
    async with endpoint.endpoint(endpoint.talking()) as (url, asked):
        answer, asked = await model(url).choose(CHAT, SCHEMA, TARGET), asked
    assert answer == {"targetId": "p2"}
    assert asked[0][0]["response_format"]["json_schema"]["schema"] == SCHEMA


async def test_an_endpoint_without_schemas_is_asked_in_words():
    async def answer(request, body):
        if "response_format" in body:
            return web.json_response({"error": {"message": "response_format is not supported"}}, status=400)
        return web.json_response(endpoint.said('Sure! ```json\n{"targetId": "p2"}\n```'))

    async with endpoint.endpoint(answer) as (url, asked):
        chosen, asked = await model(url).choose(CHAT, SCHEMA, TARGET), asked
    assert chosen == {"targetId": "p2"}
    assert json.dumps(SCHEMA) in asked[1][0]["messages"][-1]["content"]


async def test_what_does_not_fit_is_asked_for_again_with_the_reason():
    answers = iter(("nonsense", '{"targetId": "p2"}'))

    async def answer(request, body):
        return web.json_response(endpoint.said(next(answers)))

    async with endpoint.endpoint(answer) as (url, asked):
        chosen, asked = await model(url).choose(CHAT, SCHEMA, TARGET), asked
    assert chosen == {"targetId": "p2"} and "no JSON object" in asked[1][0]["messages"][-1]["content"]


@pytest.mark.parametrize("kind", endpoint.MISBEHAVIOURS)
def test_every_misbehaviour_is_one_error_in_time(kind, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-private")

    async def main():
        async with endpoint.endpoint(endpoint.MISBEHAVIOURS[kind]) as (url, asked):
            errors = []
            for ask in (lambda m: read(m.stream(CHAT)), lambda m: m.choose(CHAT, SCHEMA, TARGET)):
                if (kind, len(errors)) == ("slow in the middle", 1):
                    continue
                with pytest.raises(ModelError) as error:
                    await ask(model(url, timeout=0.3 if "slow" in kind else 60))
                errors.append(str(error.value))
            return errors, asked

    errors, asked = run(main())
    assert not any("sk-very-private" in error for error in errors)
    assert all(headers["Authorization"] == "Bearer sk-very-private" for _, headers in asked)
    if kind in ("429", "500"):
        assert len(asked) == 4 and f"HTTP {kind}" in errors[0]  # one more try each
    if "slow" in kind:
        assert "within 0.3 s" in errors[0]


def test_nobody_at_the_endpoint():
    with pytest.raises(ModelError, match="it cannot be reached"):
        run(model("http://127.0.0.1:9/v1", retries=0).choose(CHAT, SCHEMA, TARGET))


def first_turn(game):
    table = game.tables(1)[0]
    table.stream = 5
    game.rules.reset(table)
    return table, game.turn_state(table, int(table.turn))


def bot(game, name="random"):
    return PolicyAgent(game, make_policy(name, game, seed=1))


def served(answer, within):
    """Run `within(url)` in a thread, as a match does, beside an endpoint."""

    async def main():
        async with endpoint.endpoint(answer) as (url, asked):
            return await asyncio.to_thread(within, url), asked

    return run(main())


def test_an_agent_answers_a_turn():
    _, state = first_turn(BARGAINING)
    choice = json.dumps({"action_type": "submit_offer", "payload": {"my_share": 60}, "say": "A fair offer."})
    answer, asked = served(
        endpoint.talking(choice=choice), lambda url: LLMAgent(model(url), bot(BARGAINING)).respond(state)
    )
    assert answer.action == Action("submit_offer", {"my_share": 60}) and answer.messages[0].content == "A fair offer."
    assert "my_reservation_value" in asked[0][0]["messages"][1]["content"]
    schema = asked[0][0]["response_format"]["json_schema"]["schema"]
    assert {variant["properties"]["action_type"]["enum"][0] for variant in schema["anyOf"]} == {
        offer.action_type for offer in state.allowed_actions
    }


@pytest.mark.parametrize("choice", ["{}", '{"action_type": "rob"}', '{"action_type": "accept", "payload": 3}', "[]"])
def test_a_fallback_answers_where_the_model_does_not(choice, caplog):
    _, state = first_turn(BARGAINING)

    def play(url):
        agent = LLMAgent(model(url), bot(BARGAINING))
        return agent.respond(state), agent.replaced

    with caplog.at_level(logging.WARNING):
        (answer, replaced), asked = served(endpoint.talking(choice=choice), play)
    assert isinstance(answer, AgentResponse) and replaced == 1 and len(asked) == 2
    assert len([line for line in caplog.records if "fallback" in line.message]) == 1


def test_an_agent_answers_where_an_event_loop_runs_already(caplog):
    """As in a notebook's cell."""
    _, state = first_turn(BARGAINING)
    agent = LLMAgent(model("http://127.0.0.1:9/v1", retries=0), bot(BARGAINING))

    async def cell():
        return agent.respond(state)

    assert isinstance(run(cell()), AgentResponse) and agent.replaced == 1


def test_without_a_fallback_the_failure_is_reported():
    _, state = first_turn(BARGAINING)

    def play(url):
        with pytest.raises(ModelError, match="no answer that fits"):
            LLMAgent(model(url), None).respond(state)

    served(endpoint.talking(choice="{}"), play)


def test_where_the_rules_keep_talk_for_actions_a_model_adds_none():
    _, state = first_turn(BARGAINING)
    choice = json.dumps({"action_type": "pass", "payload": {}, "say": "psst"})
    answer, asked = served(
        endpoint.talking(choice=choice), lambda url: LLMAgent(model(url), None, talks=False).respond(state)
    )
    assert answer == AgentResponse(Action("pass"))
    assert '"say"' not in json.dumps(asked[0][0]["response_format"])


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""},
        {"max_tokens": 0},
        {"timeout": 0},
        {"temperature": 3},
        {"retries": -1},
        {"attempts": 0},
        {"prices": (-1, 1)},
        {"prices": (float("nan"), 1)},
    ],
)
def test_wrong_settings_are_reported(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Model(**{"name": "m", **settings})


def test_no_problem_and_no_fact_of_a_model_names_the_password_of_its_url():
    url = "http://ann:sesame@127.0.0.1:9/v1?key=sesame"
    call = ModelCall()
    with pytest.raises(ModelError) as error:
        run(Model(name="stub", base_url=url.partition("?")[0], retries=0).choose(CHAT, SCHEMA, TARGET, call=call))
    for text in (str(error.value), str(call.problem)):
        assert "127.0.0.1:9/v1" in text and "sesame" not in text
    facts = PromptArguments(model="stub", llm_url=url).facts()
    assert facts["llm_url"] == "http://…@127.0.0.1:9/v1?…"
    assert PromptArguments(model="stub").facts()["llm_url"] is None


def test_a_program_writes_no_request_with_its_url_into_its_log(tmp_path):
    def ask(url):
        with program_log(file=tmp_path / "program.log"):
            run(model(url.replace("//", "//ann:sesame@")).choose(CHAT, SCHEMA, TARGET))
            logging.getLogger("somebody").info("asked")

    served(endpoint.talking(), ask)
    written = (tmp_path / "program.log").read_text()
    assert "asked" in written and "sesame" not in written and "127.0.0.1" not in written
