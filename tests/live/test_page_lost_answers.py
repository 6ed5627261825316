"""Answers that come late, twice or never, in a real browser: the page shows the present, and no wish is lost."""

import json

import pytest
from live.test_lobby_page import enter, opened
from live.test_table_page import DESK
from tables import MINE, cut_off_once, sit

pytestmark = pytest.mark.slow

TWICE = "form => { form.requestSubmit(); form.requestSubmit(); }"


def broken(route):
    """Answer as a proxy whose server is away for a moment."""
    route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>")


def lost_once(page, url):
    """Let a call reach the server, once, and lose the answer; return the list that gets it."""
    lost = []

    def lose(route):
        lost.append(route.fetch())
        route.abort()

    page.route(url, lose, times=1)
    return lost


# What a page asks for as it begins.


def test_the_next_table_is_asked_for_again(lobby):
    asked = []

    def break_the_second(route):
        asked.append(route.request.url)
        broken(route) if len(asked) == 2 else route.continue_()

    with lobby("kuhn") as visit:
        page = visit(**DESK)
        enter(page, "Ann")
        page.wait_for_selector("#you:has-text('Ann')")
        opened(page, "kuhn", "zoo:kuhn")
        before = page.evaluate("location.pathname")
        page.route("**/lobby", break_the_second)
        page.evaluate("location.assign(document.querySelector('#next').href)")
        page.wait_for_url(lambda url: "/tables/" in url and before not in url)
        page.wait_for_selector("#seats li:has-text('Ann (you)')")
        assert len(asked) > 2
        page.complaints.clear()  # Chromium's own, of the answer


@pytest.mark.parametrize(
    ("args", "url", "there"),
    [
        (["kuhn"], "**/facts.json", "#title:text('Kuhn')"),
        (["kuhn"], "**/games/kuhn.js", "#title:text('Kuhn')"),
        (["kuhn"], "**/games/two_hands.js", "#title:text('Kuhn')"),
        (["--lobby", "kuhn"], "**/facts.json", "#enter:visible"),
    ],
)
def test_what_a_page_begins_with_is_asked_for_again(table, args, url, there):
    with table(*args) as visit:
        page = visit(lambda page: page.route(url, broken), **DESK)
        page.wait_for_selector("#status:text('cannot be reached')")
        page.unroute(url)
        page.wait_for_selector(there, timeout=10_000)
        assert page.locator("#status:text('cannot be reached')").count() == 0
        page.complaints.clear()  # Chromium's own, of the answer


def test_nothing_can_be_done_in_a_seat_before_its_state_is_there(table):
    held, slow = [], []

    def keep_back(socket):
        server = socket.connect_to_server()
        server.on_message(lambda message: held.append((socket, message)) if slow else socket.send(message))

    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit(lambda page: page.route_web_socket("**/ws", keep_back), name="Ann", turn=True, **DESK)
        kept = json.dumps(page.evaluate("sessionStorage.getItem('parlour.seat')"))
        visit(lambda other: other.add_init_script(f"sessionStorage.setItem('parlour.seat', {kept})"), **DESK)
        page.wait_for_selector("#status:text('another window')")
        slow.append(True)
        page.click("#again")
        while not held:
            page.wait_for_timeout(50)
        assert page.locator(MINE).count() == 0
        page.keyboard.press("1")
        slow.clear()
        for socket, message in held:
            socket.send(message)
        page.wait_for_selector(MINE)


# Sitting down.


@pytest.mark.parametrize(("kind", "reloads"), [("sit", False), ("seated", False), ("seated", True)])
def test_who_was_cut_off_while_sitting_down_has_the_seat(table, kind, reloads):
    handle, sent = cut_off_once(kind)
    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit(lambda page: page.route_web_socket("**/ws", handle), **DESK)
        page.fill("#name", "Ann")
        page.evaluate("document.querySelector('#sit').requestSubmit()")
        while not sent:
            page.wait_for_timeout(10)
        if reloads:
            page.reload()
        page.wait_for_selector("#seats li:has-text('Ann (you')")
        page.wait_for_selector(MINE)


def test_who_gets_no_seat_when_the_connection_is_back_looks_on(table):
    handle, sent = cut_off_once("sit")
    with table("bargaining", "--agents", "human", "human") as visit:
        for name in ("Ann", "Bob"):
            visit(name=name, **DESK)
        eve = visit(lambda page: page.route_web_socket("**/ws", handle), **DESK)
        eve.wait_for_selector("#status:text('is to act')")
        eve.evaluate("document.querySelector('#name').value = 'Eve'; document.querySelector('#sit').requestSubmit()")
        eve.wait_for_selector("#notice:text('no seat is free')")
        assert len(sent) == 2
        eve.wait_for_selector("#status:text('is to act')")
        assert eve.is_hidden("#stand")


def test_who_asks_twice_for_a_seat_gets_one(table):
    with table("kuhn", "--agents", "human", "human") as visit:
        page = visit(**DESK)
        page.fill("#name", "Ann")
        page.locator("#sit").evaluate(TWICE)
        page.wait_for_selector("#stand:visible")
        page.wait_for_timeout(500)  # in which the second answer comes
        assert page.locator("#seats li:has-text('Ann')").count() == 1
        assert page.locator("#seats li:has-text('free')").count() == 1
        assert page.inner_text("#notice") == ""


def test_who_leaves_in_one_tab_takes_no_seat_from_another(table):
    with table("kuhn", "--agents", "human", "human") as visit:
        ann = visit(**DESK)
        bob = ann.context.new_page()
        bob.goto(ann.url)
        sit(ann, "Ann")
        sit(bob, "Bob")
        ann.click("#stand")
        ann.wait_for_selector("#stand", state="hidden")
        again = ann.context.new_page()
        bob.close()
        again.goto(ann.url)
        again.click("#again:text('Back to my seat')", timeout=10_000)
        again.wait_for_selector("#stand:visible")


def test_who_clicks_twice_before_there_is_a_name_opens_one_table(lobby):
    held, asked = [], []
    with lobby("kuhn") as visit:
        page = visit(lambda page: page.route("**/people", lambda route: held.append(route)), **DESK)
        page.on("request", lambda request: asked.append(request) if request.method == "POST" else None)
        page.wait_for_selector("#enter:visible")
        page.fill("#name", "Ann")
        page.click("#now")
        page.click("#now")
        [first] = held
        first.continue_()
        page.wait_for_selector("#seats li:has-text('Ann (you)')")
        assert [request.url.rpartition("/")[2] for request in asked] == ["people", "tables"]


def test_a_name_whose_answer_was_lost_is_given_to_who_asked_for_it(lobby):
    with lobby("kuhn") as visit:
        page = visit(**DESK)
        lost = lost_once(page, "**/people")
        enter(page, "Ann")
        page.wait_for_selector("#status:text('cannot be reached')")
        assert lost[0].status == 201
        enter(page, "Ann")
        page.wait_for_selector("#you:has-text('Ann')", timeout=10_000)
        page.complaints.clear()  # Chromium's own, of the lost answer


# A connection that comes back.


def test_a_piece_in_the_hand_stays_there_while_the_connection_comes_back(table):
    lines = []

    def handle(socket):
        lines.append((socket, socket.connect_to_server()))

    with table("tangram", "--agents", "human", "human", "--options", 'figure="A cat"') as visit:
        ann = visit(lambda page: page.route_web_socket("**/ws", handle), name="Ann", **DESK)
        visit(name="Bob", **DESK)
        ann.wait_for_selector(MINE)
        ann.keyboard.press("1")
        ann.keyboard.press("ArrowLeft")
        put = ann.locator("#controls button:has-text('Put it here')")
        assert put.is_visible()
        before = ann.text_content("#board .word")
        for line in lines[-1]:
            line.close(code=3001)
        ann.wait_for_selector("#status:text('Connecting')")
        ann.wait_for_selector(MINE)
        assert put.is_visible()
        assert ann.text_content("#board .word") == before


# What was said.


def test_words_that_were_lost_on_the_way_are_in_the_box_again(table):
    handle, lost = cut_off_once("say")
    with table("bargaining", "--agents", "human", "fair", "--seed", "4") as visit:
        page = visit(lambda page: page.route_web_socket("**/ws", handle), name="Ann", turn=True, **DESK)
        page.fill("#text", "half for each?")
        page.press("#text", "Enter")
        while not lost:
            page.wait_for_timeout(50)
        page.wait_for_selector(MINE)
        assert page.input_value("#text") == "half for each?"
        page.press("#text", "Enter")
        page.wait_for_selector("#messages li:has-text('half for each?')")
