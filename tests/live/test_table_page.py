"""Whole matches through the page, in a real browser: what people do at `parlour table`, and what the wire holds."""

import asyncio
import json
import re
import subprocess
import sys
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread

import pytest
from browser import chromium
from parlour import envs
from parlour.wrappers import record
from parlour.wrappers.live.table.host import Host

pytestmark = pytest.mark.slow

WITHIN = 90_000  # milliseconds that anything may take on a busy machine
MINE = "body.mine #controls button[data-key]:enabled"
OVER = "#status:text('over')"
BAD = ("error", "warning")


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def table(browser):
    """Serve a table, ``with table(game, …) as visit``; every ``visit()`` opens its page in a browser of its own.

    In the end nobody's console may hold a complaint, and the server must stop tidily.
    """

    @contextmanager
    def serve(*args, delay="0.05"):
        command = [sys.executable, "-m", "parlour.training.cli", "table", *args, "--port", "0", "--delay", delay]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        complaints, contexts = [], []
        try:
            line = server.stdout.readline()
            assert line, server.stderr.read()
            url = re.search(r"http://\S+", line)[0]

            def visit(ready=None, key=True, **options):
                contexts.append(browser.new_context(**options))
                page = contexts[-1].new_page()
                page.set_default_timeout(WITHIN)
                page.on("console", lambda said: complaints.append(said.text) if said.type in BAD else None)
                page.on("pageerror", lambda error: complaints.append(str(error)))
                page.traffic = []
                page.on("response", lambda reply: page.traffic.append(reply.url))
                page.on("websocket", lambda one: one.on("framereceived", lambda text: page.traffic.append(text)))
                if ready is not None:
                    ready(page)
                page.goto(url if key else url.partition("#")[0])
                return page

            yield visit
        finally:
            for context in contexts:
                context.close()
            server.terminate()
            _, errors = server.communicate(timeout=20)
        assert complaints == []
        assert server.returncode == 143  # SIGTERM
        assert "Traceback" not in errors

    return serve


def sit(page, name):
    page.fill("#name", name)
    page.click("#sit button")
    page.wait_for_selector("#stand:visible")


def move(page, action, **values):
    """Play an action of this turn, with exact values."""
    page.wait_for_selector(MINE)
    form = page.locator(f"form.move:has([data-action={action}])")
    for field, value in values.items():
        form.locator(f"label:has-text('{field.replace('_', ' ')}') input[type=number]").fill(str(value))
    form.locator(f"[data-action={action}]").click()


def passed(page, turn):
    """Wait until a turn is over: somebody else's, the same person's next one, or the end."""
    page.wait_for_selector(f"#controls:not([data-turn='{turn}'])", state="attached")


def turn_of(page):
    return page.get_attribute("#controls", "data-turn")


def frames(page, kind):
    found = [json.loads(one) for one in page.traffic if one.startswith("{")]
    return [message for message in found if message["type"] == kind]


# Bargaining.


def test_bargaining_is_played_to_the_end_and_again(table, tmp_path):
    with table("bargaining", "--agents", "human", "hardliner", "--seed", "4", "--log", f"{tmp_path}/log") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        page.fill("#text", "<b>fair?</b> <img src=x onerror=alert(1)>")
        page.press("#text", "Enter")
        page.wait_for_selector("#messages li:has-text('<b>fair?</b> <img src=x onerror=alert(1)>')")
        move(page, "submit_offer", my_share=71.5)
        page.wait_for_selector("#board .history li:has-text('71.5 wanted')")
        slider = page.locator("form.wide input[type=range]")
        page.wait_for_selector(MINE)
        slider.fill("40")
        assert page.input_value("form.wide input[type=number]") == "40"
        page.press("form.wide input[type=number]", "Enter")
        page.wait_for_selector("#board .history li:has-text('40 wanted')")
        while page.wait_for_selector(f"{MINE}, {OVER}").evaluate("node => node.matches('button')"):
            accept = page.query_selector("[data-action=accept]:enabled")
            turn = turn_of(page)
            (accept or page.query_selector("[data-action=pass]:enabled")).click()
            passed(page, turn)
        assert page.inner_text(".outcome h3") == "agreement"
        page.click("#again")
        page.wait_for_selector(MINE)
        assert page.locator("#messages li").count() == 0
        assert "No offer stands" in page.inner_text("#board")
    kinds = [entry["kind"] for entry in record.read(tmp_path / "log")]
    assert kinds.count("match") == 2
    assert "message" in kinds


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
        page.wait_for_selector("#board .history li:has-text('3 wanted')")


def test_a_person_who_thinks_too_long_is_passed_over(table):
    with table("bargaining", "--agents", "human", "fair", "--timeout", "1", "--options", "rounds=2") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector("#clock:visible")
        page.wait_for_selector("#board .history li:has-text('You: passed')")
        page.wait_for_selector(OVER)


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
    lines = []

    def cut(page):
        def handle(line):
            lines.append((line, line.connect_to_server()))

        page.route_web_socket(socket, handle)

    bot = "fair" if game == "bargaining" else "call"
    with table(game, "--agents", bot, "--seed", "1") as visit:
        page = visit(cut)
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        before = page.inner_text("#board")
        here, there = lines[-1]
        there.close(code=3001)
        here.close(code=3001)
        page.wait_for_selector("#status:text('Connecting')")
        page.wait_for_selector(MINE)
        assert page.inner_text("#board") == before
        move(page, action)
        page.wait_for_selector("body:not(.mine)")
        assert page.inner_text("#notice") == ""


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


def test_any_turn_state_game_can_be_played(browser):
    loop, url, over = asyncio.new_event_loop(), Future(), asyncio.Event()

    async def serve():
        async with Host(envs.game("kuhn"), [None, None], seed=1) as host:
            url.set_result(host.url)
            await over.wait()

    serving = asyncio.run_coroutine_threadsafe(serve(), loop)
    Thread(target=loop.run_forever, daemon=True).start()
    try:
        pages = [browser.new_context().new_page() for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.goto(url.result(20))
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
    finally:
        loop.call_soon_threadsafe(over.set)
        serving.result(20)
        loop.call_soon_threadsafe(loop.stop)


def test_mafia_is_played_by_what_its_schemas_ask_for(table):
    with table("mafia", "--agents", "human", *["loyal"] * 4, "--seed", "2") as visit:
        page = visit()
        sit(page, "Ann")
        while page.wait_for_selector(f"{MINE}, {OVER}").evaluate("node => node.matches('button')"):
            turn, form = turn_of(page), page.locator("form.move").first
            if form.locator("[data-action=say]").count():
                form.locator("label:has-text('text') input").fill("I am a villager, and I suspect nobody yet.")
            else:
                for select in form.locator("select").all():
                    select.select_option(index=select.locator("option").count() - 1)
            form.locator("button[type=submit]").click()
            passed(page, turn)
            assert page.inner_text("#notice") == ""
        assert page.locator(".outcome tr").count() == 6


# Several people, and what they may not know.


def test_an_auction_of_two_people_a_bot_and_one_who_looks_on(table, tmp_path):
    names = ("Ann", "<b>Bob</b>")
    with table("auction", "--agents", "human", "human", "shade", "--seed", "6", "--log", f"{tmp_path}/log") as visit:
        eve = visit()
        people = [visit() for _ in names]
        for page, name in zip(people, names, strict=True):
            sit(page, name)
        ann, bob = people
        bob.wait_for_selector("#seats li:has-text('<b>Bob</b> (you)')")
        ann.select_option("#reader", label="<b>Bob</b>")
        ann.fill("#text", "between us")
        ann.press("#text", "Enter")
        bob.wait_for_selector("#messages li.private:has-text('between us')")
        move(ann, "submit_bid", bid=11.125)
        move(bob, "submit_bid", bid=13.375)
        for page in (*people, eve):
            page.wait_for_selector(OVER)
            page.wait_for_selector(".outcome")
        values = [frames(page, "state")[0]["turn_state"]["game_state"]["my_valuation"] for page in people]
        secrets = {"Ann": [values[0], 11.125], "Bob": [values[1], 13.375]}
        for page, others in ((ann, ("Bob",)), (bob, ("Ann",)), (eve, ("Ann", "Bob"))):
            held = numbers([state["turn_state"]["game_state"] for state in frames(page, "state")])
            assert held
            for other in others:
                assert not held & set(secrets[other])
        assert "between us" not in str(eve.traffic)
        assert eve.locator("#say:visible, #controls button, #sit:visible").count() == 0
    bids = [entry["response"]["action"] for entry in record.read(tmp_path / "log") if entry["kind"] == "turn"]
    assert [bid["payload"]["bid"] for bid in bids][:2] == [11.125, 13.375]
    program = bids[2]["payload"]["bid"]
    for page in (*people, eve):
        assert program not in numbers([state["turn_state"]["game_state"] for state in frames(page, "state")])


def numbers(value):
    """Return every number in parsed JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(numbers, value))
    return {value} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()


def test_a_locked_table_is_opened_by_its_link(table):
    with table("bargaining", "--agents", "fair", "--access-token", "sesame & co") as visit:
        stranger = visit(key=False)
        stranger.fill("#name", "Eve")
        stranger.click("#sit button")
        stranger.wait_for_selector("#notice:text('key')")
        sit(visit(), "Ann")


# Hold'em, over the protocol of every poker agent.


def test_holdem_is_played_to_the_end_and_no_card_is_seen_too_soon(table, tmp_path):
    log = tmp_path / "log"
    args = ("holdem", "--agents", "call", "human", "tight", "--hands", "4", "--seed", "3", "--log", str(log))
    with table(*args, delay="0.02") as visit:
        eve, ann = visit(), visit()
        sit(ann, "Ann")
        move(ann, "call")
        moves = 0
        while ann.wait_for_selector(f"{MINE}, #status:text('over')").evaluate("node => node.matches('button')"):
            moves, turn = moves + 1, turn_of(ann)
            raises = ann.query_selector("[data-action=raiseTo]:enabled")
            if moves == 1 and raises:
                ann.click("text=least")
                raises.click()
            else:
                ann.keyboard.press("2")  # check or call
            passed(ann, turn)
        assert "The table has ended" in ann.inner_text("#board")
        assert moves > 3
        ann.click("#again")
        ann.wait_for_selector(MINE)
        eve.wait_for_selector("#status:not(:text('over'))")
    hands = {entry["hand"]: entry for entry in record.read(log) if entry["kind"] == "hand"}
    assert set(hands) == {1, 2, 3, 4}
    first = next(i for i, one in enumerate(ann.traffic) if '"ended"' in one)
    second = next(i for i, one in enumerate(eve.traffic) if '"ended"' in one)
    for page, seat, end in ((ann, 1, first), (eve, None, second)):
        hidden, dealt = set(), 0
        for text in [one for one in page.traffic[:end] if one.startswith("{")]:
            message = json.loads(text)
            hand = hands.get(message.get("hand"))
            if message["type"] == "game_state":
                dealt += 1
                hidden = {card for row in hand["players"] if row["seat"] != seat for card in row["cards"]}
                hidden |= set(hand["board"]) - set(message["board"])
                assert not hidden & set(re.findall(r'"([2-9TJQKA][shdc])"', text))
            elif message["type"] == "hand_complete":
                shown = {row["seat"] for row in hand["results"] if row.get("rank")}
                for row in message["results"]:
                    assert "cards" not in row or row["seat"] in shown | {seat}
        assert dealt > 8
    assert "api_key" not in str(eve.traffic)


def test_holdem_of_two_people_by_touch_on_a_telephone(table):
    phone = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
    with table("holdem", "--agents", "human", "human", "--seed", "3") as visit:
        pages = [visit(**phone) for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.fill("#name", name)
            page.tap("#sit button")
        for page in pages:
            page.wait_for_selector("#board .seat .card:not(.back)")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert all(button.bounding_box()["height"] >= 40 for button in page.query_selector_all("button:visible"))
        acting = next(page for page in pages if page.query_selector(MINE))
        acting.tap("[data-action=fold]")
        for page in pages:
            page.wait_for_selector(".won")
        shown = [page.locator("#board .seat .card:not(.back)").count() for page in pages]
        assert shown == [2, 2]  # each its own
        other = next(page for page in pages if page is not acting)
        acting.tap("#stand")
        acting.wait_for_selector("#sit:visible")
        other.wait_for_selector("#seats li:has-text('free')")


def test_a_holdem_page_loaded_anew_keeps_seat_and_cards(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit()
        sit(page, "Ann")
        page.wait_for_selector(MINE)
        before = page.inner_text("#board")
        page.reload()
        page.wait_for_selector(MINE)
        assert page.inner_text("#board") == before
        move(page, "fold")
        page.wait_for_selector(".won")
