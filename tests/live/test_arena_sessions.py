"""Sessions that are polled: our agents in an arena's, and clients of the platform in ours."""

import asyncio
import json
from dataclasses import replace

import aiohttp
import pytest
from live.arena_players import BARGAINING, FREE, ours, run
from live.arena_sessions import QUICK, Client, polling
from live.event_loops import VirtualLoop
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost, ArenaRest
from parlour.wrappers.live.arena.players import MOST_ENDED, PAGE, HostedSessions, SessionRefused
from parlour.wrappers.live.arena.polling_agent import ArenaPollingAgent
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.policies.base import RandomPolicy


@pytest.fixture
def law_1(monkeypatch):
    """Note what policies see, and what the environment shows to them."""
    from parlour.wrappers.live.common.match_session import MatchSession

    shown = []
    original = MatchSession.turn_state

    def watch(session, agent_id):
        if agent_id == "watched":
            seat = session.agent_ids.index(agent_id)
            table = session.match.table
            newest = session.game.encoders[max(session.game.versions)]
            shown.append((newest.observation(table, seat).tobytes(), session.game.mask(table, seat).tobytes()))
        return original(session, agent_id)

    monkeypatch.setattr(MatchSession, "turn_state", watch)
    return shown


def test_our_agents_meet_in_our_sessions_and_see_what_the_environment_shows(game_id, law_1):
    game, seen = envs.game(game_id), []

    class Watched(RandomPolicy):
        encoder = max(game.versions)

        def act(self, observations, masks):
            seen.append((observations.tobytes(), masks.tobytes()))
            return super().act(observations, masks)

    async def one(player):
        async with player:
            seen.clear()  # the warm-up's
            await player.play(1, 1)
        return player

    async def main():
        async with ArenaHost(game, limits=FREE, seed=3) as host:
            agents = [ArenaAgent("watched", PolicyAgent(game, Watched(seed=9)))]
            agents += [ours(f"bot {seat}", game) for seat in range(1, game.seats)]
            games = [game.id]
            players = [ArenaPollingAgent(agent, host.url, games=games, times=QUICK) for agent in agents]
            for player in await asyncio.gather(*map(one, players)):
                assert (player.matches, player.lost, player.agent.statistics.replaced) == (1, 0, 0)
            return host.results

    (result,) = run(main(), within=110)
    assert seen == law_1
    # The dead, and who only receives, may have had no turn.
    assert seen or game.name in ("mafia", "werewolf", "dictator")
    assert not any(result.rejected.values()) and not any(result.failed.values())


def test_many_sessions_at_once_and_an_invitation():
    async def one(player, **play):
        async with player:
            await player.register()
            await player.play(**play)
        return player.matches, player.lost

    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, seat = await client.post("create", game_id="unfair-split", player_name="host")
            guest = asyncio.create_task(one(polling("guest", host.url), matches=1, invites=seat["invite_codes"]))
            while (await client.turn(seat["token"]))["status"] == "running":
                await client.post("act", token=seat["token"], action_type="pass", payload={})
            assert await guest == (1, 0)
            counts = await asyncio.gather(
                *(one(polling(name, host.url), sessions=5, matches=12) for name in ("ann", "bob"))
            )
            listed = (await client.call("GET", "/api/agents"))[1]["agents"]
            assert {row["agent_id"] for row in listed} == {"guest", "ann", "bob"}
            assert listed[0]["supported_games"] == ["unfair-split", "ultimatum"]  # which it plays elsewhere
            return counts

    assert run(main()) == [(12, 0), (12, 0)]


def test_who_waits_in_an_own_session_that_was_just_joined_joins_no_other():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http, polling("ann", host.url) as ann:
            client = Client(http, host.url)
            ann._own = await ann._open()
            await client.post("create", game_id="unfair-split", player_name="Bob")
            assert await ann._find() is None  # it is younger
            await client.post("join", invite_code=ann._own.invite_codes[0], player_name="Bob")
            assert await ann._find() is None  # the own one is no longer listed
            assert await ann._seat_that_begins(looking=True) is not None and ann._own is None
            assert await ann._find() is not None

    run(main())


@pytest.mark.parametrize("waiting", [0.01, 60.0])
def test_an_own_session_that_is_joined_at_the_end_is_played_too(waiting):
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, seat = await client.post("create", game_id="unfair-split", player_name="Bob")
            async with polling("ann", host.url) as ann:
                ann._times = replace(ann._times, waiting=waiting)  # 60: the match ends before it looks again
                own = ann._own = await ann._open()  # younger than Bob's, whose session is joined first
                playing = asyncio.create_task(ann.play(sessions=2, matches=1))
                await client.turn(seat["token"])
                _, other = await client.post("join", invite_code=own.invite_codes[0], player_name="Eve")
                while not playing.done():
                    for token in (seat["token"], other["token"]):
                        state = await client.state(token)
                        if state.get("is_my_turn"):
                            await client.post("act", token=token, action_type="pass", payload={})
                    await asyncio.sleep(0.01)
                await playing
                return ann.matches, ann.lost

    assert run(main()) == (2, 0)


def test_a_client_of_the_platform_plays_here():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, games = await client.call("GET", "/api/games")
            assert games["games"][0]["game_id"] == "unfair-split" and games["games"][0]["min_agents"] == 2
            async with http.get(f"{host.url}/api/games/unfair-split/rules") as reply:
                assert "submit_offer" in await reply.text()
            async with http.get(f"{host.url}/SKILL.md") as reply:
                assert '{"game_id": "unfair-split", "player_name": "Me"}' in await reply.text()
            _, ann = await client.post("create", game_id="unfair-split", player_name="Ann")
            assert (await client.state(ann["token"]))["status"] == "waiting"
            _, waiting = await client.call("GET", "/api/sessions?status=waiting&game_id=unfair-split")
            (session,) = waiting["sessions"]
            assert session["invite_codes"] == ann["invite_codes"] and session["slots_remaining"] == 1
            _, bob = await client.post("join", invite_code=session["invite_codes"][0], player_name="Bob")
            assert bob["status"] == "running"
            state = await client.turn(ann["token"])
            assert (state["game_id"], state["agent_id"], state["waiting"]) == ("unfair-split", "Ann", False)
            idle = {"status": "running", "is_my_turn": False, "waiting": True, "player_id": "Bob"}
            assert await client.state(bob["token"]) == idle
            assert (await client.post("act", token=bob["token"], action_type="pass"))[0] == 400
            said = [{"scope": "private", "content": "psst", "to_agent_ids": ["Bob", "nobody"]}]
            share = {"my_share": 40.0}
            _, answer = await client.post(
                "act", token=ann["token"], action_type="submit_offer", payload=share, messages=said
            )
            assert answer == {"ok": True}
            state = await client.turn(bob["token"])
            assert [m["content"] for m in state["messages"]] == ["psst"] and state["game_state"]["current_offer"] == 40
            assert (await client.post("act", token=bob["token"], action_type="wave"))[1] == {"ok": True}
            state = await client.turn(bob["token"])  # it was refused, and is asked again
            assert (await client.post("act", token=bob["token"], action_type="accept", payload={}))[0] == 200
            ends = [await client.turn(one["token"]) for one in (ann, bob)]
            assert [(end["status"], end["game_over"]) for end in ends] == [("finished", True)] * 2
            assert [row["agent_id"] for row in ends[0]["outcome"]["payoffs"]] == ["Ann", "Bob"]
            assert [end["player_id"] for end in ends] == ["Ann", "Bob"]  # by which a client finds its payoff
            assert host.results[0].rejected == {"Ann": 0, "Bob": 1}

    run(main())


def test_what_cannot_be_served_is_told():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, seat = await client.post("create", player_name="Ann")
            code, token = seat["invite_codes"][0], seat["token"]
            for path, body, status, words in (
                ("create", {"game_id": "chess"}, 400, "unknown game"),
                ("create", {"num_players": 3}, 400, "has 2"),
                ("create", {"game_params": {"total": 5}}, 400, "game_params"),
                ("create", {"player_name": "accept"}, 409, "a word of"),
                ("create", {"max_turns": 0}, 400, "max_turns"),
                ("join", {"invite_code": "inv_x"}, 400, "not known"),
                ("join", {"invite_code": code, "player_name": "Ann"}, 409, "already"),
                ("act", {"token": token, "action_type": "pass"}, 400, "is waiting"),
                ("act", {"token": "pt_x", "action_type": "pass"}, 401, "token"),
                ("act", {"token": token}, 400, "action_type"),
            ):
                found, answer = await client.post(path, **body)
                assert found == status and words in answer["error_detail"], (path, body, answer)
            assert (await client.call("GET", "/api/sessions/state"))[0] == 401
            for data in (b"", b"[]", b"{", b"\xff", b"[" * 9999):
                assert (await client.call("POST", "/api/sessions/create", data=data))[0] == 400
            assert (await client.call("GET", "/api/games/chess/rules"))[0] == 404

    run(main())


def test_an_access_token_guards_sessions_and_matches():
    async def main():
        async with (
            ArenaHost(BARGAINING, server=ServerSettings(access_token="sesame")) as host,
            aiohttp.ClientSession() as http,
        ):
            client = Client(http, host.url)
            assert (await client.post("create"))[0] == 401
            assert (await client.post("join", invite_code="x"))[0] == 401
            assert (await client.call("POST", "/api/match", json={"agent_ids": []}))[0] == 401
            async with polling("ann", host.url, access_token="sesame") as player:
                await player.register()

    run(main())


def test_matches_between_agents_that_are_here():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            host.add(ours("ann"))
            host.add(ours("bob"))
            client = Client(http, host.url)
            for wrong in (["ann"], ["ann", "ann"], ["ann", "eve"]):
                assert (await client.call("POST", "/api/match", json={"agent_ids": wrong}))[0] == 400
            body = {"agent_ids": ["ann", "bob"], "game_id": "unfair-split", "num_matches": 3}
            _, started = await client.call("POST", "/api/match", json=body)
            while True:
                _, told = await client.call("GET", f"/api/match/{started['session_id']}")
                if told["status"] == "finished":
                    break
                await asyncio.sleep(0.01)
            assert [result["agent_ids"] for result in told["results"]] == [["ann", "bob"]] * 3
            assert (await client.call("GET", "/api/match/x"))[0] == 404

    run(main())


def test_a_call_whose_results_cannot_be_told_ends_and_one_that_fails_is_an_error(monkeypatch):
    def full(result):
        raise OSError("no space left on device")

    async def main():
        async with ArenaHost(BARGAINING, on_result=full) as host, aiohttp.ClientSession() as http:
            host.add(ours("ann"))
            host.add(ours("bob"))
            client = Client(http, host.url)

            async def ended():
                _, started = await client.call("POST", "/api/match", json={"agent_ids": ["ann", "bob"]})
                while (told := await client.call("GET", f"/api/match/{started['session_id']}"))[1][
                    "status"
                ] == "running":
                    await asyncio.sleep(0.01)
                return told[1]

            assert (await ended())["status"] == "finished" and len(host.results) == 1
            monkeypatch.setattr(host, "_conclude", full)
            told = await ended()
            assert (told["status"], "no space" in told["error"]) == ("error", True)

    run(main())


def test_three_silent_turns_end_the_match():
    loop = VirtualLoop()
    host = ArenaHost(envs.game("bargaining"))
    rest = ArenaRest([host], None)
    sessions = rest._sessions

    async def main():
        session, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
        sessions.join(seat["invite_codes"][0], "bob", 0.0)
        task = asyncio.create_task(rest.play_session(host, session))
        bob = session.seats[list(session.seats)[1]]
        while not task.done():
            if bob.state is not None:
                assert bob.submit(AgentResponse(Action("pass")))
            await asyncio.sleep(0.5)
        return sessions.state(seat["token"], loop.time())

    end = loop.run_until_complete(main())
    loop.close()
    assert end["outcome"]["reason"] == "error" and "no answer in 3 turns" in end["error"]
    assert 180 <= loop.now < 190
    assert host.results[0].forced["ann"] == 2


def test_sessions_that_wait_expire_and_those_that_are_over_are_forgotten():
    sessions = HostedSessions()
    _, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
    assert sessions.state(seat["token"], 299.0)["status"] == "waiting"
    assert sessions.state(seat["token"], 301.0)["game_over"]
    with pytest.raises(SessionRefused, match="expired"):
        sessions.join(seat["invite_codes"][0], "bob", 301.0)
    for number in range(2 * MOST_ENDED):
        sessions.create("unfair-split", f"{number}", 2, None, 400.0 * number)
    assert json.loads(sessions.listed(None, None, 0, 1e9))["total"] == MOST_ENDED == len(sessions._by_token)
    with pytest.raises(SessionRefused, match="token"):
        sessions.state(seat["token"], 1e9)


def test_one_address_takes_its_share_of_the_sessions_and_those_that_wait_or_run_stay():
    sessions = HostedSessions()
    _, honest = sessions.create("unfair-split", "honest", 2, None, 0.0, "10.0.0.1")
    for number in range(limits.SESSIONS.each):
        _, seat = sessions.create("unfair-split", f"{number}", 2, None, 0.0, "10.0.0.2")
        if number % 2:
            sessions.join(seat["invite_codes"][0], "eve", 0.0)
    with pytest.raises(SessionRefused, match="too many sessions"):
        sessions.create("unfair-split", "more", 2, None, 0.0, "10.0.0.2")
    assert sessions.state(honest["token"], 0.0)["status"] == "waiting"
    assert sessions.create("unfair-split", "another", 2, None, 0.0, "10.0.0.3")
    sessions.expire(1e9)  # those that wait; half of the address's run
    assert sessions.create("unfair-split", "more", 2, None, 1e9, "10.0.0.2")


def test_the_list_has_pages_and_is_made_once_a_change():
    sessions = HostedSessions()
    for number in range(PAGE + 5):
        _, seat = sessions.create("unfair-split", f"{number}", 2, None, 0.0)
    pages = [sessions.listed("waiting", None, after, 0.0) for after in (0, PAGE, 2 * PAGE)]
    rows = [json.loads(page)["sessions"] for page in pages]
    assert list(map(len, rows)) == [PAGE, 5, 0] and rows[0][0]["players"][0]["display_name"] == "0"
    assert sessions.listed("waiting", None, PAGE, 0.0) is pages[1]
    sessions.join(seat["invite_codes"][0], "bob", 0.0)
    assert json.loads(sessions.listed("waiting", None, PAGE, 0.0))["total"] == PAGE + 4
    for after in range(1000):
        sessions.listed("waiting", None, after, 0.0)
    assert len(sessions._pages) <= PAGE
