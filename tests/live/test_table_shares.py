"""Shares by agent at the browser table: a field for each person."""

import pytest
from tables import MINE, OVER, sit

pytestmark = pytest.mark.slow


def test_a_person_divides_a_pie(table):
    options = ("seats=3", "max_rounds=1", "reservations=[0, 0]")
    with table("ultimatum", "--agents", "human", "equilibrium", "equilibrium", "--options", *options) as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        form = page.locator("form.move:has([data-action=submit_offer])")
        assert form.locator("label").first.text_content().startswith("You")
        begun = [float(field.input_value()) for field in form.locator("input[type=number]").all()]
        assert sum(begun) == 100 and max(begun) - min(begun) <= 2  # a division that can be played as it is
        form.locator("input[type=number]").first.fill("50")
        assert sum(float(field.input_value()) for field in form.locator("input[type=number]").all()) == 100
        form.locator("[data-action=submit_offer]").click()
        page.wait_for_selector(OVER)
        assert "+50" in page.text_content("body")
