"""The rules in words of every game with every set of options: nothing unexplained, no number that contradicts them."""

import re
from itertools import islice
from numbers import Real
from pathlib import Path

import pytest
from cases import CASES, SMALL
from parlour import envs
from parlour.envs import Game, find, how_to_play
from parlour.envs.testing import Trial, check

TEMPLATES = Path(envs.__file__).parent / "how_to_play"
SUITE = [case for case in CASES if case.values[0][0].partition("-")[0] not in SMALL]
PAGE = 3_500
"""The most characters of a page."""
FOR_LEARNERS = {
    *("bids", "offers", "quantities", "reports", "amounts", "splits", "returns", "premiums", "transfers", "times"),
    *("investments", "prices", "scores", "low_wages", "high_wages", "pot_fractions", "highest_bid", "split", "hidden"),
    *("modality", "aspect", "images", "flip", "figure", "button", "board", "ranges", "preferences"),
}
"""Options that say which actions have an index, what is observed, or what a deal is drawn from."""


def numbers(text):
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text))


def values(part):
    """Return all numbers in an option, as people write them."""
    if isinstance(part, dict):
        return set().union(*map(values, part.values()))
    if isinstance(part, list | tuple):
        return set().union(*map(values, part))
    return {f"{abs(part):.10g}"} if isinstance(part, Real) and not isinstance(part, bool) else set()


def derived(game):
    """Return the numbers that follow from the options."""
    options, found = game.options, [game.seats, game.seats - 1, game.payoffs.high, game.payoffs.unit]
    found += [2 * options.get("dice", 0), options.get("max_rounds", 1) - 1]
    found += [options[name] / over for name in ("total", "cost") if name in options for over in (2, game.seats)]
    return values(found)


@pytest.mark.parametrize("case", SUITE)
def test_rules_fit_a_page_and_their_numbers_are_those_of_the_options(case):
    game_id, options = case
    game = find(game_id)(**options)
    text = how_to_play(game)
    assert 500 < len(text) <= PAGE
    template = (TEMPLATES / f"{game.name}.md").read_text() + (TEMPLATES / "phases.md").read_text()
    fixed = numbers(re.sub(r"\{[{%].*?[%}]\}", " ", template)) | numbers("".join(re.findall(r'"[^"]*"', template)))
    words = text.partition("## Fields")[0]
    assert numbers(words) <= values(game.options) | derived(game) | fixed
    for name, value in game.options.items():
        if name not in FOR_LEARNERS:
            assert values(value) - {"0", "1"} <= numbers(words), name


@pytest.mark.parametrize("case", SUITE)
def test_every_field_and_action_is_explained(case):
    game_id, options = case
    game = find(game_id)(**options)
    words, _, fields = how_to_play(game).partition("## Fields")
    explained = set(re.findall(r"`([^`]+)`", fields))
    assert all(line.startswith("- `") and line.count("- `") == 1 for line in fields.splitlines()[1:] if line)
    for name, meaning in re.findall(r"^- `(\w+)`: *(.*)$", fields, re.MULTILINE):
        assert meaning, name
    seen = set()
    for seed in range(2):
        for table in islice(Trial("fields", game, 1).decisions(seed), 40):
            for seat in range(game.seats):
                seen |= set(game.turn_state(table, seat).game_state)
    assert seen <= explained
    named = set(re.findall(r"`([^`]+)`", words))
    for action, space in game.view.action_spaces.items():
        assert {action, *space.spaces} <= named


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("auction", {"rule": "second-price"}, {"rule": "all-pay"}),
        ("auction", {}, {"talk": True}),
        ("mafia", {}, {"tie": "none"}),
        ("tangram", {}, {"sparse": True}),
        ("holdem", {}, {"button": "dead", "hands": 3}),
    ],
)
def test_options_in_words_change_the_rules(name, one, other):
    assert how_to_play(envs.game(name, **one)) != how_to_play(envs.game(name, **other))


def test_every_game_of_the_suite_has_a_template_and_a_game_of_ones_own_may_bring_one():
    names = {game_id.partition("-")[0] for game_id, source in envs.GAMES.items() if isinstance(source, str)}
    assert names | {"phases"} == {path.stem for path in TEMPLATES.glob("*.md")}
    nim = find("nim-v0")()
    assert "2 players" in how_to_play(nim)
    parts = {name: getattr(nim, name) for name in Game.__dataclass_fields__}
    assert how_to_play(Game(**parts | {"how_to_play": "Take {{ seats }} stones."})).startswith("Take 2 stones.")
    wrong = Game(**parts | {"how_to_play": "Take {{ stones }}."})
    with pytest.raises(ValueError, match=r"how_to_play of nim-v0: 'stones' is undefined; it may name seats, "):
        check(wrong)
