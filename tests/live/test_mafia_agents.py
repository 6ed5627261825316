"""Words of mafia agents, and our own agents behind AgentPolicy."""

import random
import re
import threading
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.event_loops import run
from mafia_players import FIVE, NAMES, TEN, context, scripted, table, warnings
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.envs.mafia.statements import read
from parlour.envs.mafia.table import ACCUSE, CLEARED, DEFEND, FOUND, GENERAL
from parlour.wrappers.live.common.player import Worker
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import SENTENCES, MafiaLimits, SentenceLimit, sentences
from parlour.wrappers.live.mafia.agents import CORES, SELF, MafiaPolicyAgent, MafiaScriptedAgent, phrase
from parlour.wrappers.live.mafia.messages import of_context, turn_state
from policies import blank

pytestmark = pytest.mark.usefixtures("compiled_mafia")

SEATS = {name: seat for seat, name in enumerate(NAMES)}


async def heard(stream):
    return [chunk async for chunk in stream]


# Words.


def acts(speaker=0):
    yield GENERAL, -1
    for kind in CORES:
        if kind in (ACCUSE, DEFEND, CLEARED, FOUND):
            yield kind, 3
        elif kind not in (GENERAL, SELF):
            yield kind, -1
    yield DEFEND, speaker


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_what_is_said_is_heard_as_the_same_act_in_one_to_five_sentences(personality):
    chance = random.Random(1)
    for act in acts():
        said = {phrase(act, 0, tuple(NAMES), personality, chance) for _ in range(60)}
        assert len(said) > 5  # varied
        for text in said:
            assert read(text, 0, SEATS) == act, text
            assert 1 <= len(sentences(text)) <= SENTENCES


def test_names_that_are_words_do_not_change_what_is_said():
    names = ("innocent", "sheriff", "I", "The Doctor", "mafia", "a b", "p9", "not", "is", "vote")
    chance = random.Random(2)
    seats = {name: seat for seat, name in enumerate(names)}
    for act in acts():
        for _ in range(20):
            assert read(phrase(act, 0, names, "social", chance), 0, seats) == act


@given(st.text(alphabet='ab .!?\n…"', max_size=80), st.integers(1, 7))
def test_a_statement_is_cut_after_five_sentences_whatever_its_chunks(text, size):
    cut = SentenceLimit()
    passed = "".join(cut.take(text[i : i + size]) for i in range(0, len(text), size) if not cut.full)
    parts = sentences(text)
    assert "".join(parts) == text
    assert passed == "".join(parts[:SENTENCES])
    assert cut.full == (len(parts) > SENTENCES)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four?! Five.", 5),
        ("One.\nTwo.\n\n Three.", 3),
        ("Dr. Lee, Mr. Ray and Mrs. Ray vs. St. John and J. Doe, e.g. tonight.", 1),
        ("Well... I do not know… Or do I?", 1),
        ('He said "No." Then he left.', 2),
        ("It was I. It is 3.5 to one.", 2),
        ("", 0),
        (" \n", 1),
    ],
    ids=repr,
)
def test_abbreviations_and_ellipses_end_no_sentence(text, count):
    assert len(sentences(text)) == count


# Our agents.


async def decisions(agent, role="mafia"):
    """What it thinks and then does, in each phase."""
    for phase in ("NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING"):
        state, private, public = context(phase, role=role)
        thought = "".join(await heard(agent.think(state, private)))
        if phase == "NIGHT_ACTIONS":
            action = await agent.night_action(state, private)
            done = action and f"I choose {NAMES[int(action.target_id[1:]) - 1]}"
        elif phase == "DAY_VOTING":
            target = (await agent.vote(state, public)).target_id
            done = f"I vote for {NAMES[int(target[1:]) - 1]}" if target else "I abstain"
        else:
            done = "".join(await heard(agent.say(state, public)))
        yield phase, thought, done


@dataclass
class Known:
    """A policy that plays the likeliest of known chances, and expects a known value."""

    chances: np.ndarray

    def probabilities(self, observations, masks):
        chances = self.chances[None] * masks
        return chances / chances.sum()

    def values(self, observations):
        return np.array([0.25])

    def act(self, observations, masks):
        return self.probabilities(observations, masks).argmax(axis=1)


def test_a_policys_thoughts_are_what_it_computed_and_its_deeds_what_it_thought():
    chances = np.random.default_rng(3).random(FIVE.num_actions).astype(np.float32)
    agent = MafiaPolicyAgent("p1", "Ann", FIVE, Known(chances), seed=1)

    async def main():
        return [one async for one in decisions(agent)]

    for phase, thought, done in run(main()):
        told = [int(number) for number in re.findall(r"(\d+) %", thought)]
        assert told == sorted(told, reverse=True) and 1 <= len(told) <= 3, thought
        assert "+0.25" in thought
        likeliest = thought.partition("choices: ")[2].partition(",")[0]
        assert thought.removesuffix(", which is a lie.").removesuffix(".").endswith(f"So {likeliest}"), thought
        if phase != "DAY_DISCUSSION":
            assert likeliest == done
        else:
            kind, _ = read(done, 0, SEATS)
            assert {"accuse": ACCUSE, "defend": DEFEND}.get(likeliest.split()[2], kind) == kind


async def test_a_policy_without_probabilities_says_so_and_without_a_thought_it_still_decides():
    class Bare:
        def act(self, observations, masks):
            return np.array([np.flatnonzero(mask)[0] for mask in masks])

    agent = MafiaPolicyAgent("p1", "Ann", FIVE, Bare(), seed=1)

    state, _, public = context("DAY_VOTING")
    assert await agent.vote(state, public) == await agent.vote(state, public)
    result = [thought async for _, thought, _ in decisions(agent)]

    assert all("has no probabilities" in thought for thought in result)


def test_a_policy_plays_with_fewer_players_and_among_more_a_bot_plays_for_it(caplog):
    def even(game):
        return MafiaPolicyAgent("p1", "Ann", game, blank(game), seed=1)

    for seats in (5, 10):
        match = table(seed=2, seats=seats, bad={0: even(TEN)})
        assert not run(match.play()).faults and not warnings(caplog)
    match = table(seed=2, bad={0: even(FIVE)})
    assert not run(match.play()).faults
    assert "trained for 5 players at most" in caplog.text


@pytest.mark.parametrize("personality", PERSONALITIES)
@pytest.mark.parametrize("role", wire.ROLES)
async def test_every_personality_plays_every_role_as_it_thought(personality, role):
    config = wire.AgentConfig(type="scripted", scripted_config=wire.ScriptedConfig(personality=personality))
    agent = MafiaScriptedAgent("p1", "Ann", config, seed=3)
    night, _, vote = [one async for one in decisions(agent, role)]
    assert vote[1].partition("So ")[2].rstrip(".") == vote[2]
    if role == "villager":
        assert night[1:] == ("I sleep.", None)
    else:
        assert night[1].endswith(f"So {night[2]}.")


def test_the_mafia_lies_as_often_as_it_is_told_to_and_says_so_to_itself():
    def lying(frequency):
        config = wire.AgentConfig(type="scripted", scripted_config=wire.ScriptedConfig(lie_frequency=frequency))
        agent = MafiaScriptedAgent("p1", "Ann", config, seed=3)

        async def main():
            state, private, _ = context("DAY_DISCUSSION", role="mafia")
            return ["a lie" in "".join(await heard(agent.think(state, private))) for _ in range(200)]

        return sum(run(main())) / 200

    assert lying(0.0) == 0.0 and lying(1.0) > 0.95


def test_settings_out_of_range_are_told():
    config = wire.AgentConfig(type="scripted", scripted_config=wire.ScriptedConfig(lie_frequency=1.5))
    with pytest.raises(ValueError, match="lie_frequency"):
        MafiaScriptedAgent("p1", "Ann", config)


class Stuck:
    """A policy that never comes back."""

    def __init__(self):
        self.free = threading.Event()
        self.calls = 0

    def act(self, observations, masks):
        self.calls += 1
        self.free.wait()
        return np.argmax(masks, axis=1)

    def probabilities(self, observations, masks):
        self.free.wait()
        return masks / masks.sum()


def test_a_policy_that_hangs_costs_only_its_own_answers_where_it_has_a_worker():
    run(table(seed=1).play())  # compiled before clocks run
    stuck = Stuck()
    bad = MafiaPolicyAgent("p1", "Ann", TEN, stuck, worker=Worker("stuck"))
    match = table(seed=1, bad={0: bad}, limits=MafiaLimits(think=0.5, say=0.5, act=0.5))
    result = run(match.play(), 60)
    assert {fault.agent_id for fault in result.faults} == {"p1"}
    assert stuck.calls == 1 and any("still busy" in fault.problem for fault in result.faults)
    stuck.free.set()


def test_a_context_of_more_statements_a_day_or_more_days_is_read_whole():
    said = [
        wire.Statement(player_id="p2", round=1, type="accusation", content=f"{i}", target_id=target)
        for i, target in enumerate(("p3", "p4"))
    ]
    state, _, _ = context("DAY_DISCUSSION", statements=said)
    game = of_context(state)
    assert (game.options["discussion_rounds"], game.options["max_days"]) == (2, 20)
    tables, seat = game.view.load(turn_state("p1", state, None))
    today = game.layout["game_state.statements.today"]
    observed = game.observation(tables[0], seat)[today.start : today.stop].reshape(5, 5)
    assert observed[1].tolist() == [0, 0, 0.5, 0.5, 0]
    late = msgspec.structs.replace(state, round_number=31, day_number=31)
    assert of_context(late).options["max_days"] == 40
    assert run(scripted(0).vote(late, None)) is not None
