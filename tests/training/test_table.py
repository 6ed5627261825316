"""`parlour table`: what it makes of its options; the table itself is in tests/live."""

import asyncio
import shutil
import ssl
from urllib.parse import urlsplit

import pytest
from parlour import zoo
from parlour.envs import game
from parlour.training import cli
from parlour.training.commands import lookup, supervisor, table
from parlour.training.commands.arguments import PlayersArguments, TableArguments


@pytest.fixture(autouse=True)
def serves_for_no_time(monkeypatch):
    monkeypatch.setattr(supervisor, "until_done", lambda work: work.close())


def test_a_language_model_has_four_fifths_of_a_turn(monkeypatch):
    models = []
    monkeypatch.setattr(lookup, "LLMAgent", lambda model, *args, **options: models.append(model))
    args = ["table", "bargaining", "--agents", "llm", "--model", "small", "--timeout", "100", "--port", "0"]
    assert cli.main(args) == 0
    assert [model.timeout for model in models] == [80.0]


@pytest.mark.parametrize("url", ["http://0.0.0.0:8000", "http://[::]:8000"])
def test_the_link_of_a_table_for_all_addresses_names_one(url):
    link = urlsplit(table._link(url))
    assert link.port == 8000 and link.hostname not in ("0.0.0.0", "::", "")


@pytest.mark.parametrize("args", [["bargaining"], ["holdem"], ["kuhn", "--lobby"]], ids=str)
def test_a_certificate_reaches_the_server(args, monkeypatch, certificate):
    served = []
    monkeypatch.setattr(table, "serving", lambda host, *rest: served.append(host) or asyncio.sleep(0))
    cert, key = map(str, certificate)
    assert cli.main(["table", *args, "--port", "0", "--tls-cert", cert, "--tls-key", key]) == 0
    servers = [getattr(host, "host", host) for host in served]  # a poker table has a poker host
    assert [isinstance(server.settings.tls, ssl.SSLContext) for server in servers] == [True]


def test_a_lobby_offers_the_zoo_the_bots_and_own_policies_of_each_game(tmp_path):
    mine = shutil.copy(zoo.weights("zoo:kuhn"), tmp_path / "mine.npz")
    wanted = (("kuhn", [str(mine)]), ("cournot", []))
    [kuhn, cournot] = [table._offer(game(name), policies, hands=30) for name, policies in wanted]
    assert [(one.name, one.trained, one.seats) for one in kuhn.opponents][:3] == [
        ("zoo:kuhn", True, (2,)),
        (str(mine), True, (2,)),
        ("random", False, (2,)),
    ]
    assert {one.seats for one in cournot.opponents} == {tuple(range(2, 9))}
    assert (kuhn.seats, kuhn.any_seats, cournot.any_seats) == (2, False, True)
    assert [one.name for one in cournot.opponents if one.trained] == ["zoo:cournot"]


def test_a_lobby_offers_a_policy_only_at_the_seats_at_which_it_can_play():
    offer = table._offer(game("ultimatum"), ("zoo:ultimatum-3",), hands=30)
    seats = {one.name: one.seats for one in offer.opponents}
    assert (seats["zoo:ultimatum"], seats["zoo:ultimatum-3"]) == ((2, 3, 4), (3,))
    assert seats["equal"] == (2, 3, 4)


@pytest.mark.parametrize("seats", [2, 4])
def test_where_a_policy_cannot_play_no_table_opens(seats):
    with pytest.raises(ValueError, match=r"zoo:ultimatum-3 was trained for ultimatum-v0 .* cannot play this table"):
        table._table("ultimatum", seats, ["zoo:ultimatum-3"], {}, **TABLE)


def test_own_policies_are_among_the_opponents_of_their_game(tmp_path, monkeypatch):
    served = []
    monkeypatch.setattr(table, "serving", lambda host, *rest: served.append(host) or asyncio.sleep(0))
    own = shutil.copy(zoo.weights("zoo:kuhn"), tmp_path / "own.npz")
    assert cli.main(["table", "kuhn", "leduc", "--lobby", "--port", "0", "--agents", str(own)]) == 0
    kuhn, leduc = served[0]._offers
    assert str(own) in [one.name for one in kuhn.opponents]
    assert str(own) not in [one.name for one in leduc.opponents]


TABLE = {"admit": lambda name, token: None, "tables": TableArguments(timeout=9, delay=0, hands=5)}


@pytest.mark.parametrize(("other", "seconds"), [("honest", 600), ("human", 60)])
def test_one_person_alone_with_programs_has_ten_minutes_for_a_turn(other, seconds):
    kuhn, settings = game("kuhn"), TableArguments()
    players = table.players_of(kuhn, PlayersArguments(agents=("human", other)), settings)
    opened = table.browser_table(kuhn, players, settings)
    assert opened.session.connect(1)[0].message.timeout == 1000 * seconds
