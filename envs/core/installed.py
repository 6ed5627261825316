"""How Parlour was installed, for hints that name an extra."""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlparse


def install(extra: str) -> str:
    """Return the command that adds an extra, in the way in which Parlour was installed.

    A clone is named by its folder, a wheel by its file; only a Parlour from a package index is named ``parlour``.
    """
    try:
        origin = json.loads(distribution("parlour").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # it is only on the path
        origin = {}
    tool = "pipx install --force" if "pipx" in Path(sys.prefix).parts else "pip install"
    url = origin.get("url", "")
    if not url:
        return f"{tool} 'parlour[{extra}]'"
    if vcs := origin.get("vcs_info"):
        return f"{tool} 'parlour[{extra}] @ {vcs['vcs']}+{url}'"
    if not url.startswith("file:"):
        return f"{tool} 'parlour[{extra}] @ {url}'"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{tool} {editable}'{unquote(urlparse(url).path)}[{extra}]'"
