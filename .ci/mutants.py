"""Changes one small thing in rules, encoders, views and sessions, and looks whether a test fails: `make mutants`.

Cosmic Ray's operators make the changes ("mutants"). A sample of lines is drawn by a seed, with one operator for each.
Every mutant is tried in a copy of the installed package, by the tests of its file alone. Those of a game run without
Numba's compiler, which would compile every mutant anew. Where the tests pass, the mutant has survived: a test is
missing, or the change changes nothing.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
TESTS = {
    "envs/holdem/*": "tests/holdem/test_rules.py tests/holdem/test_actions.py tests/holdem/test_observation.py "
    "tests/holdem/test_view.py",
    "envs/mafia/*": "tests/mafia/test_rules.py tests/mafia/test_statements.py tests/mafia/test_observation.py",
    "envs/auction/*": "tests/auction/test_rules.py",
    "envs/bargaining/*": "tests/bargaining/test_rules.py",
    "envs/tangram/*": "tests/tangram/test_rules.py tests/tangram/test_actions.py tests/tangram/test_observation.py "
    "tests/tangram/test_view.py",
    "wrappers/live/poker/agent_session.py": "tests/live/test_poker_agent_*.py",
    "wrappers/live/poker/host_session.py": "tests/live/test_poker_host_*.py tests/live/test_poker_table_*.py",
    "wrappers/live/arena/*": "tests/live/test_arena_session.py",
    "wrappers/live/mafia/host_session.py": "tests/live/test_mafia_host_session.py",
    "wrappers/live/mafia/*": "tests/live/test_mafia_session.py",
    "wrappers/live/tangram/*": "tests/live/test_tangram_session_*.py tests/live/test_tangram_joint.py",
    "wrappers/live/table/*": "tests/live/test_table_session_*.py",
}
"""The tests of a file, by the first pattern that fits; to those of a game comes its golden playthrough."""

GOLDEN = "tests/test_laws.py::test_the_golden_playthrough_has_not_changed"
PARTS = "rules view moves actions load resample ballots statements encoders/v0 encoders/full"
FILES = [
    *(f"envs/*/{part}.py" for part in PARTS.split()),
    "wrappers/live/*/agent_session.py",
    "wrappers/live/*/host_session.py",
]

EQUIVALENT = (
    *("RemoveDecorator", "Variable", "BitOr", "ExceptionReplacer"),
    *("Is_Eq", "Eq_Is", "IsNot_NotEq", "NotEq_IsNot"),
)
"""Operators left out: of annotations (`X | None`), of decorators, and such as change nothing that can be seen."""


@dataclass(frozen=True)
class Mutant:
    """One change: the operator's `occurrence` of a file, at `line`."""

    file: str
    operator: str
    occurrence: int
    line: int


def places(file: str) -> Iterator[Mutant]:
    """Find what can be changed in a file."""
    nodes = list(ast_nodes(get_ast((ROOT / file).read_text(encoding="utf-8"))))
    for name in operator_names():
        if not any(part in name for part in EQUIVALENT):
            operator, occurrence = get_operator(name)(), 0
            for node in nodes:
                for start, _ in operator.mutation_positions(node):
                    yield Mutant(file, name, occurrence, start[0])
                    occurrence += 1


def drawn(files: list[str], sample: int, seed: int) -> list[Mutant]:
    """Draw lines of code, a line as likely as any other, and for each of them one mutant."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for file in files:
        for mutant in places(file):
            by_line.setdefault((file, mutant.line), []).append(mutant)
    generator = random.Random(seed)
    lines = generator.sample(sorted(by_line), min(sample, len(by_line)))
    return sorted((generator.choice(by_line[line]) for line in lines), key=lambda one: (one.file, one.line))


def tests_of(file: str) -> tuple[str, ...]:
    """Return what pytest is to run for a file."""
    patterns = next(tests for pattern, tests in TESTS.items() if fnmatch(file, pattern))
    found = [str(path.relative_to(ROOT)) for pattern in patterns.split() for path in sorted(ROOT.glob(pattern))]
    game = file.split("/")[1]
    return (*found, f"{GOLDEN}[{game}-v0]") if file.startswith("envs/") else tuple(found)


def copies_in(folder: Path, count: int) -> SimpleQueue[Path]:
    """Make copies of the installed package and its tests."""
    copies: SimpleQueue[Path] = SimpleQueue()
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # files that were moved would stay there
    first = folder / "0"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", first, ROOT], check=True)
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, first / name)
    shutil.copy(ROOT / "pyproject.toml", first)
    copies.put(first)
    for number in range(1, count):
        copies.put(Path(shutil.copytree(first, folder / str(number))))
    return copies


def tried(copy: Path, tests: tuple[str, ...], limit: float) -> str:
    """Run tests in a copy: ``"survived"``, ``"killed"`` or ``"timeout"``."""
    plain = "0" if tests[0].startswith("tests/live") else "1"
    settings = {"PYTHONPATH": str(copy), "NUMBA_DISABLE_JIT": plain, "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    environment = {**os.environ, **settings}
    try:
        run = subprocess.run(command, cwd=copy, env=environment, timeout=limit, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return "timeout"
    return "killed" if run.returncode else "survived"


def limit_of(tests: tuple[str, ...], copies: SimpleQueue[Path]) -> float:
    """Return after how many seconds tests are taken to hang; they need to pass as long as nothing is changed."""
    copy, begun = copies.get(), time.monotonic()
    verdict = tried(copy, tests, 600)
    copies.put(copy)
    if verdict != "survived":
        raise SystemExit(f"they fail although nothing is changed: {' '.join(tests)}")
    return 20 + 4 * (time.monotonic() - begun)


def verdict_on(mutant: Mutant, limit: float, copies: SimpleQueue[Path]) -> tuple[str, str]:
    """Return what became of a mutant, and its changed line."""
    copy = copies.get()
    target = copy / "parlour" / mutant.file
    before = target.read_text(encoding="utf-8")
    after = mutate_code(before, get_operator(mutant.operator)(), mutant.occurrence)
    target.write_text(after, encoding="utf-8")
    verdict = tried(copy, tests_of(mutant.file), limit)
    target.write_text(before, encoding="utf-8")
    copies.put(copy)
    changed = next(new for old, new in zip(before.splitlines(), after.splitlines(), strict=False) if old != new)
    return verdict, changed.strip()


def main() -> None:
    """Try the mutants, and tell which survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=["*"], help="the files, as patterns such as 'envs/holdem/*'")
    parser.add_argument("--sample", type=int, default=100, help="how many mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once (default: 2)")
    arguments = parser.parse_args()
    found = {str(path.relative_to(ROOT)) for pattern in FILES for path in ROOT.glob(pattern)}
    chosen = sorted(file for file in found if any(fnmatch(file, pattern) for pattern in arguments.only))
    mutants = drawn(chosen, arguments.sample, arguments.seed)
    suites = sorted({tests_of(mutant.file) for mutant in mutants})
    counts = {"killed": 0, "timeout": 0, "survived": 0}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        copies = copies_in(Path(folder), arguments.jobs)
        limits = dict(zip(suites, pool.map(lambda tests: limit_of(tests, copies), suites), strict=True))
        tries = pool.map(lambda one: verdict_on(one, limits[tests_of(one.file)], copies), mutants)
        for mutant, (verdict, changed) in zip(mutants, tries, strict=True):
            counts[verdict] += 1
            print(f"{verdict:8}  {mutant.file}:{mutant.line}  {mutant.operator[5:]}  {changed}", flush=True)
    noticed = len(mutants) - counts["survived"]
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"{len(mutants)} mutants: {told}; the tests notice {noticed / max(1, len(mutants)):.0%}")


if __name__ == "__main__":
    main()
