"""What people do at `parlour table`, in a real browser; whole matches are in test_table_matches.py."""

import asyncio
import json
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread

import drawn_nim
import nim
import numpy as np
import pytest
import rock_paper_scissors
import simultaneous
from browser import until
from layout import SIZES, flaws
from parlour import envs
from parlour.envs import Action, AgentResponse, Renderer, new_table, with_required_fields
from parlour.wrappers.live.table.host import TableHost
from tables import DRAWN, MINE, OVER, WITHIN, move, passed, shown, sit, turn_of

pytestmark = pytest.mark.slow


# Fields, keys and clocks.


def test_a_value_out_of_bounds_is_not_sent_and_the_keyboard_plays(table):
    with table("bargaining", "--agents", "human", "fair", "--seed", "4") as visit:
        page = visit()
        page.keyboard.press("Tab")
        page.fill("#name", "Ann")
        page.keyboard.press("Enter")
        page.wait_for_selector(MINE)
        assert page.evaluate("document.activeElement.closest('#controls') !== null")
        page.fill("form.wide input[type=number]", "101")
        page.keyboard.press("Enter")
        assert page.locator("form.wide input:invalid").count() == 1
        page.fill("form.wide input[type=number]", "2")
        page.locator("form.wide input[type=range]").focus()
        page.keyboard.press("ArrowRight")
        assert page.input_value("form.wide input[type=number]") == "3"
        page.keyboard.press("1")
        page.wait_for_selector("#board .history li:has-text('wants 3')")


def test_a_person_who_thinks_too_long_is_passed_over(table):
    with table("bargaining", "--agents", "human", "fair", "--timeout", "1", "--options", "rounds=2") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector("#clock:visible")
        page.wait_for_selector("#notice:text('time was up')")
        page.wait_for_selector("#board .history li:has-text('You passed')")
        page.wait_for_selector(OVER)


def test_a_hand_is_folded_for_a_person_who_thinks_too_long(table):
    with table("holdem", "--agents", "call", "--timeout", "2", "--seed", "1") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        until(page, "document.title === `● Your turn: Hold'em`")
        page.wait_for_selector("#notice:text('time was up')")
        page.click("button:text-is('Sit in')")  # after two such turns
        move(page, "call")
        page.wait_for_selector("#notice:not(:text('time was up'))", state="attached")


def test_what_is_not_sent_stays_in_the_box(table):
    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        for number in range(11):
            page.fill("#text", f"word {number}")
            page.press("#text", "Enter")
        page.wait_for_selector("#notice:text('10 messages')")
        assert page.input_value("#text") == "word 10"
        assert page.locator("#messages li").count() == 10


def test_what_is_said_out_of_sight_is_shown_beside_the_controls(table):
    phone = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
    with table("tangram", "--agents", "human", "human", "--options", 'figure="A cat"') as visit:
        ann, bob = visit(**phone), visit()
        sit(ann, "Ann")
        sit(bob, "B" * 32)
        ann.wait_for_selector(MINE)
        bob.fill("#text", "the <u>tail</u> goes right")
        bob.press("#text", "Enter")
        ann.tap("#latest:has-text('the <u>tail</u> goes right')")
        ann.wait_for_selector("#latest", state="hidden")
        assert bob.locator("#latest:visible").count() == 0
        for page in (ann, bob):
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate(
                "document.querySelector('aside').scrollWidth <= document.querySelector('aside').clientWidth"
            )


# Coming back.


def test_a_page_loaded_anew_has_its_seat_and_its_turn(table):
    with table("auction", "--agents", "human", "truthful", "--seed", "2") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        worth = page.inner_text("#board dd >> nth=0")
        page.reload()
        page.wait_for_selector(MINE)
        assert page.inner_text("#board dd >> nth=0") == worth
        assert "Ann (you)" in page.inner_text("#seats")
        move(page, "submit_bid", bid=worth)
        page.wait_for_selector(OVER)


@pytest.mark.parametrize(
    ("game", "socket", "action"), [("bargaining", "**/ws", "pass"), ("holdem", "**/v1/ws*", "fold")]
)
def test_a_lost_connection_comes_back_by_itself(table, game, socket, action):
    lines, down = [], False

    def cut(page):
        def handle(line):
            if down:
                line.close(code=3001)
            else:
                lines.append((line, line.connect_to_server()))

        page.route_web_socket(socket, handle)

    bot = "fair" if game == "bargaining" else "call"
    with table(game, "--agents", bot, "--seed", "1") as visit:
        page = visit(cut)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        before = shown(page)
        here, there = lines[-1]
        down = True
        there.close(code=3001)
        here.close(code=3001)
        page.wait_for_selector("#status:text('Connecting')")
        down = False
        page.wait_for_selector(MINE)
        assert shown(page) == before
        move(page, action)
        assert page.inner_text("#notice") == ""


@pytest.mark.parametrize(("game", "bot", "action"), [("bargaining", "fair", "pass"), ("holdem", "call", "fold")])
def test_a_tab_that_was_closed_comes_back_by_a_button(table, game, bot, action):
    with table(game, "--agents", bot, "--seed", "1") as visit:
        page = visit()
        assert page.locator("#again:visible").count() == 0
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        before, address, browser = shown(page), page.url, page.context
        stranger = visit()
        page.close()
        page = browser.new_page()
        page.goto(address)
        page.click("#again:text('Back to my seat')")
        page.wait_for_selector(MINE)
        assert shown(page) == before
        assert stranger.locator("#again:visible").count() == 0
        move(page, action)
        page.click("#stand")
        page.wait_for_selector("#sit:visible")
        assert page.locator("#again:visible").count() == 0


def test_a_network_that_is_gone_is_noticed_at_once(table):
    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        page.context.set_offline(True)
        page.wait_for_selector("#status:text('Connecting')", timeout=4000)  # sooner than a ping would tell
        page.context.set_offline(False)
        page.wait_for_selector(MINE)
        page.complaints.clear()  # Chromium's own, of tries in between


@pytest.mark.parametrize(("game", "key"), [("bargaining", "parlour.seat"), ("holdem", "parlour.poker.seat")])
def test_a_seat_that_another_window_takes_can_be_taken_back(table, game, key):
    bot = "fair" if game == "bargaining" else "call"
    with table(game, "--agents", "human", bot, "--seed", "1") as visit:
        first = visit()
        sit(first, "Ann")
        first.wait_for_selector(MINE)
        token = json.dumps(first.evaluate(f"sessionStorage.getItem('{key}')"))
        second = visit(lambda page: page.add_init_script(f"sessionStorage.setItem('{key}', {token})"))
        second.wait_for_selector(MINE)
        first.wait_for_selector("#status:text('another window')")
        assert first.locator("#controls button").count() == 0
        first.click("#again")
        first.wait_for_selector(MINE)
        second.wait_for_selector("#status:text('another window')")


# A game without a page of its own.


def obliging(state):
    """Return the first thing that is allowed, with the first value of each field that it needs."""
    offer = state.allowed_actions[0]
    fields = offer.payload_schema["properties"]
    payload = {name: fields[name]["enum"][0] for name in offer.payload_schema["required"]}
    return AgentResponse(Action(offer.action_type, payload or {"type": "general"}))


class Obliging:
    respond = staticmethod(obliging)


@contextmanager
def served(game, players):
    """Serve a table from this process; yield its address."""
    loop, url, over = asyncio.new_event_loop(), Future(), asyncio.Event()

    async def serve():
        async with TableHost(game, players, seed=1) as host:
            url.set_result(host.url)
            await over.wait()

    serving = asyncio.run_coroutine_threadsafe(serve(), loop)
    Thread(target=loop.run_forever, daemon=True).start()
    try:
        yield url.result(60)
    finally:
        loop.call_soon_threadsafe(over.set)
        serving.result(20)
        loop.call_soon_threadsafe(loop.stop)


def test_any_turn_state_game_can_be_played(browser):
    with served(envs.game("three_cards"), [None, None]) as url:
        pages = [browser.new_context().new_page() for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.goto(url)
            sit(page, name)
        while not pages[0].query_selector(OVER):
            for page in pages:
                page.wait_for_selector(f"{MINE}, {OVER}, body:not(.mine)")
                button = page.query_selector(MINE)
                if button is not None:
                    turn = turn_of(page)
                    button.click()
                    passed(page, turn)
        for page in pages:
            page.wait_for_selector(f"{OVER}")
            assert page.locator(".outcome tr").count() == 3


def test_a_game_of_ones_own_shows_roles_what_others_did_and_the_last_board(browser):
    with served(nim.game(), [("bot", Obliging()), None]) as url:
        ann, eve = browser.new_context().new_page(), browser.new_context().new_page()
        ann.goto(url)
        sit(ann, "Ann")
        ann.wait_for_selector(MINE)
        assert ann.inner_text("#seats li.turn").strip() == "Ann (you, second)"
        eve.goto(url)
        eve.wait_for_selector("#status:text-is('Ann is to act.')")
        assert eve.inner_text("#board .facts dd") == "20"
        for heap in (18, 16, 14, 12, 10, 8, 6, 4, 2):
            turn = turn_of(ann)
            ann.click(MINE)
            passed(ann, turn)
            ann.wait_for_selector(MINE)
            assert ann.inner_text("#board .facts dd") == f"{heap} before: {heap + 1}"
        ann.click("button:text('Take 2')")
        ann.wait_for_selector(OVER)
        assert ann.inner_text("#board .facts dd") == "0 before: 2"
        assert ann.locator(".outcome th").all_inner_texts()[:2] == ["Player", "Points"]
        ann.click("#again")
        ann.wait_for_selector("#title:text-is('Nim, match 2')")


def test_what_nobody_has_chosen_is_not_on_the_board_and_what_is_hidden_is_said_in_words(browser):
    hidden = {"choice": lambda table, seat: [False, seat == 0]}
    with served(rock_paper_scissors.game(hidden), [None, ("bot", Obliging())]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert page.locator("#board dd").count() == 0
        page.click(MINE)
        page.wait_for_selector(OVER)
        assert page.inner_text("#board dd") == "0, not known"
        watcher = browser.new_context().new_page()
        watcher.goto(url)
        watcher.wait_for_selector("p.big:text('The match is over.')")
    with served(rock_paper_scissors.game(()), [("bot", Obliging()), None]) as url:
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert page.inner_text("#board dd") == "0, none"


@pytest.mark.parametrize("size", SIZES)
def test_a_picture_of_ones_own_stands_for_the_fields_which_are_folded(browser, size):
    with served(simultaneous.game(), [("bot", Obliging()), None]) as url:
        page = browser.new_context(**SIZES[size], color_scheme="dark").new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        words = page.locator(f"{DRAWN} text")
        assert words.all_text_contents() == ["", "0", "", "0"]  # nobody sees what the first has chosen
        assert page.inner_text("#board").split() == ["0", "0", "All", "fields"]
        colours = words.first.evaluate("one => getComputedStyle(one).fill")
        assert colours == "rgb(236, 231, 218)"
        page.click("#board summary")
        turn = turn_of(page)
        page.click("button:text('Paper')")
        passed(page, turn)
        page.wait_for_selector(MINE)
        assert words.all_text_contents() == ["rock", "0", "paper", "1"]
        facts = page.locator("#board dl").inner_text().splitlines()  # it stays open
        assert facts == ["Choice", "not known, none", "Last", "0, 1", "Won", "0, 1", "Played", "1"]
        assert flaws(page) == []
        for _ in range(4):
            turn = turn_of(page)
            page.click("button:text('Rock')")
            passed(page, turn)
            page.wait_for_selector(f"{MINE}, {OVER}")
        assert page.locator(".outcome td").all_inner_texts() == ["−1", "+1"]
        assert flaws(page) == []


def fails(states):
    raise KeyError("no such field")


OWN = {
    "my_card": 3,
    "statements": 4,
    "totals": 5,
    "phase": 6,
    "turns_left": 7,
    "num_cards": 8,
    "x": 9,
    "inv": 10,
    "exp": 11,
    "rounds": 12,
    "past_rounds": (13, 14),
    "action_history": (15, 16),
    "last_round": False,
}


@pytest.mark.parametrize("picture", [None, lambda states: "<svg xmlns='http://www.w3.org/2000/svg'/>", fails])
def test_a_game_of_ones_own_shows_each_of_its_fields_whatever_its_name(browser, picture):
    simple = nim.game()
    fields = [(name, "i4", np.shape(value)) if value else (name, "?") for name, value in OWN.items()]
    rules = replace(simple.rules, blank=new_table(with_required_fields(2, ("heap", "i4"), *fields), **OWN))
    renderer = None if picture is None else Renderer(simple.renderer.text, picture)
    with served(replace(simple, rules=rules, view=None, renderer=renderer), [("bot", Obliging()), None]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        drawn = picture not in (None, fails)
        assert page.locator("#board summary").count() == drawn
        if drawn:
            assert page.inner_text("#board summary") == "All fields (changed: heap)"
            page.click("#board summary")
        names, values = page.locator("#board dt").all_inner_texts(), page.locator("#board dd").all_inner_texts()
        said = dict(zip(names, values, strict=True))
        assert said == {
            "Your card": "3",
            "Heap": "20 before: 21",
            "Statements": "4",
            "Totals": "5",
            "Phase": "6",
            "Turns left": "7",
            "Num cards": "8",
            "X": "9",
            "Inv": "10",
            "Exp": "11",
            "Rounds": "12",
            "Past rounds": "13, 14",
            "Action history": "15, 16",
            "Last round": "no",
        }


def test_the_picture_of_a_game_of_ones_own_has_the_names_of_players(browser):
    with served(drawn_nim.game(), [("bot", Obliging()), None]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert page.locator(f"{DRAWN} text").all_text_contents() == ["bot", "Ann moves", "20 left"]


@pytest.mark.parametrize(("names", "key"), [(("say_0", "say_1", "say_2"), "1"), (("none", "raise_1", "raise_9"), "2")])
def test_the_digit_in_the_label_of_a_button_presses_it_if_each_has_its_own(names, key, browser):
    with served(nim.game(names), [None, ("bot", Obliging())]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        pressed = page.locator(f"[data-action={names[1]}]")
        assert pressed.get_attribute("data-key") == key
        turn = turn_of(page)
        page.keyboard.press(key)
        passed(page, turn)
        page.wait_for_selector(MINE)
        assert page.inner_text("#board dd").split()[0] == str(21 - 2 - 1)  # the second choice; the bot plays the first


class Zero:
    def respond(self, state):
        return AgentResponse(Action("report_value", {"report": 0}))


def test_a_fact_that_happens_to_equal_what_was_won_stays_on_the_board(browser):
    with served(envs.game("public_project"), [("zero", Zero()), None]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        page.fill("input[type=number]", "0")
        page.click(MINE)
        page.wait_for_selector(OVER)
        assert page.locator(".outcome td").all_inner_texts() == ["0", "0"]
        assert "Reports" in page.locator("#board dt").all_inner_texts()


def test_words_and_choices_are_asked_for_by_the_schemas(browser):
    village = replace(envs.game("mafia", seats=5), name="village")
    with served(village, [None, *[("obliging", Obliging())] * 4]) as url:
        page = browser.new_context().new_page()
        page.goto(url)
        sit(page, "Ann")
        while page.wait_for_selector(f"{MINE}, {OVER}", timeout=WITHIN).evaluate("node => node.matches('button')"):
            turn, form = turn_of(page), page.locator("form.move").first
            if form.locator("[data-action=say]").count():
                form.locator("label:has-text('text') input").fill("I am a villager, and I suspect nobody yet.")
            else:
                for choice in form.locator("fieldset").all():
                    choice.locator("label").last.click()
            form.locator("button[type=submit]").click()
            passed(page, turn)
            assert page.inner_text("#notice") == ""
        assert page.locator(".outcome tr").count() == 6


# Who may sit down.


def test_a_locked_table_is_opened_by_its_link(table):
    with table("bargaining", "--agents", "fair", "--access-token", "sesame & co") as visit:
        stranger = visit(key=False)
        stranger.fill("#name", "Eve")
        stranger.click("#sit button")
        stranger.wait_for_selector("#notice:text('key')")
        sit(visit(), "Ann")
