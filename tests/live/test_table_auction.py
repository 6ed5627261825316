"""An auction in the browser: a person is told the terms of the options."""

import pytest
from tables import MINE, OVER, move, sit

pytestmark = pytest.mark.slow


def test_the_terms_of_an_auction_are_told(table):
    options = ("seats=3", "units=2", "reserve=20", "entry_fee=3", "values=common", "valuations=[25, 225]", "noise=15")
    with table("auction", "--agents", "human", "truthful", "truthful", "--seed", "1", "--options", *options) as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        facts = page.text_content("#board dl")
        assert all(one in facts for one in ("Your estimate", "For sale2", "Reserve price20", "Entry fee3"))
        rules = page.text_content("details:has-text('How it is played')")
        assert "2 equal things" in rules
        assert "A bid below 20 does not take part." in rules
        assert "within 15 of a hidden number" in rules
        move(page, "submit_bid", bid=21)
        page.wait_for_selector(OVER)
        assert page.text_content("#board").count(" won.") == 2
