"""Agents of other libraries, where their library is missing."""

import sys

import pytest
from parlour import envs
from parlour.training.commands.lookup import agent


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "negmas", None)
    monkeypatch.delitem(sys.modules, "parlour.wrappers.negmas", raising=False)
    with pytest.raises(ImportError, match=r"need the package negmas: .*\[negmas\]"):
        agent("negmas:AspirationNegotiator", envs.game("multi_issue_bargaining"))
