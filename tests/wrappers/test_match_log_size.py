"""Match logs of limited size."""

import pytest
from parlour.wrappers.logs.match_log import MatchLog, read


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
