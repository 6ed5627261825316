"""Sound at the browser table: off until a person turns it on."""

import pytest
from browser import until
from tables import MINE, OVER, move, sit

pytestmark = pytest.mark.slow

COUNTED = """
window.tones = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (at) { window.tones.push(this.frequency.value); start.call(this, at); };
"""


def test_there_is_no_sound_until_it_is_turned_on(table):
    with table("bargaining", "--agents", "human", "fair", "--options", "rounds=3", "--seed", "4") as visit:
        page = visit(lambda page: page.add_init_script(COUNTED))
        sit(page, "Ann")
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
