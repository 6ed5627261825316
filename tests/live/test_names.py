"""Names of people: what is refused, and which two are taken for the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.wrappers.live.common.limits import folded, problem_of, short_name


@pytest.mark.parametrize("name", ["Ann", "Ann Lee", "王伟", "Zoë", "O'Neill-Śmith 2", "❤️", "x" * 32])
def test_ordinary_names_are_allowed(name):
    assert problem_of(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "1 to 32 characters, not 0"),
        ("x" * 33, "not 33"),
        (" Ann", "begins and ends"),
        ("Ann\u00a0", "begins and ends"),
        ("\ufe0f", "begins and ends"),
        ("A\nb", "U+000A"),
        ("Ann\u200b", "U+200B"),  # no width
        ("\u202ennA", "U+202E"),  # from right to left
        ("Ann\u3164", "U+3164"),  # a letter that shows nothing
        ("\ud800", "U+D800"),
    ],
)
def test_names_that_are_not_seen_as_they_are_written_are_refused(name, words):
    assert words in problem_of(name)


@pytest.mark.parametrize("other", ["ann lee", "ANN LEE", "Ａｎｎ Ｌｅｅ", "Ann  Lee", "Ann\u2003Lee", "Ann\ufe0f Lee"])
def test_names_that_look_the_same_are_the_same(other):
    assert folded(other) == folded("Ann Lee") != folded("Ann Leo")


@given(st.text(max_size=40))
def test_every_text_is_answered_and_folding_twice_changes_nothing(name):
    assert (problem_of(name) is None) <= bool(folded(name))
    assert folded(folded(name)) == folded(name)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("zoo:mafia-20", "Zoo"),
        ("best_response", "Best response"),
        ("llm", "LLM"),
        ("runs/first", "first"),
        ("runs/p.zip", "p"),
    ],
)
def test_programs_have_short_names(spec, name):
    assert short_name(spec) == name
