"""`.ci/size`: a code line too many fails, and the limit of a total never rises."""

import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copy

import pytest

SIZE = Path(__file__).parents[1] / ".ci" / "size"
pytestmark = pytest.mark.skipif(not SIZE.exists(), reason="only a checkout has it")
SOURCE = '''"""A docstring."""

# A comment.
def one():
    """Return 1."""
    return (
        """text"""
    )
'''


def test_a_line_too_many_and_a_raised_total_fail(tmp_path):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    def size(*words):
        command = [sys.executable, str(tmp_path / ".ci" / "size"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for name in (".ci", "envs/core", "wrappers/live/poker", "docs"):
        (tmp_path / name).mkdir(parents=True)
    copy(SIZE, tmp_path / ".ci")
    (tmp_path / "envs/core/a.py").write_text(SOURCE)
    (tmp_path / "wrappers/live/poker/b.py").write_text(SOURCE * 2)
    (tmp_path / "docs/a.md").write_text("three short words\n")
    git("init", "-q")
    assert size("--lower").returncode == 0
    file = tmp_path / ".ci" / "size.toml"
    limits = file.read_text()
    expected = {"envs/core": 4, "wrappers/live": 8, "wrappers/live/poker": 8, "wrappers": 8, "packages": 12, "words": 3}
    assert expected.items() <= tomllib.loads(limits).items()
    git("add", "-A")
    git("commit", "-qm", "limits")
    for line, code in (("# a comment more\n", 0), ("x = 1\n", 1)):
        with (tmp_path / "envs/core/a.py").open("a") as source:
            source.write(line)
        told = size()
        assert told.returncode == code
    assert "envs/core: 5 is more than 4" in told.stderr and "packages: 13 is more than 12" in told.stderr
    (tmp_path / "envs/core/a.py").write_text(SOURCE)
    file.write_text(limits.replace('"envs/core" = 4', '"envs/core" = 40'))
    assert size().returncode == 0  # a folder's limit may rise
    file.write_text(limits.replace('"packages" = 12', '"packages" = 40'))
    told = size()
    assert told.returncode == 1 and "packages: its limit of 40 was 12 before" in told.stderr
