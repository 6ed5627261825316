"""The server's pictures on the pages of TurnState games, in a real browser."""

import pytest
from tables import DRAWN, MINE, OVER, sit

pytestmark = pytest.mark.slow

TABLES = {
    "kuhn": ["kuhn", "--agents", "human", "honest", "--seed", "2"],
    "liars_dice": ["liars_dice", "--agents", "human", "careful", "--seed", "2"],
    "bargaining": ["bargaining", "--agents", "human", "fair", "--seed", "4"],
    "auction": ["auction", "--agents", "human", "shade", "--seed", "2"],
    "cournot": ["cournot", "--agents", "human", "equilibrium", "--seed", "2"],
}


@pytest.mark.parametrize("name", TABLES)
def test_the_server_draws_the_table_with_peoples_names(table, name):
    with table(*TABLES[name], "--timeout", "3") as visit:
        eve, page = visit(), visit(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
        sit(page, "Ann <b>")
        page.wait_for_selector(MINE)
        page.wait_for_selector(DRAWN)
        page.wait_for_selector(OVER)
        words = page.text_content(DRAWN)
        assert "player_" not in words
        assert "Ann <b>" in words
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        eve.wait_for_selector(DRAWN)
        assert "Ann <b>" in eve.text_content(DRAWN)
