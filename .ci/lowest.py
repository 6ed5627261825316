"""Prints the lowest version that pyproject.toml allows of every dependency, as constraints for pip.

torch is left out: its lowest version has a build for processors alone only on PyTorch's own index.
"""

import re
import tomllib
from pathlib import Path

LEFT_OUT = {"torch"}
EXTRAS = ["arena", "live", "llm", "render", "train", "plot", "test"]

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]:
    parts = re.fullmatch(r"([\w.-]+)>=([\w.]+)(,<[\w.]+)?", requirement)
    if parts is None:
        raise SystemExit(f"{requirement!r}: write name>=lowest or name>=lowest,<highest")
    if parts[1] not in LEFT_OUT:
        print(f"{parts[1]}=={parts[2]}")
