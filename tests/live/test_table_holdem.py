"""Hold'em in a real browser: the server's picture, the controls of a bet, the choice before the turn."""

import re

import pytest
from parlour import envs
from parlour.envs import Match
from tables import DRAWN as PICTURE
from tables import MINE, move, passed, shown, sit, turn_of

pytestmark = pytest.mark.slow


DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def test_holdem_of_two_people_by_touch_on_a_telephone(table):
    with table("holdem", "--agents", "human", "human", "--seed", "3") as visit:
        pages = [visit(**PHONE) for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.fill("#name", name)
            page.tap("#sit button")
        for page in pages:
            page.wait_for_selector(PICTURE)
            assert page.locator("#board .word .card").count() == 2  # its own
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert all(button.bounding_box()["height"] >= 40 for button in page.query_selector_all("button:visible"))
        acting = next(page for page in pages if page.query_selector(MINE))
        acting.tap("[data-action=fold]")
        for page in pages:
            page.wait_for_selector(".won")
        other = next(page for page in pages if page is not acting)
        acting.tap("#stand")
        acting.wait_for_selector("#sit:visible")
        other.wait_for_selector("#seats li:has-text('free')")


def test_a_holdem_page_loaded_anew_keeps_seat_and_cards(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        before = shown(page)
        page.reload()
        page.wait_for_selector(MINE)
        assert shown(page) == before
        move(page, "fold")
        page.wait_for_selector(".won")


def test_hands_are_counted_and_the_one_before_can_be_read_in_the_next_and_at_the_end(table):
    with table("holdem", "--agents", "call", "--seed", "1", "--hands", "2") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector("#besides:text-is('Hand 1 of 2')")
        page.wait_for_selector(MINE)
        move(page, "fold")
        page.wait_for_selector("#besides:text-is('Hand 2 of 2')")
        assert page.inner_text("#beside p >> nth=0") == "Blinds 1 and 2"
        assert re.fullmatch(r"Hand 1: \s*Call won \d+\.\s*", page.inner_text("#beside p >> nth=1"))
        while page.wait_for_selector(f"{MINE}, .outcome").evaluate("node => node.matches('button')"):
            turn = turn_of(page)
            page.click("[data-action=check], [data-action=call]")
            passed(page, turn)
        page.wait_for_selector(".outcome th:text-is('Chips at the end')")


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_the_controls_of_a_bet_never_cover_the_picture(table, screen):
    with table("holdem", "--agents", "maniac", "call", "--seed", "1") as visit:
        page = visit(**screen)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        page.wait_for_selector(PICTURE)
        page.wait_for_selector("form.wide input[type=number]")
        picture, board, controls = (page.locator(one).bounding_box() for one in (PICTURE, "#board", "#move"))
        assert picture["y"] >= board["y"]
        assert picture["y"] + picture["height"] <= board["y"] + board["height"]
        assert board["y"] + board["height"] <= controls["y"] + 0.5
        assert controls["y"] + controls["height"] <= screen["viewport"]["height"] + 0.5
        assert picture["width"] >= 340


def test_the_picture_is_the_one_of_the_replays(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit()
        sit(page, "<b>A</b>")
        page.wait_for_selector(MINE)
        page.wait_for_selector(f"{PICTURE} text:text('pot 3')")  # the picture comes after the controls
        title, texts = page.text_content(f"{PICTURE} title"), page.locator(f"{PICTURE} text").all_text_contents()
        match = Match(envs.game("holdem"))
        match.reset(seed=1)
        replayed = envs.game("holdem").renderer.picture([match.turn_state("player_0")])
        shapes = re.compile("<(?:ellipse|rect)[^>]*>").findall(replayed)
        assert title == "Hold'em, preflop: board empty, pot 3"
        assert {"pot 3", "blinds 1/2", "<b>A</b>", "Call"} <= set(texts)
        # The felt, its rim and the five places of the board are the same shapes.
        drawn = page.eval_on_selector(PICTURE, "node => new XMLSerializer().serializeToString(node)")
        assert all(part[:-2] in drawn for part in shapes[:3])


def test_the_keys_of_the_amounts_fill_the_field_and_a_bet_is_no_raise(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert "Raise to" in page.inner_text("[data-action=raiseTo]")  # the blinds are the first bet
        amount = page.locator("form.wide input[type=number]")
        least, most = amount.get_attribute("min"), amount.get_attribute("max")
        seen = {}
        for key in "hpam":
            page.keyboard.press(key)
            seen[key] = int(amount.input_value())
        assert (seen["m"], seen["a"]) == (int(least), int(most))
        assert seen["m"] <= seen["h"] < seen["p"] < seen["a"]
        while "Bet" not in page.inner_text("[data-action=raiseTo]"):
            turn = turn_of(page)
            page.keyboard.press("2")  # check or call
            passed(page, turn)
            page.wait_for_selector(MINE)
        page.keyboard.press("h")
        half = page.input_value("form.wide input[type=number]")
        turn = turn_of(page)
        page.keyboard.press("3")
        passed(page, turn)
        page.wait_for_selector(f"#beside li:has-text('You bet {half}')")
        assert page.inner_text("#beside h2").startswith("Hand ")
        assert "Blinds 1 and 2" in page.inner_text("#beside")


def test_a_choice_before_the_turn_is_played_when_the_turn_comes(table):
    with table("holdem", "--agents", "call", "call", "human", "--seed", "1", delay="1") as visit:
        page = visit()
        sit(page, "Ann")
        move(page, "check")  # from the big blind
        page.wait_for_selector("#ahead:visible")
        page.keyboard.press("c")
        assert page.get_attribute("#ahead", "aria-pressed") == "true"
        page.keyboard.press("c")
        assert page.get_attribute("#ahead", "aria-pressed") == "false"
        page.click("#ahead")
        page.wait_for_selector("#beside li:has-text('flop You check')")
        page.wait_for_selector(MINE)  # it holds for one turn
        assert page.locator("#ahead:visible").count() == 0


def test_names_in_the_picture_can_be_read_on_a_phone(table):
    with table("holdem", "--agents", *["call"] * 9, "--seats", "10", "--seed", "1") as visit:
        page = visit(**PHONE)
        sit(page, "Annabella")
        page.wait_for_selector(MINE)
        page.wait_for_selector(PICTURE)
        names = page.locator(f"{PICTURE} text:text('Annabe…'), {PICTURE} text:text('call')")
        sizes = names.evaluate_all(
            "all => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
        )
        assert len(sizes) >= 10
        assert min(sizes) >= 9
        assert max(sizes) >= 10.5
        boxes = [plate.bounding_box() for plate in page.locator(f"{PICTURE} rect[width='116'][height='54']").all()]
        assert len(boxes) == 10
        for i, one in enumerate(boxes):
            for other in boxes[:i]:
                apart = abs(one["x"] - other["x"]) >= one["width"] or abs(one["y"] - other["y"]) >= one["height"]
                assert apart, (one, other)
