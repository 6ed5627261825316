"""Statements: said, and heard in anybody's words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs.mafia import table
from parlour.envs.mafia.statements import act_of, code_of, from_wire, read, sentence, to_wire

IDS = [f"p{number}" for number in range(1, 13)]
NAMES = ["Alice", "Bob", "Al", "Bob Jr.", "Émile", "O'Neil", "x", "Ms. White", "d'Arc", "Zoë", "J.R.", "Łukasz"]
SEATS = {name: seat for seat, name in enumerate(IDS)} | {name: seat for seat, name in enumerate(NAMES)}


def acts(speaker):
    yield from (
        (kind, -1)
        for kind in (table.GENERAL, table.CLAIM_SHERIFF, table.CLAIM_DOCTOR, table.CLAIM_VILLAGER, table.CLAIM_MAFIA)
    )
    for target in range(len(IDS)):
        if target != speaker:
            yield from ((kind, target) for kind in (table.ACCUSE, table.CLEARED, table.FOUND))
        yield table.DEFEND, target


@pytest.mark.parametrize("names", [IDS, NAMES])
def test_what_is_said_is_heard(names):
    for speaker in range(len(names)):
        for act in acts(speaker):
            assert read(sentence(act, speaker, names), speaker, SEATS) == act
            assert read(f"Well... listen!\n{sentence(act, speaker, names).upper()} Thank you.", speaker, SEATS) == act


def test_every_act_has_a_code_and_a_payload_of_its_own():
    codes = set()
    for act in acts(0):
        assert act_of(code_of(*act)) == act
        codes.add(code_of(*act))
        wire = to_wire(act, IDS)
        target = -1 if wire["targetId"] is None else IDS.index(wire["targetId"])
        assert from_wire(wire["type"], target, wire["role"], wire["isMafia"]) == act
    assert len(codes) == len(list(acts(0)))
    assert 0 not in codes


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I think p3 is mafia.", (table.ACCUSE, 2)),
        ("p3's clearly part of the mafia", (table.ACCUSE, 2)),
        ("Bob looks very suspicious to me", (table.ACCUSE, 1)),
        ("I don't trust Bob Jr. at all", (table.ACCUSE, 3)),
        ("My vote goes to Zoë.", (table.ACCUSE, 9)),
        ("p2 is not innocent", (table.ACCUSE, 1)),
        ("p3 isn't mafia", (table.DEFEND, 2)),
        ("I don’t think P12 is mafia", (table.DEFEND, 11)),
        ("I don't suspect p4", (table.DEFEND, 3)),
        ("They say I am mafia. I am not mafia!", (table.DEFEND, 6)),
        ("I'm just a simple villager.", (table.CLAIM_VILLAGER, -1)),
        ("As the doctor, I protected p2.", (table.CLAIM_DOCTOR, -1)),
        ("p1 says I'm mafia, but I'm the sheriff", (table.CLAIM_SHERIFF, -1)),
        ("I am the sheriff. p8 is definitely guilty!", (table.FOUND, 7)),
        ("I investigated p4 last night and she is mafia.", (table.FOUND, 3)),
        ("I checked d'Arc. He's not mafia.", (table.CLEARED, 8)),
        ("Is p3 mafia?", (table.GENERAL, -1)),
        ("p31 is mafia", (table.GENERAL, -1)),
        ("", (table.GENERAL, -1)),
        ("p7 is mafia", (table.GENERAL, -1)),  # of oneself
    ],
)
def test_other_peoples_words(text, act):
    assert read(text, 6, SEATS) == act


WORDS = [
    "I",
    "am",
    "the",
    "sheriff",
    "p3",
    "Bob",
    "is",
    "not",
    "mafia",
    "trust",
    "don't",
    "say",
    "vote",
    "for",
    ".",
    "?",
]


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.integers(0, 11))
def test_any_words_are_heard_as_an_act_that_could_be_said(words, speaker):
    assert read(" ".join(words), speaker, SEATS) in set(acts(speaker))


def test_long_texts_are_read_in_time():
    for text in ("I am really " * 330, "p3 is " * 660, " " * 4000, "doubt p3 is mafia " * 220, "." * 3_999 + "x"):
        began = time.process_time()
        read(text, 0, SEATS)
        assert time.process_time() - began < 0.5
