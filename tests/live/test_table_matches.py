"""Whole matches through the page, in a real browser: every game, with a page loaded anew on the way."""

import re

import pytest
from layout import SIZES
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import library
from parlour.wrappers.logs import match_log
from parlour.wrappers.replay import log_reader
from tables import MINE, OVER, move, passed, turn_of

pytestmark = pytest.mark.slow


# Bargaining, auction, hold'em.


@pytest.mark.smoke
def test_bargaining_is_played_to_the_end_and_again(table, tmp_path):
    with table("bargaining", "--agents", "human", "hardliner", "--seed", "4", "--log", f"{tmp_path}/log") as visit:
        page = visit(name="Ann", turn=True)
        page.fill("#text", "<b>fair?</b> <img src=x onerror=alert(1)>")
        page.press("#text", "Enter")
        page.wait_for_selector("#messages li:has-text('<b>fair?</b> <img src=x onerror=alert(1)>')")
        move(page, "submit_offer", my_share=71.5)
        page.wait_for_selector("#board .history li:has-text('wants 71.5')")
        page.reload()
        slider = page.locator("form.wide input[type=range]")
        page.wait_for_selector(MINE)
        slider.fill("40")
        assert page.input_value("form.wide input[type=number]") == "40"
        page.press("form.wide input[type=number]", "Enter")
        page.wait_for_selector("#board .history li:has-text('wants 40')")
        while page.wait_for_selector(f"{MINE}, {OVER}").evaluate("node => node.matches('button')"):
            accept = page.query_selector("[data-action=accept]:enabled")
            turn = turn_of(page)
            (accept or page.query_selector("[data-action=pass]:enabled")).click()
            passed(page, turn)
        assert page.inner_text(".outcome h2") == "Agreement"
        page.click("#again")
        page.wait_for_selector(MINE)
        assert page.locator("#messages li").count() == 0
        assert "No offer stands" in page.inner_text("#board")
    players = [entry["agents"] for entry in match_log.read(tmp_path / "log") if entry["kind"] == "match"]
    assert [[player["name"] for player in one] for one in players] == [["Ann", "Hardliner"]] * 2


def test_an_auction_of_two_people_a_bot_and_one_who_looks_on(table):
    names = ("Ann", "<b>Bob</b>")
    with table("auction", "--agents", "human", "human", "shade", "--seed", "6") as visit:
        eve = visit()
        people = [visit(name=name) for name in names]
        ann, bob = people
        bob.wait_for_selector("#seats li:has-text('<b>Bob</b> (you)')")
        ann.select_option("#reader", label="<b>Bob</b>")
        ann.fill("#text", "between us")
        ann.press("#text", "Enter")
        bob.wait_for_selector("#messages li.private:has-text('between us')")
        move(ann, "submit_bid", bid=11.125)
        ann.reload()
        ann.wait_for_selector("#board dd:text('11.13')")
        move(bob, "submit_bid", bid=13.375)
        for page in (*people, eve):
            page.wait_for_selector(OVER)
            page.wait_for_selector(".outcome")
        assert "between us" not in str(eve.traffic)
        assert eve.locator("#say:visible, #controls button, #sit:visible").count() == 0


def test_who_leads_an_english_auction_is_not_asked_to_leave_it(table):
    with table("english_auction", "--agents", "human", "human") as visit:
        ann, bob = visit(name="Ann"), visit(name="Bob")
        move(ann, "raise_bid", amount=5)
        bob.wait_for_selector("[data-action=fold]")
        move(bob, "pass")
        ann.wait_for_selector("[data-action=pass]")
        assert ann.locator("[data-action=fold]").count() == 0


@pytest.mark.parametrize("game", ["kuhn", "liars_dice"])
def test_small_games_are_played_to_the_end(table, game):
    with table(game, "--agents", "human", "random", "--seed", "2") as visit:
        page = visit(name="Ann")
        while page.wait_for_selector(f"{MINE}, {OVER}").evaluate("node => node.matches('button')"):
            told = page.text_content("#board .unseen")  # for screen readers; the picture shows it
            assert re.match(r"You: [JQK1-6]\.", told)
            assert "hidden" in told
            assert page.locator("#board .card").count() == 0
            turn = turn_of(page)
            page.locator(MINE).last.click()
            passed(page, turn)
        assert page.locator(".outcome tr").count() == 3


# Mafia.


def take_turn(page):
    """Do what is asked for, by mouse and keyboard."""
    turn = turn_of(page)
    if page.query_selector(".statement"):
        page.select_option(".statement select >> nth=0", "accusation")
        page.fill(".statement input", "I do not like how quiet Cy is.")
        page.press(".statement input", "Enter")
    else:
        page.click("main label:has([name=target]) >> nth=0")
        page.keyboard.press("Enter")
    passed(page, turn)


def test_mafia_of_three_people_is_played_and_the_village_learns_no_role(table):
    bots = ["loyal"] * 4
    with table("mafia", "--agents", *["human"] * 3, *bots, "--seed", "93") as visit:  # Ann and Bob are the mafia
        eve, *people = (visit(name=name) for name in (None, "Ann", "Bob", "<i>Cy</i>"))
        ann, bob, cy = people
        ann.wait_for_selector(".card-of.mafia:has-text('Bob')")
        bob.wait_for_selector(".card-of.mafia:has-text('Ann')")
        cy.wait_for_selector(".card-of.villager")
        ann.fill("#text", "Let us take <b>the loyal one</b>")
        ann.press("#text", "Enter")
        bob.wait_for_selector("#messages li.private:has-text('<b>the loyal one</b>')")
        assert cy.locator("#chat:visible").count() == eve.locator("#chat:visible").count() == 0
        again = False
        while not eve.query_selector(OVER):
            for page in (ann, bob, cy):
                if page.query_selector(MINE):
                    take_turn(page)
                    assert page.inner_text("#notice") == ""
            if not again and bob.query_selector(".sky.day"):
                bob.reload()
                bob.wait_for_selector(".card-of.mafia:has-text('Ann')")
                again = True
            eve.wait_for_timeout(100)
        assert again
        for page in (ann, bob, cy, eve):
            page.wait_for_selector(OVER)
            assert page.locator(".outcome tr").count() == 8
            assert page.locator(".village .role").count() == 7
            events = page.locator(".story .event").all_text_contents()
            assert events[-1].startswith("Night 1: ")
            assert sum("killed" in line or "voted out" in line for line in events) >= 2
        assert ann.locator(".story .tally").count() > 0
        assert ann.locator(".story q:has-text('quiet')").count() > 0
        assert "loyal one" not in str(cy.traffic) + str(eve.traffic)


def test_a_click_on_a_seat_chooses_it(table):
    with table("mafia", "--agents", *["human"] * 1, *["loyal"] * 6, "--seed", "93") as visit:  # Ann is mafia
        page = visit(name="Ann", turn=True)
        ids = page.locator(".village input").evaluate_all("all => all.map(one => one.value)")
        assert len(ids) == page.locator("input[name=target]").count() >= 5
        for wanted in ids[:2]:
            page.click(f".village [data-agent='{wanted}']")
            assert page.locator("input:checked").get_attribute("value") == wanted
        page.click(".village [data-agent='p1']")  # oneself cannot be killed
        assert page.locator("input:checked").get_attribute("value") == ids[1]
        names = page.locator(".village .name").all_inner_texts()
        assert len(names) == len(set(names)) == 7  # every player once, and in no other list
        assert page.is_hidden("#seats")
        assert "Loyal 6" in names
        assert page.locator(".village .face[aria-label=program]").count() == 6
        colours = page.locator(".village .face").evaluate_all("all => all.map(one => one.getAttribute('fill'))")
        assert len(set(colours)) == 7
        page.keyboard.press("d")
        page.wait_for_selector("[data-action=say]")
        page.click(".village li:not(.dead)[data-agent]:has-text('Loyal')")
        assert page.locator("select[name=what]").input_value() == "accusation"
        assert page.locator("select[name=whom]").input_value() in ids


# Tangram.


def on_screen(page, x, y):
    """Return where a point of the board is."""
    return page.locator("svg.tangram").evaluate(
        "(node, [x, y]) => { const at = new DOMPoint(x, 100 - y).matrixTransform(node.getScreenCTM());"
        " return [at.x, at.y]; }",
        [x, y],
    )


def middle_of(page, name):
    """Return where a piece can be taken."""
    return page.locator(f"[data-piece={name}] polygon").evaluate(
        "node => { const all = [...node.points].map((one) => one.matrixTransform(node.getScreenCTM()));"
        " const mean = (axis) => all.reduce((sum, one) => sum + one[axis], 0) / all.length;"
        " return [mean('x'), mean('y')]; }"
    )


def drag(page, name, x, y):
    """Take a piece from the drawer to a point of the board, by mouse."""
    page.mouse.move(*middle_of(page, name))
    page.mouse.down()
    page.mouse.move(*on_screen(page, x + 6, y + 6))
    page.mouse.move(*on_screen(page, x, y), steps=3)
    page.mouse.up()


def test_a_tangram_is_built_by_two_people_with_the_mouse(table, tmp_path):
    poses = library()["A cat"].poses()
    args = ("tangram", "--agents", "human", "human", "--options", 'figure="A cat"', "--log", f"{tmp_path}/log")
    with table(*args) as visit:
        eve, *people = (visit(name=name, reduced_motion="reduce") for name in (None, "Ann", "Bob"))
        for piece, (x, y, rotation) in enumerate(poses.tolist()):
            page, name = people[piece % 2], PIECES[piece]
            page.wait_for_selector(MINE)
            page.keyboard.press(str(piece + 1))
            for _ in range(round(rotation / 45)):
                page.keyboard.press("r")
            turn = turn_of(page)
            drag(page, name, x + 0.7, y - 0.6)  # near enough to snap
            passed(page, turn)
            if piece == 1:
                page.reload()
            page.wait_for_selector(f".word:text('{name} lies well')")
            if piece == 2:
                page.fill("#text", "now the <u>tail</u>")
                page.press("#text", "Enter")
            page.click("[data-action=finish]")
        for page in (eve, *people):
            page.wait_for_selector(OVER)
            assert page.inner_text(".outcome h2") == "Solved"
            assert "100 % built" in page.inner_text(".build")
            assert "now the <u>tail</u>" in page.inner_text("#messages")
        assert "figure" not in eve.evaluate("fetch('facts.json').then((reply) => reply.json())")["options"]
    assert log_reader.replay(tmp_path / "log").table.iou > 0.999


def test_a_piece_that_overlaps_is_marked_and_goes_back_and_the_keyboard_builds(table):
    with table("tangram", "--options", "seats=1", "turns=3", 'figure="A cat"') as visit:
        page = visit(reduced_motion="reduce", name="Ann")

        def played(*keys):
            turn = turn_of(page)
            for one in keys:
                page.keyboard.press(one)
            passed(page, turn)

        page.wait_for_selector(MINE)
        played("1", "r", "ArrowRight", "Shift+ArrowUp", "p")
        page.wait_for_selector(".word:text('Red lies outside the figure')")
        assert page.locator("[data-piece=Red]").get_attribute("aria-label").endswith("turned by 45 degrees")
        played("f")
        played("2", "r", "ArrowRight", "Shift+ArrowUp", "p")
        page.wait_for_selector(".word:text('Cream overlaps Red')")
        assert page.locator(".piece.wrong").count() == 2
        played("f")
        page.wait_for_selector("[data-piece=Cream][aria-label='Cream, in the drawer']")
        page.keyboard.press("1")
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector("[data-piece=Red].pending")
        page.keyboard.press("f")  # puts it first
        page.wait_for_selector(OVER)
        assert page.inner_text(".outcome h2") == "Maximum turns exceeded"


def test_a_tangram_is_built_beside_a_bot_by_touch_on_a_telephone(table):
    with table("tangram", "--agents", "human", "solver", "--options", "turns=2", 'figure="A cat"') as visit:
        page = visit(reduced_motion="reduce", **SIZES["phone"])
        page.fill("#name", "Ann")
        page.tap("#sit button")
        page.wait_for_selector(MINE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        hand = page.context.new_cdp_session(page)

        def finger(kind, *at):
            points = [{"x": at[0], "y": at[1]}] if at else []
            hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        def swipe(start, end):
            turn = turn_of(page)
            finger("touchStart", *start)
            for part in (0.3, 0.6, 1):
                finger("touchMove", *(a + part * (b - a) for a, b in zip(start, end, strict=True)))
            finger("touchEnd")
            passed(page, turn)

        swipe(middle_of(page, "Purple"), on_screen(page, 20, 20))
        page.wait_for_selector(".word:text('Purple lies outside the figure')")
        knob = page.locator(".handle").bounding_box()
        swipe((knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2), on_screen(page, 33, 31))
        label = page.locator("[data-piece=Purple]").get_attribute("aria-label")
        assert label.endswith("turned by 45 degrees"), label
        page.tap("[data-action=finish]")
        page.wait_for_selector(OVER)
