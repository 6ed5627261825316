"""The mafia host's session: streams of statements, and answers that are late, wrong or missing."""

import itertools

import pytest
from live.mafia_driver import Driver, abstains, acts, dealt, only, says, thinks, votes
from mafia_players import NAMES, TEN, session
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.host_session import MafiaHostSession
from parlour.wrappers.live.mafia.limits import MafiaLimits
from parlour.wrappers.live.mafia.match_report import Fault

# Streams.


def stream(driver, agent, name):
    """The chunks of an agent's first stream of a kind."""
    told = [payload for payload in driver.events(name) if payload["agentId"] == agent]
    return [payload["chunk"] for payload in told if payload["turnId"] == told[0]["turnId"]]


def test_chunks_are_told_as_they_come_and_a_stream_ends_with_an_empty_one():
    driver = Driver(dealt("mafia"), think=lambda *_: ["a", "", "b"]).play()
    assert stream(driver, "p1", "AGENT_THINK_STREAM") == ["a", "b", ""]
    assert driver.events("AGENT_THINK_STREAM")[0].keys() == {"agentId", "agentName", "turnId", "chunk"}
    assert not driver.faults()


@pytest.mark.parametrize(
    ("chunks", "told", "problem"),
    [
        (["ab", "cde", "f"], ["ab", "c", ""], "ValueError: more than 3 characters"),
        (["abc"], ["abc", ""], None),
        ([b"abc"], [""], "TypeError: a chunk is text, not bytes"),
        (["a", None], ["a", ""], "TypeError: a chunk is text, not NoneType"),
        (["a\ud800"], [""], "surrogates not allowed"),
    ],
)
def test_a_stream_that_breaks_a_limit_ends_there(chunks, told, problem):
    made = dealt("mafia", 5)
    driver = Driver(session(made.seed, limits=MafiaLimits(thought=3)), think=only(0, lambda *_: chunks, lambda *_: []))
    driver.play()
    assert stream(driver, "p1", "AGENT_THINK_STREAM") == told
    faults = driver.faults()
    if problem is None:
        assert not faults
    else:
        assert faults and all(method == "think" and problem in what for method, what, _ in faults)


def test_a_long_chunk_is_told_in_parts_and_many_small_ones_are_cut_off():
    driver = Driver(dealt("mafia"), think=only(0, lambda *_: ["x" * 9_000], thinks)).play()
    assert [len(chunk) for chunk in stream(driver, "p1", "AGENT_THINK_STREAM")] == [4_000, 4_000, 1_000, 0]
    driver = Driver(dealt("mafia"), think=only(0, lambda *_: itertools.repeat(".", 6_000), thinks))
    driver.begin()
    driver.make(next(call for call in driver.calls if call.seat == 0))
    assert driver.faults() == [("think", "ValueError: more than 5,000 chunks", "")]
    assert len(stream(driver, "p1", "AGENT_THINK_STREAM")) == 5_001


def test_a_statement_has_at_most_five_sentences_and_is_heard_as_an_act():
    said = "I accuse Bob. One. Two! Three? Four... and Dr. Five. Six."
    driver = Driver(dealt("mafia"), say=only(0, lambda *_: [said], says), vote=votes).play()
    context = next(context for call, context, _ in driver.made if context.statements and context.phase == "DAY_VOTING")
    statement = next(one for one in context.statements if one.player_id == "p1")
    assert statement.content.rstrip() == "I accuse Bob. One. Two! Three? Four... and Dr. Five."
    assert (statement.type, statement.target_id) in (("accusation", "p2"), ("general", None))  # Bob may be dead
    assert any("five sentences" in problem for _, problem, _ in driver.faults())


@pytest.mark.parametrize("after", ["", " ", "\n"])
def test_exactly_five_sentences_are_no_fault(after):
    said = f"I accuse Bob. Dr. Lee did… Two! Three? Four. Five.{after}"
    driver = Driver(dealt("mafia"), say=only(0, lambda *_: [said], says), vote=votes).play()
    assert driver.faults() == []


def test_of_the_dead_nothing_is_said_but_the_words():
    made = next(one for one in (session(seed, TEN) for seed in range(50)) if one.roles[1] == "villager")

    def kill_bob(call, context, info):
        return wire.NightAction("KILL", "p2") if info.self.role == "mafia" else acts(call, context, info)

    def doctor_elsewhere(call, context, info):
        return (
            wire.NightAction("PROTECT", info.self.id) if info.self.role == "doctor" else kill_bob(call, context, info)
        )

    driver = Driver(made, nightAction=doctor_elsewhere, say=lambda *_: ["I accuse Bob."])
    driver.play(until=lambda self: len(self.events("AGENT_SAY_STREAM")) >= 4)
    context = driver.session.arguments(driver.calls[0].number)[0]
    said = [(one.type, one.target_id, one.content) for one in context.statements]
    assert said and set(said) == {("general", None, "I accuse Bob.")}


@pytest.mark.parametrize("said", [[], ["", "  "]])
def test_who_says_nothing_is_left_out(said):
    driver = Driver(session(1, TEN), say=lambda *_: said).play(until=lambda self: self.events("VOTE_RESULT"))
    assert all(fault == ("say", "it said nothing", "") for fault in driver.faults()) and driver.faults()
    context = next(context for _, context, _ in driver.made if context.phase == "DAY_VOTING")
    assert {(one.type, one.content) for one in context.statements} == {("general", "".join(said))}


# Faults.


def test_what_times_out_loses_that_answer_only():
    driver = Driver(dealt("mafia"))
    driver.begin()
    think = next(call for call in driver.calls if call.seat == 0)
    driver.take(driver.session.chunk(think.number, "now "))
    driver.take(driver.session.timed_out(think.number))
    assert driver.faults() == [("think", "cut off after 30 s", "")]
    assert stream(driver, "p1", "AGENT_THINK_STREAM") == ["now ", ""]
    for _ in range(2):
        driver.take(driver.session.timed_out(driver.calls[-1].number))
    kept = driver.faults()[1:]
    assert [problem for _, problem, _ in kept] == ["no answer within 30 s"] * 2 + ["no legal target"]
    assert kept[-1][2].endswith("drawn")
    assert driver.events("NIGHT_ACTION_SUBMITTED")[0]["agentId"] == "p1"


def test_a_night_action_is_asked_for_as_often_as_the_limits_say_then_drawn_from_the_matchs_stream():
    def fails(call, context, info):
        raise ValueError("the connection was lost")

    drawn = []
    for tries in (1, 3):
        made = dealt("mafia")
        driver = Driver(
            session(made.seed, TEN, limits=MafiaLimits(tries=tries)), nightAction=only(0, fails, acts)
        ).play()
        first = driver.faults()[: tries + 1]
        assert first[:tries] == [("nightAction", "the connection was lost", "")] * tries
        assert first[tries][1] == "no legal target"
        drawn.append(first[tries][2])
    assert drawn[0] == drawn[1]


ILLEGAL = {
    "oneself": (lambda context, info: {"actionType": kind(info), "targetId": info.self.id}, "p1", "agent itself"),
    "unknown": (lambda context, info: {"actionType": kind(info), "targetId": "p99"}, "p99", "no player 'p99'"),
    "dead": (
        lambda context, info: {"actionType": kind(info), "targetId": dead(context)},
        lambda context: dead(context),
        None,
    ),
    "wrong action": (lambda context, info: wire.NightAction("VOTE", "p2"), "p1", None),
    "wrong types": (lambda context, info: {"actionType": "KILL", "targetId": ["p2"]}, 5, None),
    "no answer": (lambda context, info: None, None, None),
    "rubbish": (lambda context, info: b"\xff\x00", 3.5, None),
    "objects": (lambda context, info: object(), object(), None),
    "struct with rubbish": (lambda context, info: wire.NightAction("KILL", {"a": 1}), ["p2"], None),
}


def kind(info):
    return wire.NIGHT_ACTIONS.get(info.self.role, "KILL")


def dead(context):
    return next((player.id for player in context.players if not player.alive), "nobody")


@pytest.mark.parametrize("case", ILLEGAL)
@pytest.mark.parametrize("role", ["mafia", "doctor", "sheriff"])
def test_illegal_answers_are_replaced(case, role):
    night, target, problem = ILLEGAL[case]

    def vote(call, context, info):
        voted = target(context) if callable(target) else target
        if isinstance(voted, str):
            return {"targetId": voted}
        return wire.VoteAction(voted) if isinstance(voted, list) else {"targetId": voted} if voted == 5 else voted

    driver = Driver(
        dealt(role), nightAction=only(0, lambda call, *shown: night(*shown), acts), vote=only(0, vote, abstains)
    ).play()
    faults = [fault for fault in driver.faults() if fault[0] == "nightAction"]
    if (case, role) != ("oneself", "doctor"):
        assert faults[2][2].endswith("drawn") and not faults[0][2]  # one more try, then a legal target
        assert faults[0][1] and faults[1][1] == faults[0][1]
        assert problem is None or problem in faults[0][1]
    voted = [fault for fault in driver.faults() if fault[0] == "vote"]
    assert all(instead == "abstains" for _, _, instead in voted)
    assert len(voted) == sum(call.method == "vote" and call.seat == 0 for call, _, _ in driver.made)
    cast = [vote for vote in driver.events("VOTE_CAST") if vote["voterId"] == "p1"]
    assert all(vote["targetId"] is None for vote in cast)


def test_a_doctor_cannot_protect_the_same_player_twice_running():
    protects = only(0, lambda *_: wire.NightAction("PROTECT", "p1"), acts)
    driver = Driver(dealt("doctor"), nightAction=protects).play()
    told = [one for one in driver.events("NIGHT_ACTION_SUBMITTED") if one["agentId"] == "p1"]
    protected = [one["targetId"] for one in told]
    assert protected[0] == "p1" and len(protected) > 1
    assert all(one != two for one, two in itertools.pairwise(protected))
    assert any("protected last night" in problem for _, problem, _ in driver.faults())


class Everything(str):
    """Equal to everybody."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


def test_an_answer_is_what_it_says_and_not_what_it_is_equal_to():
    night = only(0, lambda *_: wire.NightAction("KILL", Everything("nobody")), acts)
    vote = only(0, lambda *_: wire.VoteAction(Everything("nobody")), abstains)
    driver = Driver(dealt("mafia"), nightAction=night, vote=vote).play()
    assert {fault.agent_id for fault in driver.session.result.faults} == {"p1"}
    assert any(instead.endswith("drawn") for _, _, instead in driver.faults())


@pytest.mark.parametrize("phase", ["NIGHT_ACTIONS", "DAY_DISCUSSION", "DAY_VOTING"])
def test_an_agent_that_vanishes_in_a_phase_is_replaced_from_there_on(phase):
    gone = []

    def vanishing(usual):
        def answer(call, context, info):
            if call.seat == 0 and (gone or context.phase == phase):
                gone.append(phase)
                raise ValueError("the connection was lost")
            return usual(call, context, info)

        return answer

    answers = {"think": thinks, "say": says, "nightAction": acts, "vote": abstains}
    driver = Driver(dealt("mafia"), **{name: vanishing(usual) for name, usual in answers.items()}).play()
    result = driver.session.result
    assert result.winner and result.faults[0].phase == phase
    assert {fault.problem for fault in result.faults if not fault.instead} == {
        "the connection was lost",
        *({"it said nothing"} if any(fault.method == "say" for fault in result.faults) else ()),
    }


def test_an_agent_that_takes_no_role_plays_on():
    made = session(1)
    step = made.begin({2: "PermissionError: no role"})
    (fault,) = (one for one in step.happened if isinstance(one, Fault))
    assert (fault.agent_id, fault.phase, fault.method, fault.problem) == (
        "p3",
        "SETUP",
        "role",
        "PermissionError: no role",
    )


def test_wrong_players_are_told():
    players = [(f"p{seat + 1}", NAMES[seat]) for seat in range(10)]
    for change, problem in (
        (players[:9], "9 agents for a game of 10"),
        ([*players[:9], ("p1", "Jim")], "no two agents may have the same"),
        ([*players[:9], ("p10", "Ann")], "no two agents may have the same"),
        ([*players[:9], ("p10", "p1")], "another agent's id"),
        ([*players[:9], ("p10", "a\nb")], "printable"),
        ([*players[:9], ("p10", "x" * 65)], "printable"),
    ):
        with pytest.raises(ValueError, match=problem):
            MafiaHostSession(TEN, change, game_id="g")
    for wrong in ({"think": 0}, {"act": float("nan")}, {"tries": 0}, {"statement": 5_000}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MafiaLimits(**wrong)
