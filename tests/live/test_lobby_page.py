"""The lobby in a real browser: names, tables with programs and people, invite links, results."""

import re

import pytest
from layout import SIZES, flaws
from live.test_table_page import DESK, PHONE, complaints
from tables import MINE, cut_off_once, move

pytestmark = pytest.mark.slow


def enter(page, name):
    page.wait_for_selector("#enter:visible")
    page.fill("#name", name)
    page.click("#enter button")


def opened(page, game, *opponents, seats=None, hidden=False):
    """Open a table with these programs, "" for a person; return when the page is the table's."""
    page.wait_for_selector("#new [type=submit]:enabled")
    page.select_option("#game", game)
    if seats is not None:
        page.fill("#count", str(seats))
    page.locator("details:has(#opponents)").evaluate("one => (one.open = true)")
    for select, name in zip(page.locator("#opponents select").all(), opponents, strict=True):
        select.select_option(name)
    page.set_checked("#hidden", hidden)
    page.click("#new [type=submit]")
    page.wait_for_selector("#stand:visible")  # who opens a table sits there


def named_by_chromium(page, status):
    """Chromium complains of a refused call: once, and that is meant to be."""
    [said] = page.complaints
    assert str(status) in said
    page.complaints.clear()


def test_a_person_takes_a_name_plays_a_trained_policy_and_sees_the_result(lobby):
    with lobby("kuhn", "leduc") as visit:
        page = visit(**DESK)
        assert complaints(page) == ""
        enter(page, "<b>Ann</b>")
        page.wait_for_selector("#you:has-text('<b>Ann</b>')")
        opened(page, "kuhn", "zoo:kuhn")
        page.wait_for_selector("#seats li:has-text('<b>Ann</b> (you)')")
        assert complaints(page) == ""
        while True:
            page.wait_for_selector(f"{MINE}, #status:text('is over')")
            if "over" in page.inner_text("#status"):
                break
            move(page, "pass")
        page.click("#lobby")
        page.wait_for_selector("#results li .name")
        assert re.search(r"<b>Ann</b> [+−]\d, Zoo [+−]\d chips", page.inner_text("#results"))
        assert complaints(page) == ""
        page.reload()
        page.wait_for_selector("#you:has-text('<b>Ann</b>')")


def test_one_button_opens_the_usual_table_and_every_game_says_how_long_it_takes(lobby):
    with lobby("kuhn", "leduc") as visit:
        page = visit(**PHONE)
        page.wait_for_selector("#enter:visible")
        assert page.inner_text("#usual") == "Play now Kuhn poker, 2 players, about 1 minute"
        assert (
            page.locator("#games li")
            .all_inner_texts()[1]
            .startswith("Leduc hold'em 2 players, about 2 minutes. Poker for")
        )
        page.tap("#games button:has-text('Leduc')")
        assert page.input_value("#game") == "leduc"
        assert page.inner_text("#what").startswith("2 players, about 2 minutes. ")
        page.fill("#name", "Ann")
        page.tap("#now")
        page.wait_for_selector("#seats li:has-text('Ann (you)')")
        page.wait_for_selector("#seats li:has-text('Zoo')")
        assert page.inner_text("#title") == "Kuhn poker"


def test_a_table_is_opened_with_options_and_the_usual_number_of_seats(lobby):
    with lobby("cournot") as visit:
        page = visit(**DESK)
        page.wait_for_selector("#enter:visible")
        assert page.inner_text("#usual") == "Play now Cournot competition, 2 players, about 1 minute"
        assert page.inner_text("#what").startswith("2 to ")
        enter(page, "Ann")
        page.wait_for_selector("#new [type=submit]:enabled")
        page.locator("details:has(#options)").evaluate("one => (one.open = true)")
        assert page.get_attribute("#options [name=rounds]", "placeholder") == "1"
        page.fill("#options [name=rounds]", "3")
        page.click("#new [type=submit]")
        page.wait_for_selector("#board:has-text('round 1 of 3')")
        assert page.locator("#seats li").count() == 2
        page.click("#lobby")
        page.wait_for_selector("#tables li:has-text('Rounds: 3')")


@pytest.mark.smoke
def test_two_people_meet_at_a_table_by_its_link(lobby):
    with lobby("bargaining", "--access-token", "open sesame") as visit:
        ann, bob = visit(**DESK), visit(key=False, **PHONE)
        bob.wait_for_selector("#status:has-text('key')")
        assert bob.is_hidden("#enter")  # without the key there is no name
        enter(ann, "Ann")
        opened(ann, "bargaining", "", hidden=True)
        link = ann.input_value("#invite input")
        bob.reload()
        bob.wait_for_selector("#tables:has-text('No table is open')")  # it is not listed
        bob.goto(link)
        bob.tap("#sit button")
        enter(bob, "Ann")
        bob.wait_for_selector("#notice:has-text('called Ann')")
        named_by_chromium(bob, 409)
        enter(bob, "Bob")
        bob.wait_for_selector("#sit button:has-text('Bob')")
        assert bob.evaluate("document.documentElement.scrollWidth <= innerWidth")
        bob.tap("#sit button")
        for page in (ann, bob):
            page.wait_for_selector("#seats li:has-text('Ann') ~ li:has-text('Bob')")
        acting = next(page for page in (ann, bob) if page.query_selector(MINE))
        move(acting, "pass")
        bob.reload()  # the seat is kept
        bob.wait_for_selector("#seats li:has-text('Bob (you')")


def test_an_answer_from_before_there_was_a_name_does_not_take_the_name_away(lobby):
    held = []

    def hold_the_first(route):
        held.append((route, route.fetch())) if not held else route.continue_()

    with lobby("kuhn") as visit:
        page = visit(ready=lambda page: page.route("**/lobby", hold_the_first), **DESK)
        enter(page, "Ann")
        page.wait_for_selector("#you:has-text('Ann')")
        (first, answer), *_ = held
        assert answer.json()["you"] is None
        with page.expect_response("**/lobby"):
            first.fulfill(response=answer)
        opened(page, "kuhn", "zoo:kuhn")
        page.wait_for_selector("#seats li:has-text('Ann (you)')")


@pytest.mark.parametrize("lost", ["sit", "seated"])
def test_who_opens_a_table_sits_there_though_the_connection_is_lost_meanwhile(lobby, lost):
    handle, asked = cut_off_once(lost)
    with lobby("kuhn") as visit:
        page = visit(ready=lambda page: page.route_web_socket("**/ws", handle), **DESK)
        enter(page, "Ann")
        page.wait_for_selector("#you:has-text('Ann')")
        opened(page, "kuhn", "zoo:kuhn")
        assert len(asked) == 2
        page.click("#stand")
        page.wait_for_selector("#sit:visible")  # nobody is seated against his will
        assert len(asked) == 2


@pytest.mark.parametrize("size", SIZES)
def test_a_lobby_of_all_games_fits(lobby, size):
    with lobby() as visit:
        page = visit(**SIZES[size])
        page.wait_for_selector("#enter:visible")
        assert page.locator("#game option").count() > 20
        assert flaws(page) == []


def test_what_the_server_refuses_is_said(lobby):
    with lobby("holdem") as visit:
        page = visit(**DESK)
        enter(page, "Ann")
        page.wait_for_selector("#new [type=submit]:enabled")
        page.select_option("#all", "tight")
        page.locator("details:has(#opponents)").evaluate("one => (one.open = true)")
        assert {select.input_value() for select in page.locator("#opponents select").all()} == {"tight"}
        assert "Win chips" in page.inner_text("#what")
        page.fill("#count", "16")
        page.click("#new [type=submit]")
        page.wait_for_selector("#notice:has-text('seats')")
        named_by_chromium(page, 400)
