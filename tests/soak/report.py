"""The report of a soak test as text."""

from typing import Any


def text(report: dict[str, Any]) -> str:
    """Return a report (see `soak`) as text: claims, figures, times, faults, memory, processor."""
    lines = [f"{report['seconds'] / 3600:.2f} hours; {', '.join(_figures(report['figures']))}", ""]
    for claim in report["claims"].values():
        verdict = (
            f"BROKEN {claim['broken']} times" if claim["broken"] else "holds" if claim["checks"] else "not checked"
        )
        lines.append(f"{verdict}: {claim['text']} ({claim['checks']} checks)")
        lines += [f"    {case}" for case in claim["examples"][:5]]
    lines += ["", "seconds:"]
    for name, times in report["seconds_measured"].items():
        lines.append(f"    {name}: {', '.join(_figures(times))}")
    lines += ["", "counts:"]
    lines += [f"    {line}" for line in _figures(report["counts"])]
    lines += ["", "memory after the warm-up:"]
    for name, found in report["memory"].items():
        low, high = found["interval_95"]
        interval = "too few samples for an interval" if low is None else f"95 % interval {low:+.2f} to {high:+.2f}"
        lines.append(
            f"    {name}: {found['mb']} MB, {found['mb_per_hour']:+.2f} MB an hour ({interval}; {found['samples']} "
            f"samples in {found['hours']:.2f} hours): {found['verdict']}"
        )
    shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in report["processor_share"].items())
    starts = ", ".join(f"{name} {count}" for name, count in report["starts"].items())
    return "\n".join([*lines, "", f"processor: {shares} of a core", f"starts: {starts}"])


def _figures(numbers: dict[str, Any]) -> list[str]:
    return [f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in numbers.items()]
