"""Options from a file, the environment and the command line."""

from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import pytest
from cyclopts import App, CycloptsError, Parameter
from parlour.training import cli
from parlour.training.cli import _sources, one_by_one
from parlour.training.commands.arguments import AccessArguments, AddressArguments, LiveArguments

CALLS = []


@dataclass(frozen=True)
class Needed:
    """Needed."""

    run: Annotated[str, Parameter(name="RUN")]
    _: KW_ONLY
    game: str | None = None


PORT = AddressArguments(port=9000)


def command(
    needed: Needed,
    *,
    api: str | None = None,
    keep: bool = False,
    seats: int | None = None,
    cost: Literal["keep", "pass"] = "keep",
    until: datetime | None = None,
    options: tuple[str, ...] = (),
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    listening: AddressArguments = PORT,
    access: AccessArguments,
    live: LiveArguments,
) -> None:
    """Do something.

    Args:
        api: An address.
        keep: Whether to keep.
        seats: A number.
        cost: A cost.
        until: A time.
        options: Options.
    """
    CALLS.append((needed, api, keep, seats, cost, until, options, as_json, listening, access, live))


@pytest.fixture
def called(monkeypatch):
    """Calls the command with arguments and an environment, and returns what it gets."""

    def call(*args, **environ):
        for name, value in environ.items():
            monkeypatch.setenv(f"PARLOUR_{name}", value)
        app = App(
            "x", default_parameter=Parameter(consume_multiple=True), config=_sources, result_action="return_value"
        )
        app.default(one_by_one(command))
        try:
            app(list(args), exit_on_error=False, print_error=False)
        except CycloptsError as error:
            raise ValueError(" ".join(str(error).split())) from None
        finally:
            for name in environ:
                monkeypatch.delenv(f"PARLOUR_{name}")
        names = ["needed", "api", "keep", "seats", "cost", "until", "options", "as_json", "listening", "access", "live"]
        return dict(zip(names, CALLS.pop(), strict=True))

    return call


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "agent.toml"
        path.write_text(text)
        return str(path)

    return write


def test_a_file_gives_defaults_of_every_kind(called, file):
    path = file(
        'run = "first"\napi = "http://a"\nkeep = true\nseats = 6\ncost = "pass"\nuntil = 2030-01-31T07:00:00\n'
        'json = true\nport = 1\nmetrics-port = 9100\nlog_file = "x.log"\n[options]\nseats = 2\nname = "A house"\n'
    )
    got = called("--config", path)
    assert got["needed"] == Needed(run="first")
    assert (got["api"], got["keep"], got["seats"], got["cost"]) == ("http://a", True, 6, "pass")
    assert got["until"] == datetime(2030, 1, 31, 7) and got["as_json"]
    assert got["options"] == ("seats=2", 'name="A house"')
    assert got["listening"].port == 1
    assert (got["live"].metrics_port, got["live"].log_file) == (9100, Path("x.log"))


def test_the_environment_is_stronger_than_the_file_and_the_command_line_than_both(called, file):
    path = file('run = "first"\nseats = 2\napi = "http://file"\nkeep = true\noptions = ["a=1"]\n')
    told = {"SEATS": "3", "API": "http://environment", "OPTIONS": "a=2 'b=\"A house\"'", "METRICS_PORT": "7"}
    got = called("second", "--config", path, "--seats", "4", "--no-keep", **told)
    assert got["needed"].run == "second"
    assert (got["seats"], got["api"], got["keep"]) == (4, "http://environment", False)
    assert got["options"] == ("a=2", 'b="A house"') and got["live"].metrics_port == 7
    assert called(CONFIG=path, KEEP="false", SEATS="")["seats"] == 2  # an empty variable is not set


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seatz = 2", "no option in .*agent.toml is called 'seatz'; did you mean 'seats'"),
        ('seats = "two"', r"\[seats\] from .*agent.toml"),
        ('cost = "none"', r"\[cost\] from .*agent.toml"),
        ('until = "soon"', r"\[until\] from .*agent.toml"),
        ("seats = [", "agent.toml is not TOML"),
    ],
)
def test_mistakes_in_a_file_are_named(called, file, text, problem):
    with pytest.raises(ValueError, match=problem):
        called("first", "--config", file(text))


def test_mistakes_in_the_environment_are_named(called, capsys):
    with pytest.raises(ValueError, match="PARLOUR_SEATS"):
        called("first", SEATS="two")
    called("first", SEATZ="2", API_KEY="another command's", TRACEBACK="1")
    assert (
        capsys.readouterr().err == "PARLOUR_SEATZ in the environment is no option here; did you mean PARLOUR_SEATS?\n"
    )
    with pytest.raises(FileNotFoundError, match=r"nowhere.toml"):
        called("first", "--config", "nowhere.toml")


def test_a_secret_comes_from_the_strongest_source_that_has_it(called, file, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("of the token file")
    (tmp_path / "other").write_text("of the other file")
    path = file(f'access_token_file = "{tmp_path}/token"\n')

    def token(*args, **environ):
        for name in ("ACCESS_TOKEN", "ACCESS_TOKEN_FILE"):
            monkeypatch.delenv(f"PARLOUR_{name}", raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(f"PARLOUR_{name}", value)
        return called("first", "--config", path, *args, **environ)["access"].token

    assert token() == "of the token file"
    assert token(ACCESS_TOKEN="environment") == "environment"
    assert token(ACCESS_TOKEN_FILE=str(tmp_path / "other")) == "of the other file"
    assert token("--access-token-file", str(tmp_path / "other"), ACCESS_TOKEN="environment") == "of the other file"
    assert token("--access-token", "flag", ACCESS_TOKEN="environment") == "flag"


def test_a_needed_option_that_nobody_gives_is_named(called):
    with pytest.raises(ValueError, match="RUN"):
        called(OPTIONS="seats=2")


def test_the_commands_read_files(file, capsys):
    assert cli.main(["deploy", "poker", "--config", file('runn = "tight"')]) == 2
    assert "called 'runn'; did you mean 'run'?" in capsys.readouterr().err
    assert cli.main(["host", "arena", "bargaining", "--config", file("rounds = 0")]) == 2
    assert "for [rounds] provided by" in capsys.readouterr().err
