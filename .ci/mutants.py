"""Changes one small thing in rules, encoders, sessions and learning, and looks whether a test fails: `make mutants`.

Cosmic Ray's operators make the changes ("mutants"). A sample of lines is drawn by a seed, with one operator for each.
Every mutant is tried in a copy of the package, by the tests of its file alone. Those of games run without Numba's
compiler, which would compile every mutant anew. All run in a fork of this process, which has imported the libraries.
Where the tests pass, the mutant has survived: a test is missing, or the change changes nothing.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from importlib.util import cache_from_source
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from random import Random

os.environ |= {"OMP_NUM_THREADS": "1", "CI": "true"}  # before the libraries are imported

import numba
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
TESTS = {
    "envs/holdem/*": "tests/holdem/test_rules.py tests/holdem/test_actions.py tests/holdem/test_observation.py "
    "tests/holdem/test_view.py tests/test_load.py -k 'not (auction or bargaining or tangram)'",
    "envs/mafia/*": "tests/mafia/test_rules.py tests/mafia/test_day.py tests/mafia/test_statements.py",
    "envs/auction/*": "tests/auction/test_rules.py tests/test_load.py -k 'not (holdem or bargaining or tangram)'",
    "envs/bargaining/*": "tests/bargaining/test_rules.py tests/test_load.py -k 'not (holdem or auction or tangram)'",
    "envs/tangram/*": "tests/tangram/test_rules.py tests/tangram/test_actions.py "
    "tests/tangram/test_view.py tests/tangram/test_figure_sets.py",
    "envs/small/*": "tests/small/test_rules.py",
    "envs/werewolf/*": "tests/werewolf/test_werewolf.py",
    "envs/multi_issue_bargaining/*": "tests/multi_issue_bargaining/test_rules.py",
    "envs/phases/*": "tests/economics/test_two_seats.py tests/economics/test_cournot.py tests/economics/test_engine.py "
    "tests/economics/test_public_goods.py tests/economics/test_open_games.py "
    "-k 'not (revenue or whole_prize or private_costs)'",
    "envs/economics/*": "tests/economics/test_cournot.py "
    "tests/economics/test_two_seats.py tests/economics/test_public_goods.py tests/economics/test_open_games.py "
    "-k 'not (revenue or whole_prize or private_costs)'",
    "wrappers/live/poker/table_tracker.py": "tests/live/test_poker_agent_session.py",
    "wrappers/live/poker/agent.py": "tests/live/test_poker_agent_session.py tests/live/test_poker_both_ends.py "
    "tests/live/test_poker_agent.py",
    "wrappers/live/poker/host.py": "tests/live/test_poker_host_session.py tests/live/test_poker_both_ends.py "
    "tests/live/test_poker_host.py",
    "wrappers/live/arena/host.py": "tests/live/test_arena_host.py",
    "wrappers/live/arena/*": "tests/live/test_arena_session*.py -k 'not (tangram or mafia or holdem)'",
    "wrappers/live/mafia/host.py": "tests/live/test_mafia_host*.py tests/live/test_mafia_session.py",
    "wrappers/live/mafia/*": "tests/live/test_mafia_session.py tests/live/test_mafia_service.py "
    "tests/live/test_mafia_remote.py",
    "wrappers/live/tangram/host.py": "tests/live/test_tangram_host*.py tests/live/test_tangram_messages.py",
    "wrappers/live/tangram/*": "tests/live/test_tangram_session.py tests/live/test_tangram_outsider.py "
    "tests/live/test_tangram_messages.py tests/live/test_tangram_agent.py "
    "-k 'not is_what_the_environment_shows and not bots_build'",
    "wrappers/live/table/*": "tests/live/test_table_session.py tests/live/test_table_server.py",
    "training/learning/*": "tests/training/test_selfplay.py tests/training/test_mirror_descent.py "
    "tests/training/test_networks.py tests/training/test_behavioural_cloning.py tests/training/test_engines.py",
}
"""What pytest is to run for a file, by the first pattern that fits. For a game come `GOLDEN` and `LAWS`."""

GOLDEN = (
    "tests/test_laws.py::test_the_golden_playthrough_has_not_changed[{game}-v0]",
    "tests/test_observations.py::test_what_is_seen_and_won_has_not_changed[{game}-v0: {case}]",
)
LAWS = ("parity", "turns", "payloads")
"""They are tried with one episode of each case of a game."""

PARTS = "rules view actions load_state statements encoders"
FILES = [
    *(f"envs/*/{part}.py" for part in PARTS.split()),
    *(f"envs/phases/{part}.py" for part in ("game", "encoders")),
    "envs/economics/[a-z]*.py",
    "envs/small/[klt]*.py",
    "wrappers/live/poker/agent.py",
    "wrappers/live/tangram/agent.py",
    "wrappers/live/tangram/host.py",
    "wrappers/live/arena/agent.py",
    "wrappers/live/poker/host.py",
    "wrappers/live/mafia/agent.py",
    "wrappers/live/mafia/host.py",
    "wrappers/live/table/host.py",
    "wrappers/live/poker/table_tracker.py",
    "training/learning/[clmn]*.py",
]
WARM = "numpy numba gymnasium pettingzoo.utils hypothesis.strategies msgspec aiohttp.web jsonschema shapely torch"

EQUIVALENT = (
    *("RemoveDecorator", "Variable", "BitOr", "ExceptionReplacer"),
    *("Is_Eq", "Eq_Is", "IsNot_NotEq", "NotEq_IsNot"),
)
"""Operators left out: of annotations (`X | None`), of decorators, and such as change nothing that can be seen."""

TOLD = re.compile(r"(?:killed|timeout|survived) +(\S+):(\d+)  (\S+)  (.*)")
"""A line of the output."""

CHECKS = ("@dataclass(", "strict=True")
"""`True` stays in lines with these: it guards against mistakes in the code, and nothing that runs depends on it."""


@dataclass(frozen=True)
class Mutant:
    """One change: the operator's `occurrence` of a file, at `line`."""

    file: str
    operator: str
    occurrence: int
    line: int


def places(file: str) -> Iterator[Mutant]:
    """Find what can be changed in a file."""
    source = (ROOT / file).read_text(encoding="utf-8")
    lines, nodes = source.splitlines(), list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if not any(part in name for part in EQUIVALENT):
            operator, occurrence = get_operator(name)(), 0
            for node in nodes:
                for (line, _), _ in operator.mutation_positions(node):
                    if "TrueWithFalse" not in name or not any(check in lines[line - 1] for check in CHECKS):
                        yield Mutant(file, name, occurrence, line)
                    occurrence += 1


def drawn(files: list[str], sample: int, seed: int) -> list[Mutant]:
    """Draw lines of code, a line as likely as any other, and for each of them one mutant."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for file in files:
        for mutant in places(file):
            by_line.setdefault((file, mutant.line), []).append(mutant)
    generator = Random(seed)
    lines = generator.sample(sorted(by_line), min(sample, len(by_line)))
    return sorted((generator.choice(by_line[line]) for line in lines), key=lambda one: (one.file, one.line))


def game_of(file: str) -> str | None:
    """Return the game whose golden playthrough and laws are tried for a file; None: it belongs to no game."""
    if not file.startswith("envs/"):
        return None
    folder = file.split("/")[1]
    stem = {"liars_bids": "liars_dice", "two_seats": "leduc"}.get(Path(file).stem, Path(file).stem)
    return {"phases": "trust", "economics": stem, "small": stem}.get(folder, folder)


def tests_of(file: str) -> tuple[str, ...]:
    """Return pytest's arguments for a file."""
    words = shlex.split(next(tests for pattern, tests in TESTS.items() if fnmatch(file, pattern)))
    expansions = (sorted(ROOT.glob(word)) if word.endswith(".py") else [word] for word in words)
    arguments = [str(one.relative_to(ROOT)) if isinstance(one, Path) else one for words in expansions for one in words]
    game = game_of(file)
    if game is None:
        return tuple(arguments)
    cases = json.loads((ROOT / "tests" / "golden" / game / "rules.json").read_text("utf-8"))
    first, last = GOLDEN
    return (first.format(game=game), *arguments, *(last.format(game=game, case=case) for case in cases))


def copies_in(folder: Path, count: int) -> SimpleQueue[Path]:
    """Make copies of the package and its tests."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(count):
        copy = folder / str(number)
        for name in ("envs", "wrappers", "training", "zoo"):
            shutil.copytree(ROOT / name, copy / "parlour" / name, ignore=shutil.ignore_patterns("*.nb?"))
        for name in ("tests", "docs"):
            shutil.copytree(ROOT / name, copy / name)
        shutil.copy(ROOT / "pyproject.toml", copy)
        copies.put(copy)
    return copies


def run(copy: Path, tests: tuple[str, ...], game: str | None, level: str) -> None:
    """Run tests in a copy, then the laws of a game; exit with 1 if anything fails."""
    os.chdir(copy)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.path[:1] = [str(copy), str(copy / "tests")]  # in place of this folder: its economics.py hides tests/economics
    numba.config.DISABLE_JIT = game is not None
    if pytest.main(["-x", "-p", "no:cacheprovider", "--timeout=0", "-m", level, *tests]):
        os._exit(1)
    if game is not None:
        try_laws(game, level)
    os._exit(0)


def try_laws(game: str, level: str) -> None:
    """Try the laws with one episode on the cases of a game."""
    testing, envs, cases = map(import_module, ("parlour.envs.testing", "parlour.envs", "cases"))
    for case in cases.CASES:
        game_id, options = case.values[0]
        if game_id == f"{game}-v0" and not (level and case.marks):
            for law in LAWS:
                testing.try_law(law, envs.game(game, **options), 1)


def tried(copy: Path, file: str, level: str, limit: float) -> str:
    """Try the tests of a file in a copy: ``"survived"``, ``"killed"`` or ``"timeout"``."""
    process = get_context("fork").Process(target=run, args=(copy, tests_of(file), game_of(file), level))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return "timeout"
    return "killed" if process.exitcode else "survived"


def limit_of(file: str, level: str, copies: SimpleQueue[Path]) -> float:
    """Return after how many seconds tests are taken to hang; they need to pass as long as nothing is changed."""
    copy, begun = copies.get(), time.monotonic()
    verdict = tried(copy, file, level, 1800)
    copies.put(copy)
    if verdict == "timeout":
        raise SystemExit(f"they take more than half an hour although nothing is changed: {' '.join(tests_of(file))}")
    if verdict == "killed":
        raise SystemExit(f"they fail although nothing is changed: {' '.join(tests_of(file))}")
    return 20 + 4 * (time.monotonic() - begun)


def verdict_on(mutant: Mutant, level: str, limit: float, copies: SimpleQueue[Path]) -> str:
    """Return what became of a mutant."""
    copy = copies.get()
    target = copy / "parlour" / mutant.file
    before = target.read_text(encoding="utf-8")
    write(target, mutated(mutant, before)[0])
    verdict = tried(copy, mutant.file, level, limit)
    write(target, before)
    copies.put(copy)
    return verdict


def mutated(mutant: Mutant, before: str) -> tuple[str, str]:
    """Return a file's source with the change, and the first line that is changed."""
    after = mutate_code(before, get_operator(mutant.operator)(), mutant.occurrence)
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return after, next(new for old, new in lines if old != new).strip()


def told_in(lines: Iterable[str]) -> list[Mutant]:
    """Find the mutants of an earlier run again: the nearest place where the same operator gives the same line."""
    found, places_in = [], cache(lambda file: list(places(file)))
    for told in filter(None, map(TOLD.match, lines)):
        file, line, operator, changed = told[1], int(told[2]), f"core/{told[3]}", told[4]
        near = [one for one in places_in(file) if one.operator == operator] if (ROOT / file).is_file() else []
        near.sort(key=lambda one, line=line: abs(one.line - line))
        source = (ROOT / file).read_text(encoding="utf-8") if near else ""
        same = next((one for one in near if mutated(one, source)[1] == changed), None)
        if same is None:
            print(f"gone      {told[0].split(maxsplit=1)[1]}", flush=True)
        else:
            found.append(same)
    return found


def write(target: Path, source: str) -> None:
    """Write a module and remove its bytecode, which may look as if it were of this source."""
    target.write_text(source, encoding="utf-8")
    Path(cache_from_source(str(target))).unlink(missing_ok=True)


def group_of(file: str) -> str:
    """Return the folder of a game, a protocol or learning."""
    return "/".join(file.split("/")[: 3 if file.startswith("wrappers/") else 2])


def main() -> None:
    """Try the mutants, and tell which survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=["*"], help="the files, as patterns such as 'envs/holdem/*'")
    parser.add_argument("--sample", type=int, default=20, help="mutants of each game and protocol (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--again", type=Path, help="the output of an earlier run: its mutants, in place of a sample")
    parser.add_argument("--all", action="store_true", help="the tests of make test-all, not those of make test")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once (default: 2)")
    arguments = parser.parse_args()
    for name in WARM.split():
        import_module(name)
    sources = {str(path.relative_to(ROOT)) for pattern in FILES for path in ROOT.glob(pattern)}
    tested = {file for file in sources if any(fnmatch(file, pattern) for pattern in TESTS)}
    chosen = sorted(file for file in tested if any(fnmatch(file, pattern) for pattern in arguments.only))
    if arguments.again:
        with arguments.again.open(encoding="utf-8") as lines:
            sample = told_in(lines)
    else:
        groups = groupby(chosen, key=group_of)
        sample = [one for _, files in groups for one in drawn(list(files), arguments.sample, arguments.seed)]
    level = "" if arguments.all else "smoke or not slow"
    totals = {"killed": 0, "timeout": 0, "survived": 0}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        copies = copies_in(Path(folder), arguments.jobs)
        for group, members in groupby(sample, key=lambda mutant: group_of(mutant.file)):
            mutants = list(members)
            one_each = {tests_of(mutant.file): mutant.file for mutant in mutants}
            seconds = pool.map(lambda file: limit_of(file, level, copies), one_each.values())
            limits = dict(zip(one_each, seconds, strict=True))
            tries = pool.map(
                lambda one, limits=limits: verdict_on(one, level, limits[tests_of(one.file)], copies), mutants
            )
            counts = dict.fromkeys(totals, 0)
            for mutant, verdict in zip(mutants, tries, strict=True):
                counts[verdict] += 1
                changed = mutated(mutant, (ROOT / mutant.file).read_text(encoding="utf-8"))[1]
                print(f"{verdict:8}  {mutant.file}:{mutant.line}  {mutant.operator[5:]}  {changed}", flush=True)
            print(summary(group, counts), flush=True)
            totals = {verdict: totals[verdict] + count for verdict, count in counts.items()}
    print(summary("all", totals))


def summary(group: str, counts: dict[str, int]) -> str:
    """Return the counts of a group and the share that the tests notice, in one line."""
    tries = sum(counts.values())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{group}: {tries} mutants: {verdicts}; the tests notice {(tries - counts['survived']) / max(1, tries):.0%}"


if __name__ == "__main__":
    main()
