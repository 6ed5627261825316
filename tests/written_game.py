"""The games of one's own that docs/environments.md writes, made from its text."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "environments.md"


def written_game(name):
    """Return the game of this name, as a reader who copies it has it."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [one for one in blocks if f'name="{name}"' in one]
    names = {"__name__": name}
    exec(compile(block, name, "exec"), names)
    return names["game"]()
