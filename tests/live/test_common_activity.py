"""What a live program tells about itself, its memory, and the database of a server."""

import asyncio
import json
import logging
import platform

import aiohttp
import pytest
from live.full_disk import full_disk
from parlour.training.commands.activity import REPLACED_IN_A_ROW, Activity, resident_bytes, trim_memory
from parlour.training.commands.health import STUCK_SECONDS, Heartbeat, serving_health
from parlour.wrappers.agents.language_model import ModelStatistics
from parlour.wrappers.live.common import database as module
from parlour.wrappers.live.common.client import Backoff, Link, LiveError, retry
from parlour.wrappers.live.common.database import Database, SaveError
from parlour.wrappers.live.common.player import AgentStatistics
from prometheus_client.parser import text_string_to_metric_families


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_link_counts_reconnects_but_no_planned_ends(clock):
    link = Link(clock)
    clock.now += 5
    assert (link.connected, link.away, link.reconnects) == (False, 5, 0)
    link.up()
    assert (link.connected, link.away, link.reconnects) == (True, 0, 0)
    link.down()
    clock.now += 7
    link.down()  # another failure does not begin the time anew
    assert link.away == 7
    link.up()
    link.up()
    assert link.reconnects == 1
    link.down(lost=False)
    link.up()
    assert link.reconnects == 1


@pytest.mark.virtual_time
async def test_failed_attempts_end_the_connection():
    link = Link()
    link.up()

    async def fail():
        raise OSError

    with pytest.raises(LiveError):
        await retry(fail, Backoff(1.0, 2, link=link))
    assert not link.connected


def test_a_status_line_has_what_applies_and_nothing_else():
    statistics = AgentStatistics()
    assert Activity().line().endswith("MB of memory, after 0:00:00")
    told = Activity(counts=lambda: {"chips": 1234, "hands": 12}, statistics=statistics, link=Link())
    assert told.line().startswith("12 hands, 0 decisions, 0 replaced, 0 refused, 0 reconnects, +1,234 chips, ")
    statistics.decided(0.25, replaced=True)
    assert (
        "1 decision, 1 replaced" in told.line()
        and "half of the decisions within 0.250 s, 99 % within 0.250 s" in told.line()
    )
    assert told.fields()["median_seconds"] == 0.25
    assert "-3 chips, a mean, " in Activity(counts=lambda: {"chips": -3}, score=lambda: "a mean").line()


def test_problems_are_a_lost_connection_and_an_agent_that_is_always_replaced(clock):
    statistics, link = AgentStatistics(), Link(clock)
    activity = Activity(statistics=statistics, link=link, patience=60)
    clock.now += 60
    assert activity.problem() is None
    clock.now += 1
    assert activity.problem() == "no connection to the platform for 61 s"
    link.up()
    for _ in range(REPLACED_IN_A_ROW):
        assert activity.problem() is None
        statistics.decided(0.1, replaced=True)
    assert activity.problem() == f"the safe action replaced the agent's last {REPLACED_IN_A_ROW} answers"
    statistics.decided(0.1, replaced=False)
    assert activity.problem() is None


def served(activity, heartbeat=None):
    return serving_health(activity, heartbeat or Heartbeat())


async def get(url, **headers):
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as reply:
        return reply.status, await reply.text()


async def test_metrics_are_those_of_prometheus():
    statistics = AgentStatistics()
    for seconds in (0.0005, 0.003, 0.2, 99.0):
        statistics.decided(seconds, replaced=seconds > 1)
    activity = Activity(counts=lambda: {"hands": 7, "chips": -20}, statistics=statistics, link=Link())
    with served(activity) as url, served(Activity()) as other:  # each has a registry of its own
        status, text = await get(f"{url}/metrics")
        _, bare = await get(f"{other}/metrics")
    assert status == 200 and "parlour" not in bare
    found = {
        (sample.name, sample.labels.get("le")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["parlour_hands_total", None] == 7 and found["parlour_chips", None] == -20
    assert found["parlour_decisions_total", None] == 4 and found["parlour_replaced_total", None] == 1
    assert found["parlour_connected", None] == 0 and found["parlour_reconnects_total", None] == 0
    buckets = [found["parlour_decision_seconds_bucket", bound] for bound in ("0.001", "0.003", "0.1", "0.3", "+Inf")]
    assert buckets == [1, 2, 2, 3, 4] and found["parlour_decision_seconds_count", None] == 4
    assert found["parlour_decision_seconds_sum", None] == pytest.approx(99.2035)
    assert found["process_resident_memory_bytes", None] > 10**7


async def test_metrics_of_language_models_have_a_label_for_the_seat():
    model = ModelStatistics(decisions=5, replaced=1, input_size=70, output_size=9, seconds=2.5, cost=0.25)
    model.faults.update(["illegal", "illegal", "late"])
    with served(Activity(models=lambda: {"player_0": model})) as url, served(Activity()) as other:
        _, text = await get(f"{url}/metrics")
        _, bare = await get(f"{other}/metrics")
    assert "parlour_model" not in bare
    found = {
        (sample.name.removeprefix("parlour_model_"), sample.labels.get("fault")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("seat") == "player_0"
    }
    assert found["decisions_total", None] == 5 and found["tokens_in_total", None] == 70
    assert found["seconds_total", None] == 2.5 and found["cost_total", None] == 0.25
    faults = {fault: count for (name, fault), count in found.items() if name == "faults_total"}
    assert faults == {"illegal": 2, "unparsable": 0, "late": 1, "refused": 0, "failed": 0, "unfinished": 0}


async def test_health_says_what_is_wrong(clock):
    link, heartbeat = Link(clock), Heartbeat()
    activity = Activity(counts=lambda: {"hands": 3}, link=link)
    link.up()
    with served(activity, heartbeat) as url:
        status, text = await get(f"{url}/healthz")
        told = json.loads(text)
        assert (status, told["healthy"], told["problem"], told["hands"]) == (200, True, None, 3)
        heartbeat.latest -= STUCK_SECONDS + 1
        status, text = await get(f"{url}/healthz")
        assert status == 503 and "the event loop has been stuck for 21 s" in json.loads(text)["problem"]
        beating = asyncio.create_task(heartbeat.beat())
        await asyncio.sleep(0)
        assert (await get(f"{url}/healthz"))[0] == 200
        beating.cancel()
        link.down()
        clock.now += 301
        status, text = await get(f"{url}/healthz")
        assert status == 503 and json.loads(text)["problem"] == "no connection to the platform for 301 s"


async def test_a_web_page_cannot_read_health_or_metrics():
    with served(Activity()) as url:
        for path in ("healthz", "metrics"):
            assert (await get(f"{url}/{path}", Origin="http://evil.example"))[0] == 403
            assert (await get(f"{url}/{path}", Host="evil.example"))[0] == 403


async def test_a_taken_port_is_an_error():
    with served(Activity()) as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(OSError), serving_health(Activity(), Heartbeat(), port=port):
            pass


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is trimmed")
async def test_free_memory_between_blocks_in_use_is_given_back():
    blocks = [bytes(1024) for _ in range(200_000)]
    kept = blocks[::64]
    del blocks
    before = resident_bytes()

    task = asyncio.create_task(trim_memory(0.01))
    await asyncio.sleep(0.2)
    task.cancel()

    assert resident_bytes() < before - 150_000_000
    assert len(kept) == 3125


SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY);"
LONG = "x" * 100_000


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "file", SCHEMA, "words")
    yield made
    made.close()


def words(database):
    return [word for (word,) in database.read("SELECT word FROM words ORDER BY word")]


def test_a_full_disk_changes_nothing_warns_once_a_minute_and_is_told(database, caplog, monkeypatch):
    database.write("INSERT INTO words VALUES (?)", ("a",))
    with full_disk(database):
        for _ in range(5):
            with pytest.raises(SaveError, match="cannot save words: database or disk is full"):
                database.write("INSERT INTO words VALUES (?)", (LONG,))
            with pytest.raises(SaveError), database.changes():
                database.write("DELETE FROM words")
                database.write("INSERT INTO words VALUES (?)", (LONG,))
        assert words(database) == ["a"]
        assert database.problem == "cannot save words: database or disk is full"
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [(logging.WARNING, None)]
    database.write("INSERT INTO words VALUES (?)", ("b",))
    assert words(database) == ["a", "b"] and database.problem is not None
    monkeypatch.setattr(module, "FAILING_SECONDS", 0.0)
    assert database.problem is None


def test_a_file_has_one_server(tmp_path, database):
    with pytest.raises(ValueError, match=r"cannot keep words in .*locked; another server uses it"):
        Database(tmp_path / "file", SCHEMA, "words")
