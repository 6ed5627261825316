"""The Dockerfile and the units of systemd: what they name exists, and what they run works."""

import configparser
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from parlour.training import cli
from parlour.training.commands.activity import Activity
from parlour.training.commands.health import STUCK_SECONDS, Heartbeat, serving_health
from parlour.training.commands.supervisor import TRY_AGAIN

HERE = Path(__file__).parents[1]
PAGE = HERE / "docs" / "leave_it_running.md"
UNITS = {verb: HERE / "contrib" / "systemd" / f"parlour-{verb}@.service" for verb in ("deploy", "host")}
pytestmark = pytest.mark.skipif(not (HERE / "Dockerfile").is_file(), reason="the files are in the checkout")


def dockerfile():
    return (HERE / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_copies_and_installs_what_there_is():
    sources = [name for line in re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile(), re.M) for name in line.split()]
    ignore = (HERE / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert sources and all((HERE / name).exists() and f"!{name}" in ignore for name in sources)
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (wanted,) = re.findall(r'pip install "\.\[(.+)\]"', dockerfile())
    assert set(wanted.split(",")) <= set(extras)
    (torch,) = re.findall(r'"(torch.+)"', dockerfile())
    assert torch in extras["train"]


def test_the_health_check_of_the_image_tells_healthy_from_stuck():
    (check,) = re.findall(r"^HEALTHCHECK .+\\\n +CMD (\[.+\])$", dockerfile(), re.M)
    _, *args = json.loads(check)
    heartbeat = Heartbeat()

    def check_health(url):
        told = {"PARLOUR_METRICS_PORT": url.rpartition(":")[2]}
        return subprocess.run([sys.executable, *args], env=told, capture_output=True).returncode

    with serving_health(Activity(), heartbeat) as url:
        assert check_health(url) == 0
        heartbeat.latest -= STUCK_SECONDS + 1
        assert check_health(url) != 0
    assert check_health(url) != 0


@pytest.mark.parametrize("verb", UNITS)
def test_a_unit_runs_a_command_and_knows_its_exit_codes(verb):
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(UNITS[verb], encoding="utf-8")
    service = unit["Service"]
    program, verb_, platform, option, file = service["ExecStart"].split()
    assert (Path(program).name, verb_, platform, option) == ("parlour", verb, "%i", "--config")
    assert file == f"/etc/parlour/{verb}-%i.toml" and f"/etc/parlour/{verb}-poker.toml" in UNITS[verb].read_text()
    assert int(service["RestartPreventExitStatus"]) == cli.MISTAKE
    assert service["Restart"] == "on-failure" and str(TRY_AGAIN) not in service["SuccessExitStatus"]
    assert service["SuccessExitStatus"].split() == ["130", "143"]


@pytest.mark.parametrize("service", ["host", "agent", "opponent"])
def test_a_service_of_the_compose_file_is_a_command(service, monkeypatch):
    import yaml  # an extra of development

    folder = HERE / "contrib" / "compose"
    monkeypatch.chdir(folder)
    services = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))["services"]
    told = services[service]["command"].split()
    file = Path(told[told.index("--config") + 1])
    mounted = dict(volume.split(":")[1::-1] for volume in services[service]["volumes"])
    assert mounted[str(file)] == f"./{file.name}" and mounted["/var/lib/parlour"] == service
    told[told.index(str(file))] = file.name
    assert callable(cli.parse(told))
    settings = tomllib.loads((folder / file.name).read_text(encoding="utf-8"))
    assert settings["access_token_file"] == "/run/secrets/access_token"  # open to other machines by a token only


@pytest.mark.parametrize(
    "block", re.findall(r"```toml\n(.+?)```", (HERE / "docs/leave_it_running.md").read_text(), re.S)
)
def test_the_example_of_a_configuration_is_read(block, tmp_path):
    (tmp_path / "agent.toml").write_text(block)
    assert callable(cli.parse(["deploy", "poker", "--config", str(tmp_path / "agent.toml")]))
