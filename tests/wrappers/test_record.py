"""Match logs: what is written can be read and played again."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.envs.holdem.hands import card_name
from parlour.wrappers.logs.match_log import MatchLog, Recorder, SafeMatchLog, read
from parlour.wrappers.logs.program_log import ForTerminal
from parlour.wrappers.replay.log_reader import moments, replay


def test_a_recorded_match_replays_to_the_same_bytes(game, tmp_path):
    env = envs.GameEnv(game)
    path = tmp_path / "runs" / "match.jsonl"
    numbers = np.random.default_rng(3)
    with MatchLog(path) as log:
        recorder = Recorder(log, env, seed=11)
        while not env.table.done:
            mask = game.mask(env.table, int(env.table.turn))
            assert recorder.play(int(numbers.choice(np.flatnonzero(mask)))).ok
    first, *_, last = read(path)
    assert (first["kind"], first["game"], first["seed"]) == ("match", game.id, 11)
    assert last["kind"] == "end"
    assert last["outcome"]["payoffs"]
    assert replay(path).state().tobytes() == env.state().tobytes()


def test_given_cards_are_in_the_log(tmp_path):
    env, path = envs.make("holdem", seats=2), tmp_path / "match.jsonl"
    setup = {"cards": [["As", "Ah"], None], "board": ["Kd", "Kc", "2c"]}
    with MatchLog(path) as log:
        recorder = Recorder(log, env, seed=3, setup=setup)
        for _ in range(3):
            assert recorder.play(1).ok
        recorder.play(0)
    assert next(read(path))["setup"] == setup
    assert replay(path).state().tobytes() == env.state().tobytes()
    assert [card_name(card) for card in replay(path).table.board[:3]] == setup["board"]
    told = list(moments(path))
    assert told[-1].states["player_0"] == env.turn_state("player_0")


def test_a_live_log_is_read_and_not_played_again(tmp_path):
    env = envs.make("holdem", seats=2)
    env.reset(seed=1)
    state, response = env.turn_state("player_0"), AgentResponse(Action("call"))
    with MatchLog(tmp_path / "log") as log:
        log.write("joined", seat=0)
        log.write("turn", hand=1, turn_state=state, response=response)
        log.write("hand", hand=1, won=np.int64(3))
    _, turn, hand = read(tmp_path / "log")
    assert (TurnState.from_dict(turn["turn_state"]), AgentResponse.from_dict(turn["response"])) == (state, response)
    assert hand["won"] == 3
    with pytest.raises(ValueError, match="middle of a match"):
        envs_log = tmp_path / "env"
        envs_log.write_text('{"kind":"turn","agent":"player_0","response":{"action_type":"fold"}}\n')
        replay(envs_log)


def test_secrets_are_left_out(tmp_path):
    with MatchLog(tmp_path / "log") as log:
        log.write("odd", turn_token="x", deep=[{"api_key": "y", "Authorization": "z", "fine": 1}])
    assert json.loads((tmp_path / "log").read_text()) == {"kind": "odd", "deep": [{"fine": 1}]}


def test_names_of_players_are_no_secrets_whatever_they_are_called(tmp_path):
    votes = {"token": "Secretary", "Secretary": "token"}
    with MatchLog(tmp_path / "log") as log:
        for players in ({"agents": [{"id": "token", "name": "Secretary"}]}, {"agent_ids": ["token", "Secretary"]}):
            log.write("match", **players, options={"token": 1, "seats": 2})
            log.write("event", payload={"votes": votes, "token": "x", "settings": {"access_token": "y"}})
        log.write("match", agent_ids=["a", "b"])
        log.write("event", payload=votes)
    for match, event in (list(read(tmp_path / "log"))[at : at + 2] for at in (0, 2)):
        assert match["options"] == {"seats": 2}
        assert event["payload"] == {"votes": votes, "settings": {}}
    assert list(read(tmp_path / "log"))[-1]["payload"] == {}


def test_appending_and_a_line_cut_off(tmp_path):
    path = tmp_path / "log"
    for number in range(2):
        with MatchLog(path) as log:
            log.write("line", number=number)
    with path.open("a") as file:
        file.write('{"kind": "li')
    assert [entry["number"] for entry in read(path)] == [0, 1]
    with MatchLog(path) as log:
        log.write("line", number=2)
    assert [entry["number"] for entry in read(path)] == [0, 1, 2]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"no": "kind"}', '{"kind":' + 9_999 * "[" + 9_999 * "]" + "}"])
def test_what_is_no_log_is_named(tmp_path, line):
    (tmp_path / "log").write_text(f'{{"kind":"a"}}\n{line}\n')
    with pytest.raises(ValueError, match="line 2"):
        list(read(tmp_path / "log"))
    with pytest.raises(ValueError, match="no decision"):
        (tmp_path / "empty").write_text("")
        replay(tmp_path / "empty")


@pytest.mark.parametrize(
    ("line", "field"),
    [('{"kind":"match","game":"holdem"}', "seed"), ('{"kind":"turn","agent":"player_0"}', "response")],
)
def test_a_log_that_lacks_a_field_does_not_replay(tmp_path, line, field):
    with MatchLog(tmp_path / "log") as log:
        Recorder(log, envs.make("holdem", seats=2), seed=1)
    with (tmp_path / "log").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=f"line 2: a .* line lacks '{field}'"):
        replay(tmp_path / "log")


def test_refused_answers_are_not_written_and_an_edited_log_does_not_replay(tmp_path):
    env = envs.make("holdem", seats=2)
    with MatchLog(tmp_path / "log") as log:
        recorder = Recorder(log, env, seed=1)
        assert not recorder.submit(env.agent_selection, Action("raiseTo", {"amount": 1})).ok
        assert recorder.submit(env.agent_selection, {"action_type": "raiseTo", "payload": {"amount": 7}}).ok
        assert [entry["kind"] for entry in read(tmp_path / "log")] == ["match", "turn"]
        assert replay(tmp_path / "log").state().tobytes() == env.state().tobytes()
        log.write("turn", agent=env.agent_selection, response=Action("check"))
    with pytest.raises(ValueError, match=r"does not replay: player_. "):
        replay(tmp_path / "log")


def test_what_editors_leave_behind_is_passed_over_and_what_cannot_be_logged_is_named(tmp_path):
    (tmp_path / "log").write_bytes(b'\xef\xbb\xbf{"kind": "a"}\r\n\r\n  \n{"kind": "b"}\r\n\n')
    assert [entry["kind"] for entry in read(tmp_path / "log")] == ["a", "b"]
    with MatchLog(tmp_path / "log") as log, pytest.raises(TypeError, match="object"):
        log.write("bad", thing=object())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device is always full here")
def test_a_full_disk_ends_a_hosts_log_and_nothing_else(tmp_path, caplog):
    with MatchLog(tmp_path / "match.jsonl") as log:
        log._file.close()
        log._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115
        book = SafeMatchLog(log)
        book.write("hand", number=1)
        assert book.target is None
        book.write("hand", number=2)
    assert caplog.text.count("the match log ends here") == 1


def test_full_files_are_renamed_and_the_oldest_is_deleted(tmp_path):
    with MatchLog(tmp_path / "log.jsonl", most_bytes=100, old_files=2) as log:
        for number in range(30):
            log.write("turn", number=number)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log.1.jsonl", "log.2.jsonl", "log.jsonl"]
    kept = [line["number"] for name in ("log.2.jsonl", "log.1.jsonl", "log.jsonl") for line in read(tmp_path / name)]
    assert kept == list(range(30 - len(kept), 30)) and len(kept) >= 8
    assert all(one.stat().st_size < 130 for one in tmp_path.iterdir())


def test_a_match_is_never_divided(tmp_path):
    with MatchLog(tmp_path / "log.jsonl", most_bytes=100, old_files=9) as log:
        for _ in range(3):
            log.write("match", game="x")
            for number in range(20):
                log.write("turn", number=number)
            log.write("end")
    for name in ("log.jsonl", "log.1.jsonl", "log.2.jsonl"):
        kinds = [line["kind"] for line in read(tmp_path / name)]
        assert kinds == ["match", *["turn"] * 20, "end"]


def test_the_size_counts_what_an_earlier_run_wrote(tmp_path):
    path = tmp_path / "log.jsonl"
    for _ in range(2):
        with MatchLog(path, most_bytes=40) as log:
            log.write("turn", text="x" * 30)
    assert len(list(read(path))) == len(list(read(tmp_path / "log.1.jsonl"))) == 1


@pytest.mark.parametrize("given", [{"most_bytes": 0}, {"old_files": 0}])
def test_wrong_limits_are_named(tmp_path, given):
    with pytest.raises(ValueError, match="at least 1"):
        MatchLog(tmp_path / "log.jsonl", **given)


ADDRESS = "http://127.0.0.1:9000/v1/tables?key=0123456789012345678901234567890123456789"


@pytest.mark.parametrize("columns", [1, 40, 80])
def test_lines_of_a_terminal_break_between_words_and_addresses_stay_whole(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = f"hand 12 of table low-stakes-1: won 4 chips, 3 refused, see {ADDRESS}"
    lines = ForTerminal().format(logging.LogRecord("parlour", logging.INFO, "", 0, text, (), None)).split("\n")
    assert " ".join(line.strip() for line in lines).split(" ", 1)[1] == text
    assert all(len(line) < max(columns, 21) for line in lines if ADDRESS not in line)
