"""The server's pictures on the pages of TurnState games, in a real browser."""

import pytest
from tables import DRAWN, MINE, OVER, sit

pytestmark = pytest.mark.slow

TABLES = {
    "kuhn": ["kuhn", "--agents", "human", "honest", "--seed", "2"],
    "liars_dice": ["liars_dice", "--agents", "human", "careful", "--seed", "2"],
    "bargaining": ["bargaining", "--agents", "human", "fair", "--seed", "4"],
    "auction": ["auction", "--agents", "human", "shade", "--seed", "2"],
}


@pytest.mark.parametrize("name", TABLES)
def test_the_server_draws_the_table_with_peoples_names(table, name):
    with table(*TABLES[name], "--timeout", "1") as visit:
        eve, page = visit(), visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
        sit(page, "Ann <b>")
        page.wait_for_selector(MINE)
        page.wait_for_selector(DRAWN, state="attached")  # a phone shows words where they would be too small
        page.wait_for_selector(OVER)
        words = page.text_content(DRAWN)
        assert "player_" not in words
        assert "Ann <b>" in words
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        eve.wait_for_selector(DRAWN)
        assert "Ann <b>" in eve.text_content(DRAWN)


AT_NIGHT = [pytest.param(name, marks=pytest.mark.nightly) for name in (*TABLES, "leduc")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["holdem", *AT_NIGHT])
def test_words_in_the_picture_stand_out(table, name, scheme):
    args = TABLES.get(name, [name, "--agents", "call", "--seed", "2"])
    with table(*args) as visit:
        page = visit(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1280, "height": 1200})
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        page.wait_for_selector(DRAWN)
        weak = page.locator(DRAWN).evaluate(CONTRASTS)
        assert [(words, ratio) for words, ratio in weak if ratio < 4.4] == []  # what WCAG asks for, rounded


CONTRASTS = """
picture => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
    .getContext("2d", {willReadFrequently: true});
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const fill = (node) => getComputedStyle(node).fill;
  return [...picture.querySelectorAll("text")].filter((text) => text.checkVisibility()).map((text) => {
    const box = text.getBoundingClientRect();
    const under = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
      .find((node) => node.tagName !== "text" && picture.contains(node) && node !== picture && fill(node) !== "none");
    const [low, high] = [luminance(fill(text)), luminance(fill(under))].sort((a, b) => a - b);
    return [text.textContent, (high + 0.05) / (low + 0.05)];
  });
}
"""
"""The words of a picture and the WCAG contrast ratio of each with the shape under it."""
