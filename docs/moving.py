"""An SVG that moves: the pictures of several moments as one, played without end.

Lines that two moments share are in it once. Whoever asks for reduced motion sees one moment that stands still.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

SECONDS, LAST = 1.2, 3
"""How long a moment is shown; how many times as long the last one is."""


def moving(pictures: Sequence[str], rest: int) -> str:
    """Return the pictures of `parlour.envs.render.svg` as one SVG that shows one after the other.

    Args:
        pictures: of the moments, in order: lines of SVG, the first one with the size and the second with a title.
        rest: index of the picture that is shown where nothing may move.
    """
    frames = [picture.strip().splitlines() for picture in pictures]
    head, title = frames[0][0], frames[rest][1]
    runs = [
        (start, stop, line)
        for lines in zip_longest(*(frame[2:-1] for frame in frames), fillvalue="")
        for start, stop, line in _runs(lines)
    ]
    shown = [line if stop - start == len(frames) else _during(start, stop, line, rest) for start, stop, line in runs]
    return "\n".join([head, title, _style({run[:2] for run in runs}, len(frames)), *shown, "</svg>", ""])


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, stop and line for every line that stays the same from one moment to the next."""
    start = 0
    for line, group in groupby(lines):
        stop = start + len(list(group))
        if line:
            yield start, stop, line
        start = stop


def _during(start: int, stop: int, line: str, rest: int) -> str:
    seen = "visible" if start <= rest < stop else "hidden"
    return f'<g class="m m{start}-{stop}" visibility="{seen}">{line}</g>'


def _style(spans: set[tuple[int, int]], moments: int) -> str:
    units = moments - 1 + LAST
    lines = [f".m{{animation:{SECONDS * units:g}s step-end infinite}}"]
    for start, stop in sorted(spans - {(0, moments)}):
        name = f"m{start}-{stop}"
        steps = {0: "hidden", start: "visible"} | ({stop: "hidden"} if stop < moments else {})
        keys = "".join(f"{100 * at / units:.4g}%{{visibility:{value}}}" for at, value in steps.items())
        lines.append(
            f".{name}{{animation-name:{name}}}@keyframes {name}{{{keys}100%{{visibility:{_at_end(stop, moments)}}}}}"
        )
    return "<style>@media (prefers-reduced-motion:no-preference){\n" + "\n".join(lines) + "\n}</style>"


def _at_end(stop: int, moments: int) -> str:
    return "visible" if stop == moments else "hidden"
