"""Pages on a desk and on a phone, by their DOM: nothing is too wide, too small, cut, or on top of something else."""

import pytest
from layout import SIZES, flaws
from tables import MINE, OVER, move, sit

pytestmark = pytest.mark.slow

LONG = "Bartholomew Featherstonehaugh III"[:32]


PICTURES = {
    "holdem": ["--agents", "tight", "call", "maniac", "--seed", "1", "--hands", "1"],
    "holdem, ten seats": ["--agents", *["call"] * 9, "--seats", "10", "--seed", "1", "--hands", "1"],
    "bargaining": ["--agents", "human", "fair", "--seed", "4"],
    "auction": ["--agents", "human", "shade", "--seed", "2"],
    "kuhn": ["--agents", "human", "honest", "--seed", "2"],
    "leduc": ["--agents", "human", "call", "--seed", "2"],
    "liars_dice": ["--agents", "human", "careful", "--seed", "2"],
    "multi_issue_bargaining": ["--agents", "human", "random", "--seed", "2"],
    "werewolf": ["--agents", "human", *["random"] * 6, "--seed", "2"],
}


def in_turn(visit, size):
    """Return a page of a table at which a person with a long name has the turn."""
    page = visit(**SIZES[size])
    sit(page, LONG)
    page.wait_for_selector(MINE)
    return page


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_the_server_are_read_in_a_turn_and_at_the_end(table, name, size):
    with table(name.partition(",")[0], *PICTURES[name], "--timeout", "3") as visit:
        page = in_turn(visit, size)
        page.wait_for_timeout(300)  # hold'em asks for its picture
        assert flaws(page) == []
        page.wait_for_selector(OVER)
        page.wait_for_selector("#files a")
        assert flaws(page) == []


def edges(page, *selectors):
    """Return where the boxes of elements begin and end from the top: of the first and of the last of each kind."""
    boxes = [box for one in selectors for box in page.eval_on_selector_all(one, ALL_EDGES)]
    return min(top for top, _ in boxes), max(bottom for _, bottom in boxes)


ALL_EDGES = "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"


@pytest.mark.parametrize("size", SIZES)
def test_the_buttons_of_tangram_cover_no_piece_and_stand_in_a_row(table, size):
    with table("tangram", "--agents", "human", "random", "--seed", "2") as visit:
        page = in_turn(visit, size)
        page.evaluate("document.querySelector('#notice').textContent = 'A sentence about what went wrong.'")
        assert flaws(page) == []
        assert edges(page, ".piece", ".slots rect")[1] <= edges(page, "#move")[0]
        top, bottom = edges(page, "#controls > button:not([hidden])")
        assert bottom - top < 60 and edges(page, "#move")[1] <= SIZES[size]["viewport"]["height"]


@pytest.mark.parametrize("size", SIZES)
def test_with_a_long_title_the_buttons_stay_in_their_row_and_several_fields_leave_the_board_in_sight(table, size):
    with table("multi_issue_bargaining", "--agents", "human", "random", "--seed", "2") as visit:
        page = in_turn(visit, size)
        top, bottom = edges(page, "#sound", "#stand")
        assert bottom - top < 50 and top <= edges(page, "#title")[0] + 10
        assert edges(page, "#board")[1] <= edges(page, "#move")[0] + 0.5


def sum_of(page, words):
    """Return what the forecast says an action pays under an assumption."""
    line = page.locator(f".forecast li:has-text('{words}')").inner_text()
    return float(line.split(words)[0].strip().replace(",", ""))


@pytest.mark.parametrize("size", SIZES)
def test_a_game_of_economics_says_what_one_decides_and_what_it_pays(table, size):
    with table("cournot", "--agents", "human", "equilibrium", "--seed", "2", "--options", "rounds=2") as visit:
        page = visit(**SIZES[size])
        page.wait_for_selector("#sit:visible")
        assert page.inner_text("#title") == "Cournot competition"
        assert "Choose your quantity to make the most profit." in page.inner_text("#board")
        assert flaws(page) == []
        sit(page, LONG)
        page.wait_for_selector(MINE)
        assert page.inner_text("[data-action=submit_quantity]").startswith("Submit quantity")
        assert "the price is max(0, 100 - 1" in page.inner_text("#board")
        page.fill("input[type=number]", "30")
        assert page.inner_text(".forecast div b >> nth=0") == "30 pays you"
        assert sum_of(page, "if the other does the same") == (100 - 60 - 20) * 30
        assert sum_of(page, "if the other chooses the least") == (100 - 30 - 20) * 30
        assert flaws(page) == []
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
        assert flaws(page) == []


@pytest.mark.parametrize("size", SIZES)
def test_an_offer_of_several_numbers_says_what_it_pays(table, size):
    with table("insurance_moral_hazard", "--agents", "human", "random", "--seed", "2") as visit:
        page = in_turn(visit, size)
        for label, value in (("Premium", 5), ("Transfer good", 1), ("Transfer bad", 7.5)):
            page.fill(f"form label:has(span:text-is('{label}')) input", str(value))
        assert page.inner_text(".forecast div b >> nth=0") == "It pays you"
        for effort, good in (("low", 0.6), ("high", 0.8)):
            words = f"if the other answers accept and then chooses {effort} effort"
            assert sum_of(page, words) == pytest.approx(5 - good * 1 - (1 - good) * 7.5)
        assert flaws(page) == []


FACTS = {
    "bilateral_trade": ("buyer", ["as the buyer (reservation value)", "Buyer", "Without one both get 0."]),
    "common_agency": (
        "principal",
        ["Principals", "Agent", "Expected payoff low effort", "Benefit low: 0 · Benefit high"],
    ),
    "insurance_moral_hazard": (
        "insurer",
        ["Insurer", "Without a contract both get 0.", "Chance of good low effort: 0.6"],
    ),
    "principal_agent": ("principal", ["Principal", "Worker"]),
    "war_of_attrition": ("", ["Maximum time: 50", "both get 0."]),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FACTS)
def test_facts_are_in_plain_words_each_once_and_nothing_is_cut(table, name, size):
    role, words = FACTS[name]
    bots = ["random"] * (2 if name == "common_agency" else 1)
    with table(name, "--agents", "human", *bots, "--seed", "2", "--timeout", "3") as visit:
        page = in_turn(visit, size)
        assert flaws(page) == []
        said = page.inner_text("#board")
        assert [one for one in words if one not in said] == []
        assert "reward" not in said and f"Your role\n{role}" not in said
        if name == "war_of_attrition":
            assert page.inner_text(".field label span") == "Time"
        page.wait_for_selector(OVER)
        page.wait_for_selector("#files a")
        assert flaws(page) == []
        outcome, board = page.inner_text(".outcome"), page.inner_text("#board")
        assert board.count("Max rounds") == 0 and outcome.splitlines()[0][0].isupper()


@pytest.mark.parametrize("size", SIZES)
def test_mafia_fits_and_the_phone_shows_role_phase_and_discussion_above_the_choice(table, size):
    with table("mafia", "--agents", "human", *["loyal"] * 6, "--seed", "93", "--timeout", "5") as visit:
        page = in_turn(visit, size)
        assert flaws(page) == []
        page.locator("main label:has([name=target])").first.click()
        page.keyboard.press("d")
        page.wait_for_selector("[data-action=say]")
        assert flaws(page) == []
        page.click("[data-action=say]")
        page.wait_for_selector("[data-action=vote]")
        assert flaws(page) == []
        height = SIZES[size]["viewport"]["height"]
        for part in (".sky h2", ".card-of h3", ".story li li", "[data-action=vote]"):
            box = page.locator(part).first.bounding_box()
            assert 0 <= box["y"] <= height - box["height"], part
