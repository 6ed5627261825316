"""Trees walked exactly, through the capability `Chance`."""

from dataclasses import replace

import pytest
import three_cards
from parlour import envs
from parlour.envs.core import chance


def test_outcomes_may_have_different_probabilities():
    """A loaded draw of the first card: of the two others, the second seat's is drawn as always."""

    def probability(table, outcome):
        return (0.5, 0.3, 0.2)[outcome] if table.cards[0] < 0 else 0.5

    game = three_cards.game()
    loaded = replace(game.capabilities.chance, probability=probability)
    game = replace(game, capabilities=replace(game.capabilities, chance=loaded))
    dealt = {tuple(table.cards.tolist()): share for share, table in chance.starts(game)}
    assert dealt[0, 1] == dealt[0, 2] == pytest.approx(0.25)
    assert dealt[2, 0] == pytest.approx(0.1)


def test_what_cannot_be_enumerated_and_what_is_too_large_is_an_error():
    with pytest.raises(ValueError, match="holdem-v0 with these options does not list all that chance may deal"):
        chance.starts(envs.game("holdem"))
    with pytest.raises(ValueError, match="more than 5 records"):
        chance.starts(envs.game("three_cards"), most=5)
    with pytest.raises(ValueError, match="the tree has more than 20 records"):
        chance.expected_returns(envs.game("three_cards"), most=20)


# Mafia.


def test_a_tied_vote_eliminates_one_of_the_leaders():
    game = envs.game("mafia", seats=5, mafia=1, doctors=0, sheriffs=0, talk=False, max_days=1)
    table = next(t for _, t in chance.starts(game) if t.role[0] == 1)
    ((_, table),) = chance.after(game, table, 4)  # the mafia kill seat 4
    for target in (1, 0, 3):  # seats 0 and 1 vote for each other, seat 2 for seat 3
        ((_, table),) = chance.after(game, table, game.view.nearest(table, vote(game, table, target)))
    ends = chance.after(game, table, game.view.nearest(table, vote(game, table, 0)))
    assert [probability for probability, _ in ends] == [1]  # two for seat 0
    tied = chance.after(game, table, game.view.nearest(table, vote(game, table, 2)))
    assert len(tied) == 1  # one each: nobody goes
    assert not tied[0].table.voted_out.any()
    other = table.copy()
    other.votes[2] = 1  # seat 2 for seat 1
    pair = chance.after(game, other, game.view.nearest(table, vote(game, table, 0)))
    assert sorted(int(child.voted_out.argmax()) for _, child in pair) == [0, 1]
    assert [probability for probability, _ in pair] == [0.5, 0.5]


def vote(game, table, target):
    return game.view.parse(table, envs.Action("vote", {"targetId": f"p{target + 1}"}))
