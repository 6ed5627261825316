"""`parlour table`: what it makes of its options; the table itself is in tests/live."""

import asyncio
import ssl
from urllib.parse import urlsplit

import pytest
from parlour.training import cli
from parlour.training.commands import lookup, table


def test_a_language_model_has_four_fifths_of_a_turn(monkeypatch):
    models = []
    monkeypatch.setattr(table, "until_done", lambda work: work.close())
    monkeypatch.setattr(lookup, "LLMAgent", lambda model, *args, **options: models.append(model))
    args = ["table", "bargaining", "--agents", "llm", "--model", "small", "--timeout", "100", "--port", "0"]
    assert cli.main(args) == 0
    assert [model.timeout for model in models] == [80.0]


def test_the_link_of_a_table_for_one_address_is_that_address():
    assert table._link("http://127.0.0.1:8000") == "http://127.0.0.1:8000"


@pytest.mark.parametrize("url", ["http://0.0.0.0:8000", "http://[::]:8000"])
def test_the_link_of_a_table_for_all_addresses_names_one(url):
    link = urlsplit(table._link(url))
    assert link.port == 8000
    assert link.hostname not in ("0.0.0.0", "::", "")


@pytest.mark.parametrize("game", ["bargaining", "holdem"])
def test_a_certificate_reaches_the_server(game, monkeypatch, certificate):
    served = []
    monkeypatch.setattr(table, "until_done", lambda work: work.close())
    monkeypatch.setattr(table, "_serve", lambda host, *rest: served.append(host) or asyncio.sleep(0))
    cert, key = map(str, certificate)
    assert cli.main(["table", game, "--port", "0", "--tls-cert", cert, "--tls-key", key]) == 0
    assert [isinstance(host.tls, ssl.SSLContext) for host in served] == [True]
