"""What a language model's answer says: one reader for text games, agents, mafia and streams. Thoughts are cut off."""

import asyncio
import json
import logging

import endpoint
import pytest
from aiohttp import web
from mafia_players import context
from needs import library
from parlour import envs
from parlour.envs import Action
from parlour.wrappers.agents.answers import Spoken, parse, spoken
from parlour.wrappers.agents.language_model import Model, ModelError
from parlour.wrappers.agents.llm import LLMAgent
from parlour.wrappers.live.mafia.llm_agent import MafiaLLMAgent
from parlour.wrappers.text import TextGame

library("openai")

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

    async def answered(request, body):
        return web.json_response(endpoint.said(answer))

    async def main():
        async with endpoint.endpoint(answered) as (url, _):
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
            text, player = "".join([chunk async for chunk in player.say(state, public)]), player
    (call,) = player.take_calls()
    assert "mafia" not in text and text.strip()
    assert (text == said, player.replaced, call.faults) == ((True, 0, []) if said else (False, 1, ["unfinished"]))
    assert ("--max-tokens" in (player.replacement or "")) == (said is None)


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
