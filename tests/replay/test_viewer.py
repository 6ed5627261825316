"""Replays in a real browser: what people see and press."""

import threading
import time

import pytest
from browser import until
from logs import played
from parlour import envs
from parlour.wrappers.logs.match_log import MatchLog, Recorder
from parlour.wrappers.replay.log_reader import in_words, moments, picture
from parlour.wrappers.replay.page import MatchPages, PageServer, page, rounded

pytestmark = pytest.mark.slow

LARGE = {"width": 1600, "height": 1400}
"""Pixels at which no text of a picture is made larger: the pictures are those of the renderers."""


def listened(tab, complaints):
    """Note what the console of a tab complains of; return the tab."""
    tab.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    return tab


@pytest.fixture
def visit(browser):
    """Open a page from disk without a network; at the end its console must have been silent."""
    complaints, contexts = [], []

    def opened(file, *, first=True):
        """`first`: go on to the first match where the page opens on the overview."""
        contexts.append(browser.new_context(offline=True, viewport=LARGE))
        tab = listened(contexts[-1].new_page(), complaints)
        tab.goto(file.as_uri())
        tab.wait_for_selector("#stage svg, #matches button")
        if first and tab.is_visible("#overview"):
            tab.click("#matches tr:first-child button")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def written(tmp_path, game, **options):
    played(tmp_path / "log", game, **options)
    told = list(moments(tmp_path / "log"))
    file = tmp_path / "page.html"
    file.write_text(page(told, "a match"), "utf-8")
    return told, file


def shown(tab):
    return tab.inner_html("#stage")


def drawn(tab, states):
    """A picture as the browser writes it."""
    return tab.evaluate(
        "text => { const e = document.createElement('div'); e.innerHTML = text; return e.innerHTML; }", picture(states)
    )


@pytest.mark.parametrize("game_id", ["holdem", "mafia", "tangram", "bargaining"])
def test_every_moment_of_every_view(visit, tmp_path, game_id):
    """The pictures of all games are in their pages: see test_page.py."""
    told, file = written(tmp_path, envs.game(game_id), matches=2)
    tab = visit(file)
    views = list(told[0].views)
    for number, view in enumerate(views[:4]):
        tab.keyboard.press("Home")
        tab.keyboard.press(str(number))
        for i, moment in enumerate(told[:40]):
            assert shown(tab) == drawn(tab, moment.views[view]), (view, i)
            who = tab.inner_text("#who")
            if moment.agent is None:
                assert who == "The end"
            elif view in ("all", moment.agent):
                action = in_words(rounded(moment.action), moment.states[moment.agent])
                assert who == f"{moment.agent}: {action}"
            else:
                assert who == "Another decides"
            tab.keyboard.press("ArrowRight")
    tab.keyboard.press("End")
    assert shown(tab) == drawn(tab, told[-1].views[views[min(3, len(views) - 1)]])
    tab.keyboard.press("PageUp")
    tab.keyboard.press("PageUp")
    tab.keyboard.press("0")
    assert shown(tab) == drawn(tab, told[0].views["all"])
    tab.select_option("#match", "1")
    second = next(moment for moment in told if moment.match == 1)
    assert shown(tab) == drawn(tab, second.views["all"])


def test_many_matches_open_on_an_overview(visit, tmp_path):
    told, file = written(tmp_path, envs.game("holdem", seats=2), matches=5)
    tab = visit(file, first=False)
    assert not tab.is_visible("#stage")
    assert tab.locator("#matches tr").count() == 5
    assert tab.locator("#chart polyline").count() == 2
    ends = [moment for moment in told if moment.agent is None]
    sums = {"player_0": 0, "player_1": 0}
    for moment in ends:
        for row in moment.states["player_0"].outcome["payoffs"]:
            sums[row["agent_id"]] += row["utility"]
    legend = tab.inner_text("#legend").replace("−", "-").replace("+", "").replace(",", "").split()
    assert tab.inner_text("#sums").startswith("What each player has won, in chips, summed up")
    assert dict(zip(legend[::2], map(float, legend[1::2]), strict=True)) == sums
    tab.click("#matches tr:nth-child(3) button")
    third = next(moment for moment in told if moment.match == 2)
    assert shown(tab) == drawn(tab, third.views["all"])
    assert not tab.is_visible("#overview")
    tab.keyboard.press("Escape")
    assert tab.is_visible("#overview")
    tab.click("#matches tr:first-child button")
    tab.click("#all")
    assert tab.is_visible("#overview")


def test_each_match_shows_its_own_unit_and_different_units_have_no_sum(visit, tmp_path):
    log, file = tmp_path / "log", tmp_path / "page.html"
    for name in ("kuhn", "cournot"):
        played(log, envs.game(name))
    for html in (page(moments(log), "two games"), MatchPages(log, "two games").contents()):
        file.write_text(html, "utf-8")
        tab = visit(file, first=False)
        won = tab.locator("#matches td:nth-child(2)").all_inner_texts()
        assert [one.rpartition(" ")[2] for one in won] == ["chips", "points"]
        assert tab.inner_text("#sums") == "" and not tab.is_visible("#chart")


@pytest.mark.smoke
def test_it_plays_and_pauses(visit, tmp_path):
    told, file = written(tmp_path, envs.game("holdem", seats=2), matches=8)
    tab = visit(file)
    tab.select_option("#speed", "30")
    tab.locator("body").click(position={"x": 2, "y": 2})
    tab.keyboard.press(" ")
    until(tab, "document.getElementById('slider').value >= 5")
    tab.keyboard.press(" ")
    at = tab.input_value("#slider")
    time.sleep(0.3)
    assert tab.input_value("#slider") == at
    tab.click("#play")
    until(tab, "document.getElementById('slider').value === document.getElementById('slider').max")
    until(tab, "document.getElementById('play').textContent === 'Play'")
    assert int(tab.input_value("#slider")) == len(told) - 1


def test_the_chosen_answer_is_among_the_likeliest(visit, tmp_path):
    env = envs.make("bargaining")
    with MatchLog(tmp_path / "log") as log:
        recorder = Recorder(log, env, 1)
        chances = {f"submit_offer {share}": 0.05 + share / 1000 for share in range(1, 19)} | {"submit_offer 50": 0.001}
        answer = {"action_type": "submit_offer", "payload": {"my_share": 50.0}}
        assert recorder.submit("player_0", answer, {"probabilities": chances}).ok
    (tmp_path / "page.html").write_text(page(moments(tmp_path / "log"), "t"), "utf-8")
    tab = visit(tmp_path / "page.html")
    rows = tab.locator("#chances tr")
    assert rows.count() == 13
    assert tab.inner_text("#chances tr.chosen").startswith("submit_offer 50")
    assert tab.inner_text("#chances tr:last-child").startswith("7 others")


def test_thoughts_are_for_their_own_and_for_all(visit, tmp_path):
    env = envs.make("bargaining")
    with MatchLog(tmp_path / "log") as log:
        recorder = Recorder(log, env, 1)
        told = {"think": "He <b>bluffs</b>.", "value": 1.25, "probabilities": {"pass": 0.25, "submit_offer 50": 0.75}}
        response = {"action_type": "submit_offer", "payload": {"my_share": 50.0}}
        assert recorder.submit(
            "player_0", {"action": response, "messages": [{"scope": "public", "content": "half?"}]}, told
        ).ok
    (tmp_path / "page.html").write_text(page(moments(tmp_path / "log"), "t"), "utf-8")
    tab = visit(tmp_path / "page.html")
    assert tab.inner_text("#think") == "He <b>bluffs</b>."
    assert tab.inner_text("#value") == "expects +1.25"
    assert tab.inner_text("#said") == "half?"
    assert tab.inner_text("#chances tr.chosen").split("\t")[0] == "submit_offer 50"
    assert "75.0 %" in tab.inner_text("#chances tr.chosen")
    tab.keyboard.press("2")
    assert tab.inner_text("#decision").strip() == "Another decides"
    tab.keyboard.press("ArrowRight")
    assert tab.inner_text("#messages") == "player_0half?"
    tab.click("nav button[data-view=player_0]")
    tab.keyboard.press("ArrowLeft")
    assert tab.inner_text("#think") == "He <b>bluffs</b>."


def test_a_match_of_a_long_log_is_drawn_when_it_is_opened(browser, tmp_path, monkeypatch):
    played(tmp_path / "log", envs.game("holdem", seats=2), matches=5)
    each = [[moment for moment in moments(tmp_path / "log") if moment.match == number] for number in range(5)]
    opened, pages, complaints = [], MatchPages(tmp_path / "log", "long"), []
    draw = pages.match
    monkeypatch.setattr(pages, "match", lambda number: opened.append(number) or draw(number))
    with PageServer(pages) as server, browser.new_context(viewport=LARGE) as context:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        tab = listened(context.new_page(), complaints)
        tab.goto(server.url)
        assert tab.locator("#matches tr").count() == 5
        assert tab.locator("#chart polyline").count() == 2
        assert opened == []
        tab.click("#matches tr:nth-child(3) button")
        tab.wait_for_selector("#stage svg")
        assert shown(tab) == drawn(tab, each[2][0].views["all"])
        assert opened == [2]
        tab.keyboard.press("PageDown")
        tab.wait_for_url(f"{server.url}3")
        assert shown(tab) == drawn(tab, each[3][0].views["all"])
        tab.keyboard.press("Escape")
        tab.wait_for_url(server.url)
        tab.click("#matches tr:first-child button")
        tab.wait_for_selector("#stage svg")
        tab.keyboard.press("PageUp")
        tab.click("#all")
        tab.wait_for_url(server.url)
        assert opened == [2, 3, 0]
        server.shutdown()
    assert complaints == []
