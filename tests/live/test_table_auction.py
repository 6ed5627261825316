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
        assert "Your estimate of what the good is worth" in page.text_content("#board dl")
        aim = page.text_content("#board .aim")
        assert all(one in aim for one in ("2 equal goods", "price of 20", "a fee of 3", "A winner gets its value"))
        assert "off by at most 15" in page.text_content("details:has-text('How it is played')")
        move(page, "submit_bid", bid=21)
        page.wait_for_selector(OVER)
        assert page.text_content("#board").count(" won.") == 2
