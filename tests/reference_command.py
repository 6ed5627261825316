"""Calls `parlour evaluate reference` in a test."""

import json

from command_line import run


def rated(tmp_path, capsys, *arguments, code=0):
    """Call `parlour evaluate reference` in JSON; return the result, or what was said."""
    result = run(capsys, "evaluate", "reference", *arguments, "--json", "--out", str(tmp_path))
    assert result[0] == code, result[2]
    return json.loads(result[1]) if code == 0 else result[2]
