"""What mafia agents can tell from a context."""

import msgspec
from mafia_players import NAMES, context
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.analysis import GameAnalysis


def votes(round_number, eliminated=None, **cast):
    return wire.VotingRound(round=round_number, eliminated=eliminated, votes=cast)


def test_what_can_be_told_from_a_context():
    said = [
        wire.Statement(player_id="p2", round=1, type="accusation", content="I accuse Dan.", target_id="p4"),
        wire.Statement(player_id="p3", round=1, type="general", content="Hm."),
        wire.Statement(player_id="p2", round=1, type="claim", content="I am the doctor.", role="doctor"),
    ]
    state, private, _ = context(
        dead=(3,), voting_history=[votes(1, "Dan", Bob="Dan", Cat="p4", Ann="Bob")], statements=said
    )
    analysis = GameAnalysis("p1", state, private)
    (vote,) = analysis.get_voting_history("p2")
    assert msgspec.to_builtins(vote) == {"round": 1, "votedFor": "p4", "targetRole": "villager"}
    assert msgspec.to_builtins(analysis.get_voting_history("p1")[0]) == {"round": 1, "votedFor": "p2"}
    assert [one.voted_for for one in analysis.get_voting_history("p3")] == ["p4"]
    assert analysis.get_voting_history("p9") == []
    first, second = analysis.get_player_statements("p2")
    assert (first.type, first.target, first.content, second.type) == ("accusation", "p4", "I accuse Dan.", "claim")
    assert analysis.is_confirmed_town("p4") and analysis.is_confirmed_town("p1")
    assert not analysis.is_confirmed_town("p2") and not analysis.is_confirmed_mafia("p2")


def test_confirmation_is_by_role_result_and_team():
    state, private, _ = context(role="sheriff")
    players = state.players
    private.private_knowledge.investigation_results = [
        wire.Investigation(target=players[1], is_mafia=True, round=1),
        wire.Investigation(target=players[2], is_mafia=False, round=2),
    ]
    sheriff = GameAnalysis("p1", state, private)
    assert sheriff.is_confirmed_mafia("p2") and not sheriff.is_confirmed_town("p2")
    assert sheriff.is_confirmed_town("p3") and not sheriff.is_confirmed_mafia("p3")
    assert not sheriff.is_confirmed_town("p4") and not sheriff.is_confirmed_mafia("p4")
    assert not GameAnalysis("p1", state).is_confirmed_mafia("p2")
    state, private, _ = context(role="mafia")
    private.private_knowledge.mafia_teammates = [players[4]]
    mafia = GameAnalysis("p1", state, private)
    assert [mafia.is_confirmed_mafia(f"p{i}") for i in range(1, 6)] == [True, False, False, False, True]
    assert [mafia.is_confirmed_town(f"p{i}") for i in range(1, 6)] == [False, True, True, True, False]


def test_a_context_with_all_roles_tells_no_more_than_the_agent_may_know():
    state, private, _ = context()
    for i, role in enumerate(("villager", "mafia", "doctor", "sheriff", "villager")):
        state.players[i] = wire.Player(id=f"p{i + 1}", name=NAMES[i], role=role)
    for known in (private, None):
        analysis = GameAnalysis("p1", state, known)
        assert not any(analysis.is_confirmed_mafia(f"p{i}") for i in range(1, 6))
        assert [analysis.is_confirmed_town(f"p{i}") for i in range(1, 6)] == [True] + 4 * [False]


def test_suspicion_is_the_games_own_and_in_order():
    state, private, _ = context(
        statements=[
            wire.Statement(player_id=f"p{i}", round=1, type="accusation", content="I accuse Dan.", target_id="p4")
            for i in (1, 2, 3)
        ]
    )
    analysis = GameAnalysis("p1", state, private)
    points = analysis.suspicion()
    assert points["p4"] == max(points.values()) > 50
    everybody = analysis.get_suspicious_players(0)
    assert everybody[0] == "p4" and set(everybody) == {"p2", "p3", "p4", "p5"}  # living others
    assert analysis.get_suspicious_players(points["p4"]) == ["p4"]
    assert analysis.get_suspicious_players(101) == []


def test_what_is_remembered_of_private_information_is_no_context():
    state, private, _ = context("NIGHT_ACTIONS", role="sheriff")
    kept = private.kept()
    assert (kept.self, kept.private_knowledge) == (private.self, private.private_knowledge)
    assert kept.game_state.game_id == state.game_id and kept.game_state.players == [] != state.players
