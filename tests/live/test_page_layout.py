"""Pages on a desk and on a phone, by their DOM: nothing is too wide, too small, cut, or on top of something else."""

import pytest
from layout import SIZES, flaws, flaws_at_all_sizes
from tables import DRAWN, MINE, OVER, move, sit

pytestmark = pytest.mark.slow

LONG = "Bartholomew Featherstonehaugh III"[:32]

RANDOM = ["--agents", "human", "random", "--seed", "2"]
ONE_ROUND = ["--options", "rounds=1"]
GAMES = {
    "holdem": (["--agents", "tight", "call", "maniac", "--seed", "1", "--hands", "1"], []),
    "holdem, ten seats": (["--agents", *["call"] * 9, "--seats", "10", "--seed", "1", "--hands", "1"], []),
    "bargaining": (["--agents", "human", "fair", "--seed", "4", *ONE_ROUND], []),
    "auction": (["--agents", "human", "shade", "--seed", "2", *ONE_ROUND], []),
    "liars_dice": (["--agents", "human", "careful", "--seed", "2"], []),
    "multi_issue_bargaining": ([*RANDOM, *ONE_ROUND], []),
    "werewolf": (["--agents", "human", *["random"] * 6, "--seed", "2"], []),
    "common_agency": (
        ["--agents", "human", "random", "random", "--seed", "2"],
        ["Principals", "Agent", "Expected payoff low effort", "Benefit low: 0 · Benefit high"],
    ),
    "insurance_moral_hazard": (
        [*RANDOM, "--options", "max_rounds=2"],
        ["Insurer", "Without a contract both get 0.", "Chance of good low effort: 0.6"],
    ),
}
"""Games with their options, and what their boards say in plain words."""


def in_turn(visit, size="desk"):
    """Return a page of a table at which a person with a long name has the turn."""
    return visit(name=LONG, turn=True, **SIZES[size])


@pytest.mark.parametrize("name", GAMES)
def test_pictures_and_facts_are_read_in_a_turn_and_at_the_end_and_nothing_is_said_twice(table, name):
    options, words = GAMES[name]
    with table(name.partition(",")[0], *options, "--timeout", "2") as visit:
        page = in_turn(visit)
        said = page.inner_text("#board")
        assert [one for one in words if one not in said] == []
        assert not words or ("reward" not in said and "Your role\n" not in said)
        assert flaws_at_all_sizes(page) == []
        if name == "holdem":  # a name that has no room is cut
            assert page.is_visible(f"{DRAWN} text:text('Barth')")
        page.wait_for_selector(OVER)
        page.wait_for_selector("#files a")
        assert page.inner_text("#board").count("Max rounds") == 0
        assert page.inner_text(".outcome")[0].isupper()
        assert flaws_at_all_sizes(page) == []


def edges(page, *selectors):
    """Return where the boxes of elements begin and end from the top: of the first and of the last of each kind."""
    boxes = [box for one in selectors for box in page.eval_on_selector_all(one, ALL_EDGES)]
    return min(top for top, _ in boxes), max(bottom for _, bottom in boxes)


ALL_EDGES = "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"


def sizes_of(page):
    """Make a page as large as on a desk and on a phone; yield its height."""
    for size in SIZES.values():
        page.set_viewport_size(size["viewport"])
        page.wait_for_timeout(200)
        yield size["viewport"]["height"]


def test_the_buttons_of_tangram_cover_no_piece_and_stand_in_a_row(table):
    with table("tangram", *RANDOM) as visit:
        page = in_turn(visit, "phone")
        page.evaluate("document.querySelector('#notice').textContent = 'A sentence about what went wrong.'")
        for height in sizes_of(page):
            assert flaws(page) == []
            assert edges(page, ".piece", ".slots rect")[1] <= edges(page, "#move")[0]
            top, bottom = edges(page, "#controls > button:not([hidden])")
            assert bottom - top < 60 and edges(page, "#move")[1] <= height


def test_with_a_long_title_the_buttons_stay_in_their_row_and_several_fields_leave_the_board_in_sight(table):
    with table("multi_issue_bargaining", *RANDOM) as visit:
        page = in_turn(visit)
        for _ in sizes_of(page):
            top, bottom = edges(page, "#sound", "#stand")
            assert bottom - top < 50 and top <= edges(page, "#title")[0] + 10
            assert edges(page, "#board")[1] <= edges(page, "#move")[0] + 0.5


def sum_of(page, words):
    """Return what the forecast says an action pays under an assumption."""
    line = page.locator(f".forecast li:has-text('{words}')").inner_text()
    return float(line.split(words)[0].strip().replace(",", ""))


def test_a_game_of_economics_says_what_one_decides_and_what_it_pays(table):
    with table("cournot", "--agents", "human", "equilibrium", "--seed", "2", "--options", "rounds=2") as visit:
        page = visit(**SIZES["desk"])
        page.wait_for_selector("#sit:visible")
        assert page.inner_text("#title") == "Cournot competition"
        assert "Choose your quantity to make the most profit." in page.inner_text("#board")
        assert flaws_at_all_sizes(page) == []
        sit(page, LONG)
        page.wait_for_selector(MINE)
        assert page.inner_text("[data-action=submit_quantity]").startswith("Submit quantity")
        assert "the price is max(0, 100 - 1" in page.inner_text("#board")
        page.wait_for_selector(f"{DRAWN} text:text('20')", state="attached")  # the own cost
        start = float(page.input_value("input[type=number]"))
        assert start > 0 and sum_of(page, "if the other does the same") >= 0  # the curve's start loses in no case
        page.fill("input[type=number]", "30")
        assert page.inner_text(".forecast div b >> nth=0") == "30 pays you"
        assert sum_of(page, "if the other does the same") == (100 - 60 - 20) * 30
        assert sum_of(page, "if the other chooses the least") == (100 - 30 - 20) * 30
        high, low, left, right = page.locator(".curve small").all_inner_texts()
        assert float(high.replace(",", "")) > 0 > float(low.replace("−", "-").replace(",", ""))
        assert float(left) == 0 and float(right) > 30
        assert flaws_at_all_sizes(page) == []
        move(page, "submit_quantity", quantity=30)
        page.wait_for_selector(f"{MINE}")
        page.wait_for_selector(".rounds:has-text('Round 1')")
        first = page.locator(".rounds tr:has-text('Round 1') td").all_inner_texts()
        assert first[0] == "30"
        page.fill("input[type=number]", "20")
        expected = sum_of(page, "if the other does as in the last round")
        won = float(page.locator(".rounds tr:has-text('Points so far') td >> nth=0").inner_text())
        move(page, "submit_quantity", quantity=20)  # the other does the same as before
        page.wait_for_selector(OVER)
        assert page.locator(".outcome tr:has-text('You') td >> nth=-1").inner_text() == f"+{won + expected:,.0f}"
        assert flaws_at_all_sizes(page) == []


def test_an_offer_of_several_numbers_says_what_it_pays(table):
    with table("insurance_moral_hazard", *RANDOM) as visit:
        page = in_turn(visit)
        for label, value in (("Premium", 5), ("Transfer good", 1), ("Transfer bad", 7.5)):
            page.fill(f"form label:has(span:text-is('{label}')) input", str(value))
        assert page.inner_text(".forecast div b >> nth=0") == "It pays you"
        for effort, good in (("low", 0.6), ("high", 0.8)):
            words = f"if the other answers accept and then chooses {effort} effort"
            assert sum_of(page, words) == pytest.approx(5 - good * 1 - (1 - good) * 7.5)
        assert flaws_at_all_sizes(page) == []


def test_mafia_fits_and_the_phone_shows_role_phase_and_discussion_above_the_choice(table):
    with table("mafia", "--agents", "human", *["loyal"] * 6, "--seed", "93", "--timeout", "10") as visit:
        page = in_turn(visit, "phone")
        assert flaws_at_all_sizes(page) == []
        page.locator("main label:has([name=target])").first.click()
        page.keyboard.press("d")
        page.wait_for_selector("[data-action=say]")
        assert flaws_at_all_sizes(page) == []
        page.click("[data-action=say]")
        page.wait_for_selector("[data-action=vote]")
        for height in sizes_of(page):
            assert flaws(page) == []
            for part in (".sky h2", ".card-of h3", ".story li li", "[data-action=vote]"):
                box = page.locator(part).first.bounding_box()
                assert 0 <= box["y"] <= height - box["height"], part
