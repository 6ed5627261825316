"""Saved tables of runs of version 0.2, which names a class by the module in which it was then."""

import sys
from types import ModuleType

import numpy as np
import pytest
from parlour import envs
from parlour.envs.holdem.luck import AllInEquity
from parlour.wrappers.rl.tables import SelfPlayTables

KUHN, TRUST, HOLDEM = envs.game("kuhn"), envs.game("trust"), envs.game("holdem", seats=2)


@pytest.mark.parametrize(
    ("game", "saved", "module", "name"),
    [
        (KUHN, KUHN.bots["maniac"](KUHN), "parlour.envs.kuhn.bots", "Bot"),
        (TRUST, TRUST.bots["equilibrium"](TRUST), "parlour.envs.stages.bots", "StageBot"),
        (HOLDEM, AllInEquity(2, 100, 7), "parlour.training.games.holdem.all_in", "AllInEquity"),
    ],
)
def test_what_was_saved_when_its_class_was_elsewhere_loads(game, saved, module, name, tmp_path, monkeypatch):
    kind, before = type(saved), ModuleType(module)
    before.__dict__[name] = saved.__class__ = type(name, (kind,), {"__module__": module})
    rewards = kind is AllInEquity
    tables = SelfPlayTables(game, 4, expected_rewards=saved if rewards else None)
    tables.reset(seed=3)
    if not rewards:
        tables.policies = [saved]
    with monkeypatch.context() as then:
        then.setitem(sys.modules, module, before)
        tables.save(tmp_path / "tables.pkl")
    assert module.encode() in (tmp_path / "tables.pkl").read_bytes()
    again = SelfPlayTables(game, 4, expected_rewards=AllInEquity(2, 100, 0) if rewards else None)
    again.load(tmp_path / "tables.pkl")
    found = again._expected_rewards if rewards else again.policies[0]
    assert type(found) is kind
    assert not rewards or found._random.integers(2**60) == saved._random.integers(2**60)


def test_tables_with_the_records_of_an_earlier_version_begin_again(tmp_path, caplog):
    """The log of a hand has changed since version 0.2: such a run goes on with new episodes."""
    tables = SelfPlayTables(HOLDEM, 8)
    tables.reset(seed=3)
    now = tables.tables.tables
    fields = [("log_seat", "i1", 4), *((name, now.dtype[name]) for name in now.dtype.names if name != "log")]
    tables.tables.tables = np.zeros(8, fields).view(np.recarray)
    tables.save(tmp_path / "tables.pkl")
    again = SelfPlayTables(HOLDEM, 8)
    assert not again.load(tmp_path / "tables.pkl")
    assert [record.message.partition(": ")[2] for record in caplog.records] == [
        "its tables are of an earlier version, so their episodes begin again"
    ]
    again.reset(seed=3)
    again.step(again.tables.sample())
