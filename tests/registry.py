"""PettingZoo's registry, for tests that make an environment by its id."""

import pytest


def with_registry():
    """Return PettingZoo; skip the test if its version has no registry."""
    return pytest.importorskip("pettingzoo", minversion="1.27")
