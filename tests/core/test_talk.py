"""Structured talk: number, sentence and record say the same, and any text is read without fail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour import envs
from parlour.envs.core.structured_talk import ACTS, NUM_ACTIONS, StructuredTalk

WORDS = ("My valuation is {}", "I will bid {}", "I will walk away", "Let us be fair", ("a", "b"))


@pytest.mark.parametrize("highest", [100, 33.33, 0.01])
def test_every_sentence_is_read_as_what_was_said(highest):
    talk = StructuredTalk(*WORDS, highest)
    expected = [(1 + n // 11, n % 11 * 100) for n in range(22)] + [(3, 0), (4, 0)]
    assert [talk.read(talk.sentence(number)) for number in range(NUM_ACTIONS)] == expected
    assert len(ACTS) == 4


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("I WILL   bid\n45", (2, 450)),
        ("I will bid 45. No: I will bid 62.5!", (2, 625)),
        ("My valuation is 20; let us be fair", (4, 0)),
        ("I will bid -5", None),
        ("Antonio will walk away", None),
        ("", None),
    ],
)
def test_what_is_heard_in_a_text(text, heard):
    assert StructuredTalk(*WORDS, 100).read(text) == heard


@given(st.text() | st.text("I wilbd0123456789.MyvatonsLuefr ", max_size=80))
def test_any_text_can_be_read(text):
    heard = StructuredTalk(*WORDS, 100).read(text)
    assert heard is None or (1 <= heard[0] <= 4 and 0 <= heard[1] <= 1000)


@pytest.mark.parametrize("name", ["auction", "bargaining"])
def test_the_record_returns_messages_in_vector_tables(name):
    tables = envs.VectorGame(envs.game(name, talk=True), 64)
    tables.reset(seed=0)
    told = set()
    for _ in range(50):
        tables.step(tables.sample())
        told |= {message.content for table in tables.tables for message in tables.game.turn_state(table, 0).messages}
    assert len(told) == NUM_ACTIONS
