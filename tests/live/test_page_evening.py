"""An evening at the table in a real browser: rematches, leaving and coming back, sitting out, what one takes home."""

import json

import pytest
from layout import flaws
from live.test_lobby_page import enter, opened
from live.test_table_page import DESK, PHONE, complaints
from tables import MINE, OVER, move, sit

pytestmark = pytest.mark.slow


def played(page):
    """Pass until the match is over."""
    while True:
        page.wait_for_selector(f"{MINE}, {OVER}")
        if "over" in page.inner_text("#status"):
            return
        move(page, "pass")


def loaded(page, link):
    """Return the text that a link of the page leads to."""
    answer = page.request.get(page.locator(link).evaluate("one => one.href"))
    assert answer.status == 200
    return answer.text()


def test_a_match_is_taken_home_and_followed_by_a_rematch_by_keyboard(table):
    with table("kuhn", "--agents", "human", "zoo:kuhn", "--seed", "2") as visit:
        page = visit(name="Ann", **DESK)
        assert page.is_hidden("#files")
        page.wait_for_selector("#seconds:text-is('10 min')")  # against programs nobody waits
        played(page)
        assert complaints(page) == "" and flaws(page) == []
        lines = [json.loads(line) for line in loaded(page, "#files a:has-text('Log')").splitlines()]
        assert lines[0]["kind"] == "match" and lines[-1]["kind"] == "end"
        assert any("probabilities" in line for line in lines)
        with page.context.expect_page() as opening:
            page.click("#files a:has-text('Replay')")
        replay = opening.value
        replay.wait_for_selector("text=Kuhn")
        assert replay.evaluate("origin") == "null"  # a sandbox
        for size in (DESK, PHONE):
            replay.set_viewport_size(size["viewport"])
            assert replay.evaluate("document.documentElement.scrollWidth <= innerWidth")
        replay.close()
        page.keyboard.press("r")
        page.wait_for_selector("#status:not(:has-text('is over'))")
        assert page.is_hidden("#files")
        played(page)


def test_who_leaves_watches_and_sits_down_again_after_the_match(table):
    with table("bargaining", "--agents", "human", "fair", "--seed", "4") as visit:
        page = visit(name="Ann", turn=True, **PHONE)
        page.click("#stand")
        page.wait_for_selector("#stand", state="hidden")
        page.wait_for_selector(OVER)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        assert complaints(page) == ""


def test_the_clock_shows_the_time_bank_when_it_is_used(table):
    with table("bargaining", "--agents", "human", "fair", "--timeout", "6", "--time-bank", "60") as visit:
        page = visit(name="Ann", **DESK)
        page.wait_for_selector("#seconds:text-matches('^[0-6] s \\\\+ 60 s')")
        page.wait_for_selector("#seconds:text-matches('^time bank: (60|59|58) s$')")
        assert complaints(page) == ""
        page.reload()
        page.wait_for_selector("#seconds:has-text('time bank')")
        move(page, "pass")


def test_at_a_poker_table_one_sits_out_and_in_takes_hands_home_and_sees_the_replay_at_its_end(table):
    with table("holdem", "--agents", "call", "tight", "--hands", "4", "--seed", "1", "--time-bank", "30") as visit:
        page = visit(name="Ann", **PHONE)
        page.wait_for_selector("#seconds:has-text('+ 30 s')")
        page.wait_for_selector(MINE)
        page.click("#out")
        page.wait_for_selector("#out:has-text('Sit in')")
        assert page.get_attribute("#out", "aria-pressed") == "true"
        page.wait_for_selector("#status:has-text('You sit out')")
        page.wait_for_selector("#files a:has-text('PHH')")
        assert complaints(page) == "" and flaws(page) == []
        page.click("#out")
        page.wait_for_selector("#out:has-text('Sit out')")
        while page.locator("#files a:has-text('Replay')").count() == 0:
            page.wait_for_selector(f"{MINE}, #files a:has-text('Replay')")
            if page.query_selector(MINE):
                page.keyboard.press("1")
            page.wait_for_timeout(100)
        hands = loaded(page, "#files a:has-text('PHH')")
        assert hands.count("variant") == 4
        assert "Ann" in hands and "????" not in hands.split("[2]")[0]
        assert '"Call"' in loaded(page, "#files a:has-text('Replay')")
        assert complaints(page) == "" and flaws(page) == []
        page.click("#again")  # the next table
        page.wait_for_selector(MINE)


def test_from_a_lobby_one_goes_to_the_next_table_and_finds_the_replays_of_all_results(lobby):
    with lobby("kuhn") as visit:
        ann = visit(**DESK)
        enter(ann, "Ann")
        opened(ann, "kuhn", "zoo:kuhn")
        first = ann.url
        eve = visit(**PHONE)
        eve.wait_for_selector("#tables a:has-text('Watch')")
        eve.click("#tables a")
        eve.wait_for_selector("#watchers:has-text('1 watching')")
        played(ann)
        assert complaints(ann) == ""
        ann.keyboard.press("n")  # no table of kuhn has a free seat: a new one with the same player
        ann.wait_for_url(lambda url: "/tables/" in url and url.partition("?")[0] != first.partition("?")[0])
        ann.wait_for_selector("#seats li:has-text('Ann') , #seats li:has-text('Zoo')")
        ann.wait_for_selector("#stand:visible")
        eve.click("#lobby")
        eve.wait_for_selector("#results a:has-text('Replay')")
        assert '"Ann"' in loaded(eve, "#results a:has-text('Replay')")
        assert loaded(eve, "#results a:has-text('Log')").startswith('{"kind":"match"')
        assert complaints(eve) == ""
        ann.click("#stand")  # her seat is free: the next table is that one
        ann.wait_for_selector("#stand", state="hidden")


def test_a_page_that_was_left_keeps_no_seat_and_has_it_again_on_the_way_back(table):
    with table("kuhn", "--agents", "human", "human") as visit:
        ann, eve = visit(name="Ann", **DESK), visit(**DESK)
        ann.evaluate("window.same = true")
        ann.evaluate("location.assign('about:blank')")
        eve.wait_for_selector("#seats li:has-text('away')")
        ann.evaluate("history.back()")
        ann.wait_for_selector("#seats li:has-text('Ann (you)')")
        eve.wait_for_selector("#seats li:has-text('Ann'):not(:has-text('away'))")
        assert ann.evaluate("window.same")  # the browser had kept the page


def test_who_opened_a_table_closes_it(lobby):
    with lobby("holdem", "--hands", "9") as visit:
        ann, eve = visit(**DESK), visit(**DESK)
        enter(ann, "Ann")
        opened(ann, "holdem", "call", seats=2)
        move(ann, "fold")
        eve.click("#tables a")
        eve.wait_for_selector("#watchers:has-text('1 watching')")
        other = ann.context.new_page()
        other.goto(ann.url.partition("tables/")[0])
        assert complaints(other) == ""
        other.click("#tables button:text('Close')")
        other.wait_for_selector("#tables li:has-text('No table is open')")
        assert '"Ann"' in loaded(other, "#results a:has-text('Replay')")
        ann.wait_for_selector(f"{OVER}, #status:has-text('has been closed')")  # the table told her before
        eve.wait_for_selector("#status:has-text('has been closed')")
        ann.complaints.clear()  # Chromium's own, of a table that is gone


def test_a_turn_that_was_answered_cannot_be_answered_again(table):
    held = []

    def slow(socket):
        """Once the action was taken, keep back what follows."""
        server, answered = socket.connect_to_server(), []

        def to_page(message):
            if json.loads(message)["type"] == "result":
                answered.append(message)
            if answered and json.loads(message)["type"] == "state":
                held.append((socket, message))
            else:
                socket.send(message)

        server.on_message(to_page)

    with table("kuhn", "--agents", "human", "random", "--seed", "2") as visit:
        page = visit(ready=lambda page: page.route_web_socket("**", slow), name="Ann", turn=True, **DESK)
        page.click(MINE)
        while not held:
            page.wait_for_timeout(50)
        assert page.locator(MINE).count() == 0
        assert page.locator("body.mine #controls button").count() > 0
        for socket, message in held:
            socket.send(message)
        page.wait_for_selector(f"{MINE}, body:not(.mine)")
