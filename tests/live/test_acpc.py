"""The ACPC match protocol: lines of transcripts, both sessions, bad input, and matches over real sockets."""

import asyncio
import contextlib
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import acpc
import pytest
from acpc import (
    LONGEST,
    AgentSession,
    HostSession,
    greeted,
    host_acpc,
    match_game,
    play_acpc,
    read_line,
    replayed,
    write_line,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from live.processes import python
from parlour.envs.core.turn_state import Action, AgentResponse
from parlour.envs.holdem.hands import card_name
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.player import AgentStatistics
from parlour.wrappers.logs.match_log import MatchLog, SafeMatchLog
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.replay.log_reader import moments

GAME = match_game()


program = partial(python, acpc.__file__)


@asynccontextmanager
async def dealt(hands, seconds=60, **options):
    """A host and its port; the match is over at the end."""
    host, port = HostSession(GAME, seed=1), asyncio.get_running_loop().create_future()
    dealing = asyncio.create_task(host_acpc(host, hands=hands, seconds=seconds, ready=port.set_result, **options))
    yield host, await port
    await dealing


def bot(name="call"):
    return PolicyAgent(GAME, make_policy(name, GAME, seed=1))


def answer(kind, **payload):
    return AgentResponse(Action(kind, payload))


@pytest.mark.parametrize(
    ("line", "turn", "reply"),
    [
        ("MATCHSTATE:0:0::Ad6h|", False, None),  # the button acts first
        ("MATCHSTATE:1:0::|Td9c", True, (answer("call"), "c")),
        ("MATCHSTATE:1:0::|Td9c", True, (answer("raiseTo", amount=300), "r300")),
        ("MATCHSTATE:0:0:c:Ad6h|", True, (answer("check"), "c")),
        ("MATCHSTATE:0:0:cr300:Ad6h|", False, None),
        ("MATCHSTATE:0:7:r300c/:Ad6h|/2c3d4h", True, (answer("raiseTo", amount=400), "r700")),  # all chips of the hand
        ("MATCHSTATE:1:7:r300c/r700:|Td9c/2c3d4h", True, (answer("fold"), "f")),
        ("MATCHSTATE:1:7:r300c/r700:|Td9c/2c3d4h", True, (answer("raiseTo", amount=19_700), "r20000")),
        ("MATCHSTATE:0:7:r300c/c:Ad6h|/2c3d4h", False, None),
        ("MATCHSTATE:0:7:r300c/cc/:Ad6h|/2c3d4h/5s", True, (answer("fold"), "c")),  # there is nothing to fold to
        ("MATCHSTATE:0:7:r300c/cc/cc/cc:Ad6h|Td9c/2c3d4h/5s/8s", False, None),
        ("MATCHSTATE:0:7:r20000c///:Ad6h|Td9c/2c3d4h/5s/8s", False, None),
        ("MATCHSTATE:0:7:f:Ad6h|", False, None),
        ("# a comment", False, None),
        ("", False, None),
    ],
)
def test_a_transcript_gives_the_turns_and_their_answers(line, turn, reply):
    session = AgentSession(GAME)
    asked = session.receive(f"{line}\r\n")
    assert (asked is not None) == turn
    if turn:
        assert session.act(reply[0]) == f"{line}:{reply[1]}"


@pytest.mark.parametrize(
    "line",
    [
        "MATCHSTATE:2:0::Ad6h|",
        "MATCHSTATE:0:0:x:Ad6h|",
        "MATCHSTATE:0:0::AdAd|",
        "MATCHSTATE:0:0::AdA|",
        "MATCHSTATE:0:0:ccc:Ad6h|",  # the flop is not there
        "MATCHSTATE:1:0:r20:|Td9c",  # less than the least raise
        "MATCHSTATE:1:0:fc:|Td9c",
        "MATCHSTATE:1:0::Ad6h|",  # not the own cards
        "MATCHSTATE:0:0::Ad6h|/2c3d4h",
        "MATCHSTATE:0:0:" + "c" * LONGEST + ":Ad6h|",
        "hello",
    ],
)
def test_a_line_that_cannot_be_is_refused_and_the_session_goes_on(line):
    session = AgentSession(GAME)
    with pytest.raises(ValueError):
        session.receive(line)
    assert session.receive("MATCHSTATE:1:0::|Td9c") is not None


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="MATCHSE:01crf/|AdKh29", max_size=60) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    session = AgentSession(GAME)
    for line in (text, f"MATCHSTATE:1:0:{text}:|Td9c"):
        with contextlib.suppress(ValueError):
            session.receive(line)


def test_what_the_host_writes_is_what_the_agent_reads():
    host, seen = HostSession(GAME, seed=1), 0
    policies = [PolicyAgent(GAME, make_policy("random", GAME, seed=seed)) for seed in range(2)]
    won = [[], []]
    sessions = [AgentSession(GAME, lambda chips, one=one: one.append(chips) or int("full")) for one in won]
    while host.hand < 30:
        turns = [session.receive(line) for session, line in zip(sessions, host.lines(), strict=True)]
        assert [turn is not None for turn in turns] == [player == host.turn for player in range(2)]
        for player, line in enumerate(host.lines()):
            state = read_line(line)
            table = replayed(GAME, state)
            assert (
                write_line(table, state.position, state.hand, state.betting).rpartition("|")[0]
                == line.rpartition("|")[0]
            )
            other = "".join(card_name(int(card)) for card in host._tables[0].cards[1 - state.position])
            assert (other in line) == bool(host._tables[0].showdown), player
        if host.turn is None:
            host.go_on()
            continue
        seen += 1
        host.receive(sessions[host.turn].act(policies[host.turn].respond(turns[host.turn].state)))
    assert host.refused == 0
    assert host.totals.sum() == 0
    assert [session.hands for session in sessions] == [*map(len, won)] == [30, 30] and host.hands == 30
    assert [*map(sum, won)] == host.totals.tolist()
    assert [session.chips for session in sessions] == host.totals.tolist() != [0, 0]
    assert seen > 50


def test_the_host_ignores_answers_to_other_states_and_mends_what_is_not_legal():
    """As the competition's dealer does."""
    for other in ("", "# a comment", "r1", "MATCHSTATE:1:0::|:c"):
        host = HostSession(GAME, seed=1)
        assert not host.receive(other)
        assert (host.betting, host.refused) == ("", 0)
    for answer, played in (("r1", "r200"), ("r99999", "r20000"), ("x", "c"), ("r", "c"), ("", "c")):
        host = HostSession(GAME, seed=1)
        assert host.receive(f"{host.lines()[1]}:{answer}\r\n")
        assert (host.betting, host.refused) == (played, 1)
    host.receive(f"{host.lines()[0]}:f")  # there is nothing to fold to
    assert (host.betting, host.refused) == ("cc/", 2)


def test_the_host_checks_or_folds_for_a_player_without_an_answer_and_the_button_moves():
    host = HostSession(GAME, seed=1)
    assert [line[:15] for line in host.lines()] == ["MATCHSTATE:0:0:", "MATCHSTATE:1:0:"]
    host.give_up()
    assert (host.betting, host.replaced, host.hands, host.totals.tolist()) == ("f", 1, 1, [50, -50])
    host.go_on()
    assert [line[:15] for line in host.lines()] == ["MATCHSTATE:1:1:", "MATCHSTATE:0:1:"]
    assert greeted("VERSION:2.0.0\r\n") and greeted("VERSION:2.0.1") and not greeted("VERSION:1.0.0")


async def test_two_agents_play_a_match_over_sockets_beside_strangers(tmp_path):
    log = tmp_path / "match.jsonl"
    counters = [AgentStatistics() for _ in range(2)]
    sessions = [AgentSession(GAME) for _ in range(2)]
    with MatchLog(log) as written:
        async with dealt(20, log=SafeMatchLog(written)) as (host, port):
            strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            strangers[0][1].write(b"GET / HTTP/1.1\r\n")  # the other one says nothing
            plays = [
                play_acpc("127.0.0.1", port, agent, session, statistics=counter)
                for agent, session, counter in zip((bot("random"), bot()), sessions, counters, strict=True)
            ]
            await asyncio.gather(*plays)
        for _, writer in strangers:
            writer.close()
    assert [session.hands for session in sessions] == [20, 20]
    assert (host.hands, host.refused, host.replaced) == (20, 0, 0)
    assert sorted(session.chips for session in sessions) == sorted(host.totals.tolist()) != [0, 0]
    assert all(counter.decisions >= 20 and counter.replaced == 0 for counter in counters)
    decisions = sum(counter.decisions for counter in counters)
    assert len(list(moments(log))) == decisions + 20  # the log replays: a moment for each decision, and each end


async def test_a_match_ends_when_both_players_are_gone():
    async with dealt(10_000) as (host, port):
        players = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in players:
            writer.write(b"VERSION:2.0.0\r\n")
        for reader, writer in players:
            await reader.readline()  # it is dealt in
            writer.close()
    assert host.hands < 10


async def test_an_agent_survives_what_is_no_line_of_the_protocol():
    async def dealer(reader, writer):
        await reader.readline()
        writer.write(
            b"\xff\xfe\r\n" + b"x" * (2 * LONGEST) + b"\r\nMATCHSTATE:9\r\n; a note\r\nMATCHSTATE:1:0::|Td9c\r\n"
        )
        received.append(await reader.readline())
        writer.close()

    received = []
    server = await asyncio.start_server(dealer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.wait_for(play_acpc("127.0.0.1", port, bot(), AgentSession(GAME)), 60)
    server.close()
    assert received == [b"MATCHSTATE:1:0::|Td9c:c\r\n"]


async def test_late_answers_to_older_states_and_empty_lines_cost_no_turn():
    async def caller(port, extra):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"VERSION:2.0.0\r\n")
        session, before = AgentSession(GAME), ""
        while line := (await reader.readline()).decode().strip():
            if session.receive(line) is None:
                continue
            writer.write(f"\r\n{before}:f\r\n".encode() if extra else b"")
            writer.write(f"{line}:c\r\n".encode())
            before = line

    async def match(extra):
        async with dealt(12) as (host, port):
            callers = [asyncio.create_task(caller(port, extra))]
            await asyncio.sleep(0.05)
            callers.append(asyncio.create_task(caller(port, False)))
            await asyncio.gather(*callers)
        return host.totals.tolist()

    polite = await match(extra=False)
    assert await match(extra=True) in (polite, polite[::-1])


async def test_who_has_gone_before_the_match_has_no_seat():
    sessions = [AgentSession(GAME), AgentSession(GAME)]
    async with dealt(5) as (host, port):
        _, gone = await asyncio.open_connection("127.0.0.1", port)
        gone.write(b"VERSION:2.0.0\r\n")
        gone.close()
        await gone.wait_closed()
        await asyncio.gather(*(play_acpc("127.0.0.1", port, bot(), session) for session in sessions))
    assert (host.replaced, [session.hands for session in sessions]) == (0, [5, 5])


async def test_a_connection_that_breaks_checks_and_folds_to_the_end():
    session = AgentSession(GAME)
    async with dealt(5, seconds=5) as (host, port):
        honest = asyncio.create_task(play_acpc("127.0.0.1", port, bot(), session))
        _, broken = await asyncio.open_connection("127.0.0.1", port)
        broken.write(b"VERSION:2.0.0\r\n")
        await broken.drain()
        await asyncio.sleep(0.1)
        broken.transport.abort()
        await honest
    assert session.hands == host.hands == 5
    assert host.totals.sum() == 0


@pytest.mark.slow
async def test_the_commands_play_a_match(tmp_path):
    log = tmp_path / "agent.jsonl"
    stakes = ("--stack", "200", "--small-blind", "1", "--big-blind", "2")
    async with program("host", "--port", "0", "--hands", "5", "--seed", "1", *stakes) as host:
        dealer = (await host.stdout.readline()).decode().split()[2]
        players = (("call", "--log", str(log)), ("maniac",))
        async with AsyncExitStack() as stack:
            agents = [
                await stack.enter_async_context(program("deploy", *player, "--dealer", dealer, *stakes))
                for player in players
            ]
            ends = [await agent.communicate() for agent in agents]
        dealt, problems = await host.communicate()
    assert [agent.returncode for agent in (host, *agents)] == [0, 0, 0], (problems, ends)
    assert dealt.decode().count("big blinds a hand") == 2
    assert all("0 replaced" in out.decode() for out, _ in ends)
    assert {moment.match for moment in moments(log)} == set(range(5))  # each hand is a match of its own
