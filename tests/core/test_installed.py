"""The hint that names an extra follows from how Parlour was installed."""

import json

import pytest
from parlour.envs.core import installed


class Distribution:
    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'parlour[train]'"),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "pip install -e '/a b[train]'"),
        ({"url": "file:///clone", "dir_info": {}}, "pip install '/clone[train]'"),
        ({"url": "file:///x/p.whl", "archive_info": {}}, "pip install '/x/p.whl[train]'"),
        ({"url": "https://x/p.whl", "archive_info": {}}, "pip install 'parlour[train] @ https://x/p.whl'"),
        ({"url": "https://x/p", "vcs_info": {"vcs": "git"}}, "pip install 'parlour[train] @ git+https://x/p'"),
    ],
)
def test_the_command_names_what_is_installed(origin, command, monkeypatch):
    monkeypatch.setattr(installed, "distribution", lambda name: Distribution(origin))
    monkeypatch.setattr("sys.prefix", "/home/me/venv")
    assert installed.install("train") == command
    monkeypatch.setattr("sys.prefix", "/home/me/.local/share/pipx/venvs/parlour")
    assert installed.install("train") == command.replace("pip install", "pipx install --force").replace(
        " -e '", " -e '"
    )
