"""Runs the command `parlour` inside a test."""

import json
import re
import shlex

from parlour.training import cli


def address(line):
    """Return the first address that a printed line names: an address is a word of its own."""
    return re.search(r"\b(?:ws|http)s?://\S+", line)[0]


def run(capsys, *args):
    """Return the exit code, stdout and stderr of a command; `capsys` is the fixture of pytest."""
    code = cli.main(args)
    return code, *capsys.readouterr()


def line(capsys, words, *more):
    """`run` for a line as it is typed, and further arguments."""
    return run(capsys, *shlex.split(words), *more)


def printed(capsys, words, *more):
    """Return what a command prints, given as for `line`; it must end well."""
    code, out, err = line(capsys, words, *more)
    assert code == 0, err
    return out


def facts(capsys, words, *more):
    """Return what a command prints with ``--json``."""
    return json.loads(printed(capsys, words, *more, "--json"))
