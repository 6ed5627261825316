"""`make soak`: a host of poker and its agents in processes of their own, for hours, with faults between them.

`proxy` draws faults and applies them between the two ends, `poker` is the ends and knows which fault explains what,
`claims` collects what was measured and what was broken. ``ARGS=--help`` lists the options.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Annotated, Any

from cyclopts import App, Parameter
from parlour.training.cli import one_by_one
from parlour.training.commands.supervisor import until_done

from .claims import growth
from .poker import PokerSoak, SoakSettings
from .proxy import clock, wait

SAMPLE_SECONDS = 10.0
ERRORS = ("Traceback", " ERROR ", " CRITICAL ")
"""What shows an error in a log."""


async def soak(soaked: PokerSoak, settings: SoakSettings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run a soak test and return its report.

    Args:
        soaked: the ends.
        settings: see there.
        tell: prints a status line.
    """
    ends = soaked.ends.values()
    async with soaked.running():
        began = clock()
        ended = began + 3600 * settings.hours
        async with asyncio.TaskGroup() as group:
            beside = [group.create_task(one) for one in (_restarts(soaked, settings, began), _samples(soaked))]
            told = began
            while clock() < ended:
                await asyncio.sleep(min(1.0, max(0.0, ended - clock())))
                soaked.look()
                if clock() - told >= settings.report_every:
                    told = clock()
                    sizes = " ".join(f"{end.name} {end.latest or 0:.0f}" for end in ends)
                    tell(f"{_hours(told - began)} {soaked.status()}; MB {sizes}; broken: {soaked.claims.broken}")
            for task in beside:
                task.cancel()
        seconds = clock() - began
    memory = {}
    for end in ends:
        with end.errors.open(encoding="utf-8", errors="replace") as lines:
            errors = [line.strip() for line in lines if any(sign in line for sign in ERRORS)]
        case = f"{end.name}: {len(errors)} errors in {end.errors}; first {errors[:1]}"
        soaked.claims.check("logs", not errors, case)
        if end.samples:
            late = [one for one in end.samples if one[0] - end.started >= settings.warm_up]
            memory[end.name] = found = {**growth(late, settings.growth_limit), "mb": end.latest}
            if found["verdict"] != "undecided":
                soaked.claims.check("memory", found["verdict"] == "flat", f"{end.name}: {found}")
    return {
        "seconds": round(seconds, 1),
        "broken": soaked.claims.broken,
        "claims": {name: asdict(claim) for name, claim in soaked.claims.claims.items()},
        "counts": dict(sorted(soaked.claims.counts.items())),
        "seconds_measured": soaked.claims.times(),
        "memory": memory,
        "starts": {end.name: end.starts for end in ends},
        "settings": json.loads(json.dumps(asdict(settings), default=str)),
    }


async def _samples(soaked: PokerSoak) -> None:
    while True:
        for end in soaked.ends.values():
            end.sample()
        await asyncio.sleep(SAMPLE_SECONDS)


async def _restarts(soaked: PokerSoak, settings: SoakSettings, began: float) -> None:
    """Kill the host and the agents' processes from time to time, one after another, in the first part of the run."""
    random, rates = Random(f"{settings.seed} restarts"), settings.rates
    agents = [name for name in soaked.ends if name != "host"]
    last = began + settings.restarts * 3600 * settings.hours
    host, agent = (began + wait(rate, random) for rate in (rates.host_restarts, rates.agent_restarts))
    while min(host, agent) < last:
        await asyncio.sleep(max(0.0, min(host, agent) - clock()))
        if host <= agent:
            await soaked.restart("host", random.uniform(0.0, rates.longest_down))
            host = clock() + wait(rates.host_restarts, random)
        else:
            await soaked.restart(random.choice(agents), random.uniform(0.0, rates.longest_down))
            agent = clock() + wait(rates.agent_restarts, random)


def _hours(seconds: float) -> str:
    return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{int(seconds % 60):02}"


def text(report: dict[str, Any]) -> str:
    """Return a report (see `soak`) as text: claims, figures, times, faults, memory."""
    lines = [f"{report['seconds'] / 3600:.2f} hours, {report['counts'].get('hands', 0)} hands", ""]
    for claim in report["claims"].values():
        verdict = (
            f"BROKEN {claim['broken']} times" if claim["broken"] else "holds" if claim["checks"] else "not checked"
        )
        lines.append(f"{verdict}: {claim['text']} ({claim['checks']} checks)")
        lines += [f"    {case}" for case in claim["examples"][:5]]
    for name in ("seconds_measured", "counts", "memory", "starts"):
        lines += ["", f"{name.replace('_', ' ')}:"]
        lines += [f"    {key}: {_words(value)}" for key, value in report[name].items()]
    return "\n".join(lines)


def _words(value: Any) -> str:
    return ", ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, dict) else f"{value:,}"


def run(
    settings: SoakSettings, *, faults: float = 1.0, json_file: Annotated[Path | None, Parameter(name="--json")] = None
) -> int:
    """Play for hours, with faults between a host and its agents, and check what is claimed of both.

    The host and the agents run in processes of their own. A proxy between them loses, breaks, delays, repeats and
    reorders frames and resets connections; in the first part of the time the processes are killed and started again.
    Exit code 1: a claim did not hold.

    Args:
        faults: All rates of faults are multiplied by it; 0: no faults.
        json_file: File for the report as JSON.
    """
    folder = settings.folder or Path(tempfile.mkdtemp(prefix="parlour-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, folder=folder, rates=settings.rates.scaled(faults))
    print(f"logs and state in {folder}")
    report = until_done(soak(PokerSoak(settings), settings, print))
    if json_file is not None:
        json_file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(text(report))
    return 1 if report["broken"] else 0


def main(args: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 for a broken claim, 2 for a wrong argument."""
    app = App("make soak", result_action="return_value")
    app.default(one_by_one(run))
    return app(args)


if __name__ == "__main__":
    sys.exit(main())
