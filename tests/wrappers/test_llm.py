"""Language models as agents of any game: how they are asked, what they answer, endpoints that misbehave."""

import asyncio
import json
import logging
from functools import partial

import endpoint
import jsonschema
import numpy as np
import pytest
from aiohttp import web
from beginnings import record
from cases import slow_but
from live.event_loops import run
from mafia_players import context
from needs import library
from parlour import envs
from parlour.envs import Action, AgentResponse, Match, find, how_to_play
from parlour.training.commands.arguments import PromptArguments
from parlour.wrappers.agents import language_model
from parlour.wrappers.agents.answers import Spoken, last_choice, parse, spoken
from parlour.wrappers.agents.language_model import LLMAgent, Model, ModelCall, ModelError
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.agents.prompt import Prompting, Skin, in_words, load_prompts
from parlour.wrappers.live.mafia.agents import MafiaLLMAgent
from parlour.wrappers.logs.program_log import program_log
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.text import TextGame
from random_play import states

library("openai")
BARGAINING = envs.game("bargaining")
CHAT = [{"role": "user", "content": "Well?"}]
SCHEMA = {"type": "object", "properties": {"targetId": {"enum": ["p2"]}}, "required": ["targetId"]}
TARGET = partial(last_choice, key="targetId")


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
    assert raised.value.fault == "unparsable" and call.faults == ["unparsable"] and call.seconds < 60
    assert sum(sent) < 2 * language_model.MOST_STREAMED


async def test_an_endpoint_without_schemas_is_asked_in_words():
    async def answer(request, body):
        if "response_format" in body:
            return web.json_response({"error": {"message": "response_format is not supported"}}, status=400)
        return web.json_response(endpoint.said('Sure! ```json\n{"targetId": "p2"}\n```'))

    async with endpoint.endpoint(answer) as (url, asked):
        chosen = await model(url).choose(CHAT, SCHEMA, TARGET)
    assert chosen == {"targetId": "p2"}
    assert json.dumps(SCHEMA) in asked[1][0]["messages"][-1]["content"]


async def test_what_does_not_fit_is_asked_for_again_with_the_reason():
    async with endpoint.endpoint(endpoint.saying("nonsense", '{"targetId": "p2"}')) as (url, asked):
        chosen = await model(url).choose(CHAT, SCHEMA, TARGET)
    assert chosen == {"targetId": "p2"} and "no JSON object" in asked[1][0]["messages"][-1]["content"]


FAULTS = {"slow": "late", "refuses": "refused", "500": "failed"}


@pytest.mark.parametrize("kind", endpoint.MISBEHAVIOURS)
async def test_every_misbehaviour_is_one_error_in_time(kind, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-private")

    async with endpoint.endpoint(endpoint.MISBEHAVIOURS[kind]) as (url, asked):
        errors = []
        for ask in (lambda m: read(m.stream(CHAT)), lambda m: m.choose(CHAT, SCHEMA, TARGET)):
            if (kind, len(errors)) == ("slow in the middle", 1):
                continue
            with pytest.raises(ModelError) as error:
                await ask(model(url, timeout=0.3 if "slow" in kind else 60))
            errors.append(str(error.value))
        assert error.value.fault == FAULTS.get(kind, error.value.fault)

    assert not any("sk-very-private" in error for error in errors)
    assert all(headers["Authorization"] == "Bearer sk-very-private" for _, headers in asked)
    if kind in ("429", "500"):
        assert len(asked) == 4 and f"HTTP {kind}" in errors[0]  # one more try each
    if kind == "307":
        assert len(asked) == 2 and "it sends us to http://localhost:1/v1?…" in errors[0]
    if "slow" in kind:
        assert "within 0.3 s" in errors[0]


def first_turn(game):
    table = record(game, 5)
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


@pytest.mark.parametrize("choice", ['{"action_type": "rob"}', '{"action_type": "accept", "payload": 3}', "[]"])
def test_a_fallback_answers_where_the_model_does_not(choice, caplog):
    _, state = first_turn(BARGAINING)

    def play(url):
        agent = LLMAgent(model(url), bot(BARGAINING))
        return agent.respond(state), agent.replaced

    with caplog.at_level(logging.WARNING):
        (answer, replaced), asked = served(endpoint.talking(choice=choice), play)
    assert isinstance(answer, AgentResponse) and replaced == 1 and len(asked) == 2
    assert len([line for line in caplog.records if "fallback" in line.message]) == 1


async def test_an_agent_answers_where_an_event_loop_runs_already(caplog):
    """As in a notebook's cell."""
    _, state = first_turn(BARGAINING)
    agent = LLMAgent(model("http://127.0.0.1:9/v1", retries=0), bot(BARGAINING))

    result = agent.respond(state)

    assert isinstance(result, AgentResponse) and agent.replaced == 1


def test_where_the_rules_keep_talk_for_actions_a_model_adds_none():
    _, state = first_turn(BARGAINING)
    choice = json.dumps({"action_type": "pass", "payload": {}, "say": "psst"})
    answer, asked = served(
        endpoint.talking(choice=choice), lambda url: LLMAgent(model(url), None, talks=False).respond(state)
    )
    assert answer == AgentResponse(Action("pass"))
    assert '"say"' not in json.dumps(asked[0][0]["response_format"])


def test_wrong_settings_are_reported():
    wrong = {"name": "", "max_tokens": 0, "timeout": 0, "temperature": 3, "retries": -1, "attempts": 0}
    for name, value in [*wrong.items(), ("prices", (-1, 1)), ("prices", (float("nan"), 1))]:
        with pytest.raises(ValueError, match=name):
            Model(**{"name": "m", name: value})


def test_no_problem_and_no_fact_of_a_model_names_the_password_of_its_url():
    url = "http://ann:sesame@127.0.0.1:9/v1?key=sesame"
    call = ModelCall()
    with pytest.raises(ModelError) as error:
        run(Model(name="stub", base_url=url.partition("?")[0], retries=0).choose(CHAT, SCHEMA, TARGET, call=call))
    assert "it cannot be reached" in str(error.value)
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


BET, PASS = '{"action_type": "bet", "payload": {}}', '{"action_type": "pass", "payload": {}}'
ANSWERS = {
    f"<think>Perhaps {PASS}?</think>\n{BET}": "bet",
    f"<think>{PASS}</think> {BET} <thinking>or {PASS}</thinking>": "bet",
    f"<think>I <think>{PASS}</think> {PASS}</think>{BET}": "bet",
    f"Perhaps {PASS}.</think>{BET}": "bet",  # the template writes the beginning
    f"[THINK]{PASS}[/THINK]{BET}": "bet",
    f"{BET}<think>no, {PASS}": "bet",
    f"I could play {PASS}, but I prefer {BET}, and that is {{final}}.": "bet",
    f"{PASS}\nAction: bet": "bet",
    f"Action: pass\n{BET} it is": "bet",
    "**Action:** `bet`\nBecause I may win.": "bet",
    "My final action: Bet.": "bet",
    "bet": "bet",
    '{"action_type": "bet", "payload": null}': "bet",
    " **Bet.**\n": "bet",
    f"<think>{BET}": "unfinished",
    f"<think>{BET}</think>": "unfinished",
    "<think>bet": "unfinished",
    "": "unparsable",
    "fly": "unparsable",
    "I bet": "unparsable",
    '{"action_type": 7}': "unparsable",
    '{"action_type": "fly", "payload": {}}': "illegal",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_text_game_and_an_agent_read_the_same(answer):
    table = TextGame("kuhn", retries=0)
    turn = table.reset(seed=1)
    after = table.step(answer)
    faults = table.faults["player_0"]
    played = after.info["turn_state"].game_state["action_history"][-1]["action"]
    read = [next(iter(faults), played)]

    async def main():
        async with endpoint.endpoint(endpoint.saying(answer)) as (url, _):
            agent = LLMAgent(Model(name="stub", base_url=url, attempts=1), None)
            try:
                return (await agent.answer(turn.info["turn_state"])).action.action_type
            except ModelError as error:
                return error.fault

    assert [*read, asyncio.run(main())] == [ANSWERS[answer]] * 2


def test_values_behind_a_word_are_those_of_the_offer():
    state = TextGame("holdem", seats=2).reset(seed=1).info["turn_state"]
    for text in ("Action: raiseTo 40", 'Action: raiseTo {"amount": 40}', "action: RAISETO to 40"):
        assert parse(text, state.allowed_actions) == Action("raiseTo", {"amount": 40})


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_a_stream_says_what_the_whole_answer_says(size):
    for text in [
        *ANSWERS,
        "I <3 Bob [laughs] and 2 < 3. <b>No</b> ◁think▷I am the mafia◁/think▷ <",
        "<think >x</Think>y",
    ]:
        reader = Spoken()
        parts = [reader.take(text[at : at + size]) for at in range(0, len(text), size)]
        parts.append(reader.take("", last=True))
        assert reader.text == spoken(text)
        assert reader.began_inside or "".join(parts) == spoken(text)
        assert "mafia" not in "".join(parts)


SECRET = "I am the mafia. I shall kill Bob."
STREAMS = {  # the content, what comes beside it, why it ends; what is said
    "thought first": ((f"<think>{SECRET}</think>", "Good day, Bob."), {}, "stop", "Good day, Bob."),
    "tag in pieces": (("<thi", f"nk>{SECRET}</th", "ink> Good ", "day."), {}, "stop", "Good day."),
    "no beginning": ((SECRET, " </think>", "Good day."), {}, "stop", "Good day."),
    "no end": ((f"Good day.<think>{SECRET}",), {}, "stop", "Good day."),
    "a field of its own": (("Good day.",), {"reasoning_content": SECRET}, "stop", "Good day."),
    "only a thought": ((f"<think>{SECRET}",), {}, "length", None),
    "only a field": (("",), {"reasoning_content": SECRET}, "stop", None),
    "cut in a thought without a beginning": ((SECRET,), {}, "length", None),
}


@pytest.mark.parametrize("kind", STREAMS)
async def test_mafia_never_says_a_thought(kind, caplog):
    parts, beside, finish, said = STREAMS[kind]

    async def answer(request, body):
        end = json.loads(endpoint.part("").decode().removeprefix("data: "))
        end["choices"][0]["finish_reason"] = finish
        pieces = [endpoint.part(None, **beside), *(endpoint.part(text) for text in parts)]
        return await endpoint.stream(request, *pieces, f"data: {json.dumps(end)}\n\n".encode(), b"data: [DONE]\n\n")

    with caplog.at_level(logging.WARNING):
        async with endpoint.endpoint(answer) as (url, _):
            player = MafiaLLMAgent("p1", "Ann", Model(name="stub", base_url=url), seed=1)
            state, _, public = context("DAY_DISCUSSION", role="mafia")
            text = "".join(await read(player.say(state, public)))
    (call,) = player.take_calls()
    assert "mafia" not in text and text.strip()
    assert (text == said, player.replaced, call.faults) == ((True, 0, []) if said else (False, 1, ["unfinished"]))
    assert ("--max-tokens" in (player.replacement or "")) == (said is None)


VOTES = {
    f'<think>{{"targetId": "p3"}} {SECRET}</think>{{"targetId": "p2"}}': "p2",
    '{"targetId": "p3"}, no: {"targetId": null}': None,
    '{"targetId": "p3"}\nAction: p2': "p2",
    "p2.": "p2",
}


@pytest.mark.parametrize("answer", VOTES)
async def test_mafia_reads_votes_so_too(answer):
    async with endpoint.endpoint(endpoint.talking(choice=answer)) as (url, _):
        player = MafiaLLMAgent("p1", "Ann", Model(name="stub", base_url=url), seed=1)
        state, _, public = context("DAY_VOTING")
        assert ((await player.vote(state, public)).target_id, player.replaced) == (VOTES[answer], 0)


async def test_an_answer_that_ends_at_the_most_tokens_is_not_played():
    async with endpoint.endpoint(endpoint.saying(f"{PASS} would be bad", finish="length")) as (url, asked):
        agent = LLMAgent(Model(name="stub", base_url=url, max_tokens=7, temperature=0.5), None)
        with pytest.raises(ModelError, match=r"ended at 7 tokens: allow more \(--max-tokens\)"):
            await agent.answer(TextGame("kuhn").reset(seed=1).info["turn_state"])
    row = agent.statistics.row()
    assert (row["unfinished"], row["replaced"], len(asked)) == (2, 1, 2)
    assert [(body["model"], body["max_tokens"], body["temperature"]) for body, _ in asked] == [("stub", 7, 0.5)] * 2


COUNTED = endpoint.said('{"targetId": "p2"}')
ODD = {  # what an endpoint answers; the problem, or None for an answer that counts
    "<html>": "it answers with no JSON object",
    "[]": "it answers with no JSON object",
    '{"error": "overloaded"}': "its answer has no choices",
    '{"choices": ["a"]}': "its answer has no choices",
    **{
        json.dumps({**COUNTED, "usage": {"prompt_tokens": size, "completion_tokens": 7}}): None
        for size in ("many", -5, None, [3])
    },
}


@pytest.mark.parametrize("body", ODD)
async def test_an_odd_answer_is_told_in_words_or_counts(body):
    async def answer(request, asked):
        return web.Response(text=body, content_type="application/json")

    async with endpoint.endpoint(answer) as (url, _):
        asked, call = model(url, retries=0), ModelCall()
        if ODD[body] is None:
            assert await asked.choose(CHAT, SCHEMA, TARGET, call=call) == {"targetId": "p2"}
            assert (call.input_size, call.output_size) == (None, 7)
        else:
            with pytest.raises(ModelError, match=f"^stub( at http://127.0.0.1:[0-9]+/v1)?: {ODD[body]}$"):
                await asked.choose(CHAT, SCHEMA, TARGET, call=call)


@pytest.mark.parametrize("url", ["http://ann:sesame@h/v1?key=sesame", "ann:sesame@h/v1", "ftp://h", "http://"])
def test_an_address_without_http_or_with_a_query_is_refused_without_its_password(url, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    for given in (url, None):
        with pytest.raises(ValueError, match="--llm-url") as error:
            Model(name="stub", base_url=given)
        assert "sesame" not in str(error.value)


def test_connections_are_kept_while_the_event_loop_runs_and_closed_with_it():
    ports = []

    async def answer(request, body):
        ports.append(request.transport.get_extra_info("peername")[1])
        return await endpoint.talking()(request, body)

    async def main():
        async with endpoint.endpoint(answer) as (url, _):
            for one in (model(url), model(url)):
                await one.choose(CHAT, SCHEMA, TARGET)
                await read(one.stream(CHAT))
                clients.append(await one._client())

    clients = []
    for _ in range(2):
        run(main())
    assert [len(set(ports[at : at + 4])) for at in (0, 4)] == [1, 1]
    assert clients[0] is clients[1] is not clients[2]
    assert all(client.is_closed() for client in clients) and not language_model._clients


def test_answers_of_a_text_game_send_no_messages_and_thoughts_are_not_repeated():
    table = TextGame("bargaining", retries=1, penalty=-0.5)
    turn = table.reset(seed=1)
    assert "message_only" not in json.dumps(turn.prompt)
    again = table.step('<think>a secret</think>{"action_type": "message_only"}')
    assert "message_only is not offered" in again.refused and again.rewards[turn.agent] == -0.5
    assert "secret" not in json.dumps(again.prompt)
    end = table.step('{"action_type": "message_only"}')
    assert end.info["replaced"] and table.faults[turn.agent] == {"illegal": 2}
    assert "message_only" in envs.how_to_play(table.game)  # for those who may wait


@pytest.mark.parametrize("view", ("json", "compact", "words"))
def test_every_view_shows_the_state_and_the_offers_of_every_game(game, view):
    for state in states(game, 3, 12):
        shown, hidden = (Prompting(view=view, legal=legal).state(state) for legal in (True, False))
        offers = [offer.action_type for offer in state.allowed_actions]
        assert len(hidden) < len(shown)
        if view == "json":
            assert json.loads(hidden)["game_state"] == json.loads(json.dumps(state.game_state))
            assert [offer["action_type"] for offer in json.loads(shown)["allowed_actions"]] == offers
        else:
            lines = shown.partition("\nYou may:\n")
            assert lines[0] == hidden
            assert [line.removeprefix("- ").split()[0].rstrip(":") for line in lines[2].splitlines()] == offers
        if view == "compact":
            assert {line.partition(":")[0] for line in hidden.splitlines()} >= set(state.game_state)
        if view == "words":
            assert len(hidden.splitlines()) >= len(state.game_state)


def test_words_are_words():
    state = {"phase": "betting", "myCard": "K", "board": [], "last_offer_by": None, "talk": True, "to_call": 2.0}
    assert in_words(state | {"moves": [{"agent_id": "a", "chips": {"b": 1.5}}]}).splitlines() == [
        "Phase is betting.",
        "My card is K.",
        "Board: none.",
        "Last offer by is not there.",
        "Talk: yes.",
        "To call is 2.",
        "Moves: a, chips (b 1.5).",
    ]


def test_the_rules_are_told_and_texts_are_replaced(tmp_path):
    game = TextGame("leduc")
    system, turn = game.reset(seed=1).prompt
    assert system["content"].startswith(how_to_play(game.game)) and "You are player_0" in system["content"]
    file = tmp_path / "mine.toml"
    file.write_text('system = "Play $game as $agent for $$1. $answer"\nanswer = "One word."\nturn = "Look: $state"\n')
    mine = TextGame("leduc", prompting=Prompting(prompts=load_prompts(file), view="compact"))
    system, turn = mine.reset(seed=1).prompt
    assert system["content"] == "Play leduc-v0 as player_0 for $1. One word."
    assert turn["content"].startswith("Look: phase: first\n")
    assert mine.step("what?").prompt[-1]["content"].endswith("One word.")
    for wrong in ('system = "$nothing"', 'turns = "$state"', "turn = 3", "turn"):
        file.write_text(wrong)
        with pytest.raises(ValueError, match=r"mine\.toml"):
            load_prompts(file)


def test_a_conversation_has_the_own_turns_and_answers_and_no_others():
    game = TextGame("leduc", prompting=Prompting(conversation=True, turns=1))
    first = game.reset(seed=1)
    second = game.step("call")
    assert [message["role"] for message in second.prompt] == ["system", "user"]
    game.step("raise")
    third = game.step("call")
    assert third.agent == first.agent
    *_, past, answer, _ = third.prompt
    assert (past, answer["content"]) != (first.prompt[-1], "call")  # only the latest turn is kept
    assert [message["role"] for message in third.prompt] == ["system", "user", "assistant", "user"]
    assert [message["role"] for message in game.reset(seed=2).prompt] == ["system", "user"]


def test_a_model_that_is_not_shown_the_legal_actions_is_not_told_them_by_the_schema_either():
    game = envs.game("leduc")
    match = Match(game)
    match.reset(1)

    def played(prompting):
        answers = endpoint.saying('{"action_type": "fold", "payload": {}}', '{"action_type": "raise", "payload": {}}')
        with endpoint.in_a_thread(endpoint.endpoint(answers)) as (url, asked):
            agent = LLMAgent(Model(name="stub", base_url=url, prices=(1e6, 2e6)), None, prompting=prompting)
            assert agent.respond(match.turn_state("player_0")).action.action_type == "raise"
        return json.dumps([body for body, _ in asked]), agent.statistics

    hidden, statistics = played(Prompting(legal=False))
    assert "raise" not in hidden and "call" not in hidden
    assert dict(statistics.faults) == {"illegal": 1} and (statistics.decisions, statistics.replaced) == (1, 0)
    assert (statistics.input_size, statistics.output_size, statistics.cost) == (22, 14, 22 + 28)
    assert "raise" in played(Prompting())[0]


FAMOUS = ("poker", "Kuhn", "hold'em", "raiseTo", "mafia", "werewol", "sheriff", "ultimatum", "auction", "player_0")


@pytest.mark.parametrize("seed", slow_but([0], range(3)))
def test_a_skin_is_the_same_tree(game, seed):
    skin = Skin(game, seed)
    assert len(set(skin.names.values())) == len(skin.names)
    plain, disguised = Match(game), Match(game)
    plain.reset(seed)
    disguised.reset(seed)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        if plain.done:
            break
        agent = game.agents[plain.turn]
        state = plain.turn_state(agent)
        seen = skin.state(state)
        assert shape(seen.game_state) == shape(state.game_state)
        assert [one.action_type for one in seen.allowed_actions] == [
            skin.names[one.action_type] for one in state.allowed_actions
        ]
        schemas = {}
        for one in seen.allowed_actions:
            schemas.setdefault(one.action_type, []).append(one.payload_schema)
        legal = np.flatnonzero(plain.mask)
        for index in rng.choice(legal, min(5, len(legal)), replace=False):
            action = game.view.encode(plain.table, int(index)).action
            hidden = skin.disguised(action)
            assert any(jsonschema.Draft202012Validator(s).is_valid(hidden.payload) for s in schemas[hidden.action_type])
            assert skin.action(hidden) == action
        chosen = game.view.encode(plain.table, int(rng.choice(legal))).action
        assert plain.submit(agent, chosen) == disguised.submit(agent, skin.action(skin.disguised(chosen)))
        assert plain.table.tobytes() == disguised.table.tobytes()


def shape(value):
    """Return a state without its names."""
    if isinstance(value, dict):
        return sorted((shape(one) for one in value.values()), key=str)
    if isinstance(value, list):
        return [shape(one) for one in value]
    return "text" if isinstance(value, str) else value


@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem", "mafia", "werewolf", "ultimatum", "english_auction"])
def test_nothing_in_a_skin_names_the_game(name):
    game, seed = find(f"{name}-v0")(), 1
    skin = Skin(game, seed)
    match = Match(game)
    match.reset(1)
    state = skin.state(match.turn_state(game.agents[match.turn]))
    text = skin.text(how_to_play(game)) + json.dumps(state.to_dict())
    for word in FAMOUS:
        assert word not in text
    assert skin.text(how_to_play(game)) == Skin(game, seed).text(how_to_play(game)) != Skin(game, seed + 3).text("")
    assert len({Skin(game, one).text(how_to_play(game)) for one in range(4)}) == 4


def test_a_model_plays_a_whole_episode_in_disguise():
    game = TextGame("leduc", prompting=Prompting(game=find("leduc-v0")(), skin=1, view="compact"))
    turn = game.reset(seed=1)
    refused = game.step("raise")  # nobody has said what that is
    assert refused.refused and "raise" not in json.dumps(refused.prompt[-1])
    while not turn.done:
        text = json.dumps(turn.prompt) + "".join(turn.answers)
        assert not any(word in text for word in ("poker", "Leduc", "raise", "player_0", "my_card"))
        turn = game.step(turn.answers[-1])
    assert game.match.done and turn.refused is None


def test_an_agent_is_asked_and_answers_in_disguise():
    game = find("kuhn-v0")()
    prompting, match = Prompting(game=game, skin=2), Match(game)
    match.reset(1)
    bet = json.dumps(prompting.disguise.disguised(Action("bet")).to_dict())
    with endpoint.answering(endpoint.talking(choice=bet)) as url:
        agent = LLMAgent(Model(name="stub", base_url=url), None, prompting=prompting)
        assert agent.respond(match.turn_state("player_0")).action == Action("bet")
