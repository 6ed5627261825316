"""What people do at `parlour table` in a real browser, also with low vision or without a mouse."""

import json
import re
from dataclasses import replace

import nim
import numpy as np
import pytest
import rock_paper_scissors
from axe_playwright_python.sync_playwright import Axe
from browser import until
from layout import SIZES, flaws
from live.event_loops import in_a_thread
from live.table_people import Program
from parlour import envs
from parlour.envs import Action, AgentResponse, Renderer, new_table, with_required_fields
from parlour.wrappers.live.table.host import TableHost
from tables import DRAWN, MINE, OVER, WITHIN, move, passed, shown, sit, turn_of

pytestmark = pytest.mark.slow

TABLES = {
    "holdem": ["holdem", "--agents", "tight", "call", "maniac", "--seed", "1"],
    "holdem-9": ["holdem", "--agents", *["call"] * 8, "--seats", "9", "--seed", "1"],
    "mafia": ["mafia", "--agents", *["mixed"] * 6, "--seed", "3"],
    "tangram": ["tangram", "--agents", "solver", "human", "--options", 'figure="A cat"'],
    "bargaining": ["bargaining", "--agents", "human", "fair", "--seed", "4"],
    "kuhn": ["kuhn", "--agents", "human", "honest", "--seed", "2"],
    "cournot": ["cournot", "--agents", "human", "equilibrium", "--seed", "2"],
}
DESK = SIZES["desk"]
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def complaints(page):
    """Return what axe-core finds in light and in dark colours, as lines: colours, rule, place and message."""
    lines = []
    for scheme in ("light", "dark"):
        # Without motion: a colour in the middle of a transition is none that stays.
        page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
        for rule in Axe().run(page).response["violations"]:
            for node in rule["nodes"]:
                said = node["failureSummary"].splitlines()[1].strip()
                lines.append(f"{scheme}: {rule['id']}: {node['target']}: {said}")
    return "\n".join(lines)


def arranged(page):
    """Return where board and controls are, all in one moment of the visitor's turn."""
    seen = None
    while seen is None:
        page.wait_for_selector(MINE)
        seen = page.evaluate(
            """(mine) => document.querySelector(mine) && {
                board: document.querySelector("#board").getBoundingClientRect().toJSON(),
                move: document.querySelector("#move").getBoundingClientRect().toJSON(),
                height: innerHeight, needed: document.documentElement.scrollHeight,
            }""",
            MINE,
        )
    return seen


@pytest.mark.parametrize("name", TABLES)
def test_axe_finds_nothing_in_a_match_and_the_controls_never_cover_the_board(table, name):
    with table(*TABLES[name], "--timeout", "2") as visit:
        page = visit(**DESK)
        page.wait_for_selector("#sit:visible")
        assert complaints(page) == ""
        sit(page, "Ann")
        seen = arranged(page)
        assert seen["board"]["bottom"] <= seen["move"]["top"] + 0.5
        assert seen["move"]["bottom"] <= DESK["viewport"]["height"] + 0.5
        assert seen["needed"] <= seen["height"]
        assert seen["board"]["height"] >= 190
        assert complaints(page) == ""
        if not name.startswith("holdem"):  # a poker table goes on
            page.wait_for_selector(OVER)
            assert complaints(page) == ""


LUMINANCE = """
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
    .getContext("2d", {willReadFrequently: true});
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (...colours) => {
    const [low, high] = colours.map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
"""
"""The WCAG contrast ratio of two colours."""


def contrast(page, front, back):
    """Return the contrast ratio of two colours of the page, by the names of their CSS variables."""
    return page.evaluate(
        f"""([front, back]) => {{ {LUMINANCE}
            const coloured = (name) => {{
                const probe = document.body.appendChild(document.createElement("i"));
                probe.style.color = `var(${{name}})`;
                return getComputedStyle(probe).color;
            }};
            return contrast(coloured(front), coloured(back));
        }}""",
        [front, back],
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_edges_of_controls_and_marks_stand_out(table, scheme):
    with table(*TABLES["kuhn"]) as visit:
        page = visit(color_scheme=scheme)
        for ground in ("--ground", "--panel"):
            assert contrast(page, "--ink", ground) >= 7
            assert contrast(page, "--soft", ground) >= 4.5
            assert contrast(page, "--mark", ground) >= 4.5
            assert contrast(page, "--edge", ground) >= 3  # WCAG 2.2, 1.4.11: what can be operated


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


def test_a_hand_is_folded_for_a_person_who_thinks_too_long(table):
    with table("holdem", "--agents", "call", "--timeout", "2", "--seed", "1") as visit:
        page = visit(name="Ann", turn=True)
        until(page, "document.title === `● Your turn: Hold'em`")
        page.wait_for_selector("#notice:text('time was up')")
        page.click("button:text-is('Sit in')")  # after two such turns
        move(page, "call")
        page.wait_for_selector("#notice:not(:text('time was up'))", state="attached")


def test_what_is_not_sent_stays_in_the_box(table):
    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit(name="Ann", turn=True)
        for number in range(11):
            page.fill("#text", f"word {number}")
            page.press("#text", "Enter")
        page.wait_for_selector("#notice:text('10 messages')")
        assert page.input_value("#text") == "word 10"
        assert page.locator("#messages li").count() == 10


# Coming back.


def test_a_lost_connection_comes_back_by_itself(table):
    lines, down = [], False

    def cut(page):
        def handle(line):
            if down:
                line.close(code=3001)
            else:
                lines.append((line, line.connect_to_server()))

        page.route_web_socket("**/ws", handle)

    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit(cut, name="Ann", turn=True)
        before = shown(page)
        here, there = lines[-1]
        down = True
        there.close(code=3001)
        here.close(code=3001)
        page.wait_for_selector("#status:text('Connecting')")
        down = False
        page.wait_for_selector(MINE)
        assert shown(page) == before
        move(page, "fold")
        assert page.inner_text("#notice") == ""


def test_a_tab_that_was_closed_comes_back_by_a_button(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
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
        move(page, "fold")
        page.click("#stand")
        page.wait_for_selector("#sit:visible")
        assert page.locator("#again:visible").count() == 0


def test_a_network_that_is_gone_is_noticed_at_once(table):
    with table("bargaining", "--agents", "human", "fair") as visit:
        page = visit(name="Ann", turn=True)
        page.context.set_offline(True)
        page.wait_for_selector("#status:text('Connecting')", timeout=4000)  # sooner than a ping would tell
        page.context.set_offline(False)
        page.wait_for_selector(MINE)
        page.complaints.clear()  # Chromium's own, of tries in between


def test_a_seat_that_another_window_takes_can_be_taken_back(table):
    with table("bargaining", "--agents", "human", "fair") as visit:
        first = visit(name="Ann", turn=True)
        token = json.dumps(first.evaluate("sessionStorage.getItem('parlour.seat')"))
        second = visit(lambda page: page.add_init_script(f"sessionStorage.setItem('parlour.seat', {token})"))
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


def seated(browser, url, **options):
    """Open the page of a table, sit down, and wait for the own turn."""
    page = browser.new_context(**options).new_page()
    page.goto(url)
    sit(page, "Ann")
    page.wait_for_selector(f"{MINE}, {OVER}")
    return page


BOT = "bot", Program(obliging)


def hosted(game, *players):
    """Host a table from this process; by default a program has the first seat, and a person may take the second."""
    return in_a_thread(TableHost(game, players or [BOT, None], seed=1))


def test_a_game_of_ones_own_shows_roles_what_others_did_and_the_last_board(browser):
    with hosted(nim.game()) as host:
        ann, eve = seated(browser, host.url), browser.new_context().new_page()
        assert ann.inner_text("#seats li.turn").strip() == "Ann (you, second)"
        eve.goto(host.url)
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


@pytest.mark.parametrize("size", SIZES)
def test_a_picture_of_ones_own_stands_for_the_fields_which_are_folded(browser, size):
    def picture(states):
        texts = (f'<text x="80" y="{40 * i}">{one}</text>' for i, one in enumerate(states[0].game_state["choice"], 1))
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120" role="img">{"".join(texts)}</svg>'

    game = replace(rock_paper_scissors.game(), renderer=Renderer(picture=picture))
    with hosted(game) as host:
        page = seated(browser, host.url, **SIZES[size], color_scheme="dark")
        words = page.locator(f"{DRAWN} text")
        assert words.all_text_contents() == ["None", "-1"]  # nobody sees what the first has chosen
        assert page.inner_text("#board").split() == ["None", "-1", "All", "fields"]
        colours = words.first.evaluate("one => getComputedStyle(one).fill")
        assert colours == "rgb(236, 231, 218)"
        page.click("#board summary")
        assert page.locator("#board dl").inner_text().splitlines() == ["Choice", "not known, none"]
        assert flaws(page) == []
        page.click("button:text('Paper')")
        page.wait_for_selector(OVER)
        assert words.all_text_contents() == ["0", "1"]
        assert page.locator("#board dl").inner_text().splitlines() == ["Choice", "0, 1"]  # it stays open
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
    renderer = Renderer() if picture is None else Renderer(picture=picture)
    with hosted(replace(simple, rules=rules, view=None, renderer=renderer)) as host:
        page = seated(browser, host.url)
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


@pytest.mark.parametrize(("names", "key"), [(("say_0", "say_1", "say_2"), "1"), (("none", "raise_1", "raise_9"), "2")])
def test_the_digit_in_the_label_of_a_button_presses_it_if_each_has_its_own(names, key, browser):
    with hosted(nim.game(names), None, BOT) as host:
        page = seated(browser, host.url)
        pressed = page.locator(f"[data-action={names[1]}]")
        assert pressed.get_attribute("data-key") == key
        turn = turn_of(page)
        page.keyboard.press(key)
        passed(page, turn)
        page.wait_for_selector(MINE)
        assert page.inner_text("#board dd").split()[0] == str(21 - 2 - 1)  # the second choice; the bot plays the first


def test_a_fact_that_happens_to_equal_what_was_won_stays_on_the_board(browser):
    zero = Program(lambda state: AgentResponse(Action("report_value", {"report": 0})))
    with hosted(envs.game("public_project"), ("zero", zero), None) as host:
        page = seated(browser, host.url)
        page.fill("input[type=number]", "0")
        page.click(MINE)
        page.wait_for_selector(OVER)
        assert page.locator(".outcome td").all_inner_texts() == ["0", "0"]
        assert "Reports" in page.locator("#board dt").all_inner_texts()


def test_words_and_choices_are_asked_for_by_the_schemas(browser):
    village = replace(envs.game("mafia", seats=5), name="village")
    with hosted(village, None, *[BOT] * 4) as host:
        page = seated(browser, host.url)
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


def test_holdem_of_two_people_by_touch_on_a_telephone(table):
    with table("holdem", "--agents", "human", "human", "--seed", "3") as visit:
        pages = [visit(**PHONE) for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.fill("#name", name)
            page.tap("#sit button")
        for page in pages:
            page.wait_for_selector(DRAWN)
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


def test_hands_are_counted_and_the_one_before_can_be_read_in_the_next_and_at_the_end(table):
    with table("holdem", "--agents", "call", "--seed", "1", "--hands", "2") as visit:
        page = visit(name="Ann")
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


def test_the_keys_of_the_amounts_fill_the_field_and_a_bet_is_no_raise(table):
    with table("holdem", "--agents", "call", "--seed", "1") as visit:
        page = visit(name="Ann", turn=True)
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
        page = visit(name="Ann")
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


DRAWN_TABLES = {
    "kuhn": ["kuhn", "--agents", "human", "honest", "--seed", "2"],
    "liars_dice": ["liars_dice", "--agents", "human", "careful", "--seed", "2"],
    "bargaining": ["bargaining", "--agents", "human", "fair", "--seed", "4"],
    "auction": ["auction", "--agents", "human", "shade", "--seed", "2"],
}


@pytest.mark.parametrize("name", ["kuhn", "auction"])
def test_the_server_draws_the_table_with_peoples_names(table, name):
    with table(*DRAWN_TABLES[name], "--timeout", "1") as visit:
        eve, page = visit(), visit(name="Ann <b>", turn=True, **PHONE)
        page.wait_for_selector(DRAWN, state="attached")  # a phone shows words where they would be too small
        page.wait_for_selector(OVER)
        words = page.text_content(DRAWN)
        assert "player_" not in words
        assert "Ann <b>" in words
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        eve.wait_for_selector(DRAWN)
        assert "Ann <b>" in eve.text_content(DRAWN)


AT_NIGHT = [pytest.param(name, marks=pytest.mark.nightly) for name in (*DRAWN_TABLES, "leduc")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["holdem", *AT_NIGHT])
def test_words_in_the_picture_stand_out(table, name, scheme):
    args = DRAWN_TABLES.get(name, [name, "--agents", "call", "--seed", "2"])
    with table(*args) as visit:
        look = {"color_scheme": scheme, "reduced_motion": "reduce", "viewport": {"width": 1280, "height": 1200}}
        page = visit(name="Ann", turn=True, **look)
        page.wait_for_selector(DRAWN)
        weak = page.locator(DRAWN).evaluate(CONTRASTS)
        assert [(words, ratio) for words, ratio in weak if ratio < 4.4] == []  # what WCAG asks for, rounded


CONTRASTS = f"""
picture => {{ {LUMINANCE}
  const fill = (node) => getComputedStyle(node).fill;
  return [...picture.querySelectorAll("text")].filter((text) => text.checkVisibility()).map((text) => {{
    const box = text.getBoundingClientRect();
    const under = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
      .find((node) => node.tagName !== "text" && picture.contains(node) && node !== picture && fill(node) !== "none");
    return [text.textContent, contrast(fill(text), fill(under))];
  }});
}}
"""
"""The words of a picture and the WCAG contrast ratio of each with the shape under it."""


def test_a_person_divides_a_pie(table):
    options = ("seats=3", "max_rounds=1", "reservations=[0, 0]")
    with table("ultimatum", "--agents", "human", "equilibrium", "equilibrium", "--options", *options) as visit:
        page = visit(name="Ann", turn=True)
        form = page.locator("form.move:has([data-action=submit_offer])")
        assert form.locator("label").first.text_content().startswith("You")
        begun = [float(field.input_value()) for field in form.locator("input[type=number]").all()]
        assert sum(begun) == 100 and max(begun) - min(begun) <= 2  # a division that can be played as it is
        form.locator("input[type=number]").first.fill("50")
        assert sum(float(field.input_value()) for field in form.locator("input[type=number]").all()) == 100
        form.locator("[data-action=submit_offer]").click()
        page.wait_for_selector(OVER)
        assert "+50" in page.text_content("body")


COUNTED = """
window.tones = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (at) { window.tones.push(this.frequency.value); start.call(this, at); };
"""


def test_there_is_no_sound_until_it_is_turned_on(table):
    with table("bargaining", "--agents", "human", "fair", "--options", "rounds=3", "--seed", "4") as visit:
        page = visit(lambda page: page.add_init_script(COUNTED), name="Ann")
        move(page, "pass")
        page.wait_for_selector(MINE)
        assert page.evaluate("tones") == []
        assert page.get_attribute("#sound", "aria-pressed") == "false"
        page.click("#sound")
        assert page.get_attribute("#sound", "aria-pressed") == "true"
        assert page.evaluate("tones.length") == 1
        move(page, "pass")
        page.wait_for_selector(MINE)
        assert page.evaluate("tones.slice(1)") == [660, 880]
        page.reload()  # the choice is kept
        page.wait_for_selector(MINE)
        assert page.get_attribute("#sound", "aria-pressed") == "true"
        while page.query_selector(MINE):
            move(page, "pass")
            page.wait_for_selector(f"{MINE}, {OVER}")
        assert page.evaluate("tones.slice(-3)") == [660, 550, 440]
        page.click("#sound")
        assert page.get_attribute("#sound", "aria-pressed") == "false"


def test_the_last_seconds_of_a_turn_and_messages_are_heard(table):
    with table("bargaining", "--agents", "human", "human", "--timeout", "12") as visit:
        pages = [visit(lambda page: page.add_init_script(COUNTED)) for _ in range(2)]
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            page.click("#sound")
            sit(page, name)
        ann, bob = pages
        ann.wait_for_selector(MINE)
        bob.fill("#text", "well?")
        bob.press("#text", "Enter")
        until(ann, "tones.at(-1) === 520")
        until(ann, "tones.slice(-2).join() === '440,440'")
        assert 440 not in bob.evaluate("tones")
