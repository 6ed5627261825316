"""`make soak`: what explains a fault and what does not, memory, and small runs of the command."""

import json
from collections import Counter
from random import Random
from types import SimpleNamespace

import pytest
from soak.__main__ import main
from soak.claims import Claims, growth
from soak.poker import CLAIMS, HandLog, PokerWatch
from soak.proxy import FaultRates, frame_fault, wait
from soak.proxy import broken as broken_off

# Faults.


def test_faults_come_as_often_as_the_rates_say_and_again_with_the_seed():
    rates = FaultRates(drop=0.1, broken=0.05, delay=0.2, duplicate=0, reorder=0.01)
    drawn = [frame_fault(rates, Random(f"{seed}")) for seed in range(300)]
    many, again = ([frame_fault(rates, random) for _ in range(20_000)] for random in (Random("7"), Random("7")))
    assert many == again
    assert len(set(drawn)) > 1
    share = {fault: count / 20_000 for fault, count in Counter(many).items()}
    assert share == pytest.approx({None: 0.64, "drop": 0.1, "break": 0.05, "delay": 0.2, "reorder": 0.01}, rel=0.15)
    assert rates.scaled(0).drop == 0 and rates.scaled(2).delay == 0.4
    assert rates.scaled(0).longest_delay == rates.longest_delay
    assert wait(0, Random("7")) == float("inf")
    with pytest.raises(ValueError, match="together at most 1"):
        rates.scaled(10)
    random = Random("7")
    cuts = {broken_off(b'{"type": "ping"}', random) for _ in range(200)}
    assert len(cuts) > 10 and all(b'{"type": "ping"}'.startswith(cut) and 0 < len(cut) < 16 for cut in cuts)


# Memory.


def test_growth_has_an_interval_that_neighbours_widen():
    noise, walk, at = Random(0), [], 0.0

    def grown(mb):
        return growth([(10.0 * i, 200 + mb * i / 360 + noise.gauss(0, 1)) for i in range(360)], 2.0)

    flat, leaking = grown(0), grown(10)
    low, high = flat["interval_95"]
    assert low < 0 < high and high - low < 2 and flat["verdict"] == "flat"
    assert leaking["interval_95"][0] < 10 < leaking["interval_95"][1] and leaking["verdict"] == "grows"
    for i in range(360):
        at += noise.gauss(0, 1)
        walk.append((10.0 * i, 200 + at))
    wide = growth(walk, 2.0)["interval_95"]
    assert wide[1] - wide[0] > 10 * (high - low)
    assert growth(walk[:2], 2.0)["verdict"] == "undecided"


# What is explained by a fault.


@pytest.fixture
def watch(monkeypatch):
    now = SimpleNamespace(time=1000.0)
    monkeypatch.setattr("soak.poker.clock", lambda: now.time)
    watch = PokerWatch(Claims(CLAIMS), 8.0, 30.0)
    watch.now = now
    watch.seat("key", "agt", "agents-1")
    return watch


def request(path="/v1/ws", **query):
    return SimpleNamespace(path=path, query=query, headers={"Authorization": "Bearer key"})


def connected(watch):
    seat = {"session_token": "s", "agent_id": "agt", "table_id": "tbl", "seat_id": 2}
    watch.answered(request("/v1/tables/auto-join"), b"{}", 200, json.dumps(seat).encode())
    return watch.open_line(request(token="s"))


def state(token=None, hand=7):
    return json.dumps({"type": "game_state", "hand": hand, **({"turn_token": token} if token else {})})


def broken(watch):
    return {name for name, claim in watch.claims.claims.items() if claim.broken}


def sent(line, sender, text):
    line.arrived(sender, text)
    line.left(sender, text)


@pytest.mark.parametrize("fault", ["drop", "cut", "duplicate", None])
def test_a_forfeit_needs_a_fault_that_holds_the_turn(watch, fault):
    line = connected(watch)
    sent(line, "host", state())
    if fault == "cut":
        line.fault("drop")  # before the turn: explains nothing
    line.arrived("host", state("t"))
    if fault is not None:
        line.fault(fault)
    watch.now.time += 10
    line.arrived("host", state())
    assert broken(watch) == (set() if fault in ("drop", "break", "delay", "cut") else {"forfeits"})
    assert watch.forfeits["tbl", 7, 2] == 1


def hand(cause, number=7, before=(100, 100), after=(90, 110)):
    agents = ("other", "agt")
    return {
        "kind": "hand",
        "table_id": "tbl",
        "hand": number,
        "players": [{"seat": i + 1, "agent_id": agents[i], "stack": before[i]} for i in range(2)],
        "actions": [{"seat": 2, "kind": "fold", **({"cause": cause} if cause else {})}],
        "results": [{"seat": i + 1, "stack": after[i]} for i in range(2)],
    }


def judged(watch, path, *hands):
    log = HandLog(path, watch)
    with path.open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in hands)
    log.read()
    log.judge(float("inf"))


@pytest.mark.parametrize("cause", ["timeout", "left"])
def test_what_the_host_did_for_an_agent_is_explained_by_its_absence(watch, tmp_path, cause):
    line = connected(watch)
    sent(line, "host", state())
    line.closed("cut", None)
    watch.now.time += 10
    connected(watch)
    judged(watch, tmp_path / "one", hand(cause))
    assert broken(watch) == set()
    watch.now.time += 100
    sent(line, "host", state(hand=8))
    judged(watch, tmp_path / "two", hand(cause, 8))
    assert broken(watch) == {"forfeits"}


def test_chips_are_followed_from_hand_to_hand(watch, tmp_path):
    judged(watch, tmp_path / "one", hand(None), hand(None, 8, (90, 110), (0, 200)))
    assert broken(watch) == set() and watch.claims.claims["chips"].checks == 4
    judged(watch, tmp_path / "two", hand(None, 9, (100, 100), (100, 101)))
    assert watch.claims.claims["chips"].broken == 1
    judged(watch, tmp_path / "three", hand(None, 10), hand(None, 11, (91, 109), (91, 109)))
    assert watch.claims.claims["chips"].broken == 2


# The command.


def soak(tmp_path, *args):
    report = tmp_path / "report.json"
    code = main(["--folder", str(tmp_path), "--json", str(report), *args])
    return code, json.loads(report.read_text())


@pytest.mark.slow
def test_a_short_soak_holds_with_every_fault(tmp_path, capsys):
    options = ["--stack", "1000", "--hand-delay", "0.3", "--faults", "12", "--hours", "0.006", "--think", "0.2"]
    code, report = soak(tmp_path, "--tables", "3", "--processes", "2", "--seed", "1", *options)
    assert code == 0, capsys.readouterr().out
    counts = report["counts"]
    assert sum(count for name, count in counts.items() if name.startswith("fault ")) > 5
    assert counts["hands"] > 0 and counts["saved states checked"] > 0  # how many depends on the machine
    for name in ("forfeits", "deadlines", "chips", "running", "logs"):
        assert report["claims"][name]["checks"] > 0
    assert "no turn is forfeited that no fault held" in capsys.readouterr().out


@pytest.mark.slow
def test_a_soak_tells_of_agents_that_are_too_slow(tmp_path, capsys):
    options = ["--think", "1.5", "--timeout", "1.0", "--faults", "0", "--hours", "0.002"]
    code, report = soak(tmp_path, "--tables", "1", "--processes", "1", *options)
    assert code == 1 and report["claims"]["replaced"]["broken"] > 0
    assert "BROKEN" in capsys.readouterr().out
