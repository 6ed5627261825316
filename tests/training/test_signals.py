"""Signals that stop a run, while the run must not be interrupted."""

import signal
from contextlib import closing

import pytest
from parlour.training.parallel.tasks import held_back
from parlour.training.runs.run import Metrics


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_effect_at_the_end_of_the_block(sign):
    got = []
    before = signal.signal(sign, lambda number, frame: got.append(number))
    try:
        with held_back():
            signal.raise_signal(sign)
            signal.raise_signal(sign)
            assert got == []
        assert got == [sign]  # once
        signal.raise_signal(sign)
        assert got == [sign, sign]
    finally:
        signal.signal(sign, before)


def test_without_a_signal_nothing_changes_also_after_an_error():
    before = [signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyError), held_back():
        raise KeyError("mine")
    assert [signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)] == before


def test_ctrl_c_while_metrics_are_written_comes_after_they_are_whole(tmp_path, monkeypatch):
    metrics = Metrics(tmp_path)
    written = []

    def add_scalar(name, value, timesteps):
        signal.raise_signal(signal.SIGINT)
        written.append(name)

    monkeypatch.setattr(metrics._board, "add_scalar", add_scalar)
    with closing(metrics), pytest.raises(KeyboardInterrupt):
        metrics.write({"loss": 1.0, "reward": 2.0}, 64)
    assert written == ["loss", "reward"]
    assert (tmp_path / "metrics.jsonl").read_text() == '{"steps": 64, "loss": 1.0, "reward": 2.0}\n'
