"""What people with low vision, or without a mouse, need: axe-core finds nothing, and controls never cover the board."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from tables import MINE, OVER, sit

pytestmark = pytest.mark.slow

TABLES = {
    "holdem": ["holdem", "--agents", "tight", "call", "maniac", "--seed", "1"],
    "holdem-9": ["holdem", "--agents", *["call"] * 8, "--seats", "9", "--seed", "1"],
    "mafia": ["mafia", "--agents", *["mixed"] * 6, "--seed", "3"],
    "tangram": ["tangram", "--agents", "solver", "human", "--options", 'figure="A cat"'],
    "bargaining": ["bargaining", "--agents", "human", "fair", "--seed", "4"],
    "auction": ["auction", "--agents", "human", "shade", "--seed", "2"],
    "kuhn": ["kuhn", "--agents", "human", "honest", "--seed", "2"],
    "leduc": ["leduc", "--agents", "human", "call", "--seed", "2"],
    "liars_dice": ["liars_dice", "--agents", "human", "careful", "--seed", "2"],
    "cournot": ["cournot", "--agents", "human", "equilibrium", "--seed", "2"],
}
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def complaints(page):
    """Return what axe-core finds in light and in dark colours, as lines: colours, rule, place and message."""
    lines = []
    for scheme in ("light", "dark"):
        # Without motion: a colour in the middle of a transition is none that stays.
        page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
        for rule in Axe().run(page).response["violations"]:
            for node in rule["nodes"]:
                said = node["failureSummary"].splitlines()[1].strip()
                lines.append(f"{scheme}: {rule['id']}: {node['target']}: {said}")
    return "\n".join(lines)


def arranged(page):
    """Return where board and controls are, all in one moment of the visitor's turn."""
    seen = None
    while seen is None:
        page.wait_for_selector(MINE)
        seen = page.evaluate(
            """(mine) => document.querySelector(mine) && {
                board: document.querySelector("#board").getBoundingClientRect().toJSON(),
                move: document.querySelector("#move").getBoundingClientRect().toJSON(),
                height: innerHeight, needed: document.documentElement.scrollHeight,
            }""",
            MINE,
        )
    return seen


@pytest.mark.parametrize("name", TABLES)
def test_axe_finds_nothing_in_a_match_and_the_controls_never_cover_the_board(table, name):
    with table(*TABLES[name], "--timeout", "2") as visit:
        page = visit(**DESK)
        page.wait_for_selector("#sit:visible")
        assert complaints(page) == ""
        sit(page, "Ann")
        seen = arranged(page)
        assert seen["board"]["bottom"] <= seen["move"]["top"] + 0.5
        assert seen["move"]["bottom"] <= DESK["viewport"]["height"] + 0.5
        assert seen["needed"] <= seen["height"]
        assert seen["board"]["height"] >= 190
        assert complaints(page) == ""
        if not name.startswith("holdem"):  # a poker table goes on
            page.wait_for_selector(OVER)
            assert complaints(page) == ""


def contrast(page, front, back):
    """Return the WCAG contrast ratio of two colours of the page, by the names of their CSS variables."""
    return page.evaluate(
        """([front, back]) => {
            const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
                .getContext("2d", {willReadFrequently: true});
            const luminance = (name) => {
                const probe = document.body.appendChild(document.createElement("i"));
                probe.style.color = `var(${name})`;
                canvas.fillStyle = getComputedStyle(probe).color;
                probe.remove();
                canvas.fillRect(0, 0, 1, 1);
                const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
                    .map((one) => one / 255)
                    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        }""",
        [front, back],
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_edges_of_controls_and_marks_stand_out(table, scheme):
    with table(*TABLES["kuhn"]) as visit:
        page = visit(color_scheme=scheme)
        for ground in ("--ground", "--panel"):
            assert contrast(page, "--ink", ground) >= 7
            assert contrast(page, "--soft", ground) >= 4.5
            assert contrast(page, "--mark", ground) >= 4.5
            assert contrast(page, "--edge", ground) >= 3  # WCAG 2.2, 1.4.11: what can be operated


def test_a_phone_shows_no_more_than_its_width(table):
    with table(*TABLES["holdem-9"]) as visit:
        page = visit(**PHONE)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert complaints(page) == ""
