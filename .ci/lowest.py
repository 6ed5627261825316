"""Prints the lowest version that pyproject.toml allows of every core dependency, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    found = re.fullmatch(r"([\w.-]+)>=([\d.]+)(,<[\d.]+)?", requirement)
    if found is None:
        raise SystemExit(f"{requirement!r}: write name>=lowest or name>=lowest,<highest")
    print(f"{found[1]}=={found[2]}")
