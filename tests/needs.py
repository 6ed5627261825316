"""What a test needs and an installation may lack: the test is skipped, and the list at the end says how to get it."""

import os
import shutil
from typing import Any

import pytest


def library(name: str, extra: str = "dev") -> Any:
    """Return a library; skip the test where it is missing."""
    return pytest.importorskip(name, reason=f"{name} is missing: pip install -e '.[{extra}]'")


def framework(name: str) -> Any:
    """Return a library that `make frameworks` installs; skip the test where it is missing."""
    return pytest.importorskip(name, reason=f"{name} is missing: make frameworks")


def program(*names: str, package: str) -> str:
    """Return the path of the first of these programs that there is; without one, skip the test, but fail in CI."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None and not os.environ.get("CI"):
        pytest.skip(f"{names[0]} is missing: apt-get install {package}")
    assert path is not None, f"CI tests need {names[0]}: apt-get install {package}"
    return path
