"""The type of mafia's `game_state`, which simulated and live matches build and `load` reads."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from ..core.game_state import GameState, about


class Player(Struct, kw_only=True, rename="camel", frozen=True):
    """A player."""

    id: str
    name: Annotated[str, about("here the id")]
    role: Annotated[str | None, about("mafia, doctor, sheriff or villager; else unknown to the seat")] = "unknown"
    alive: bool = True
    eliminated_round: int | None = None


class Alive(Struct, kw_only=True, rename="camel", frozen=True):
    """A living player."""

    id: str
    name: str


class Dead(Struct, kw_only=True, rename="camel", frozen=True):
    """A dead player."""

    id: str
    name: str
    role: str | UnsetType | None = UNSET
    eliminated_round: int | None = None


class NightResult(Struct, kw_only=True, rename="camel", frozen=True):
    """Last night's result."""

    killed: Annotated[str | None, about("who died")] = None
    protected: Annotated[str | None, about("whom the observer, a doctor, saved")] = None
    prevented: Annotated[bool, about("whether a doctor saved the mafia's target")] = False


class VotingRound(Struct, kw_only=True, rename="camel", frozen=True):
    """One vote: who was eliminated, and who voted for whom; who abstained is not in ``votes``."""

    round: int
    eliminated: str | None = None
    votes: Annotated[dict[str, str | None], about("from voter to target")] = {}


class Statement(Struct, kw_only=True, rename="camel", frozen=True):
    """What was said, as an act (see `parlour.envs.mafia.statements`); one without a type is read from its content."""

    player_id: str
    round: Annotated[int, about("the day's number")]
    type: Annotated[str | None, about("defense, accusation, claim or general")] = None
    target_id: str | None = None
    role: Annotated[str | None, about("of a claim")] = None
    is_mafia: Annotated[bool | None, about("the result of a claimed sheriff")] = None
    content: Annotated[str, about("a standard sentence; the original text is in the messages")] = ""


class Investigation(Struct, kw_only=True, rename="camel", frozen=True):
    """A sheriff's result."""

    target: Player
    is_mafia: bool
    round: int


class Knowledge(Struct, kw_only=True, rename="camel"):
    """What a role knows."""

    investigation_results: Annotated[list[Investigation], about("the sheriff's")] = []
    mafia_teammates: Annotated[list[Player] | UnsetType | None, about("the mafia's")] = UNSET
    last_protected: Annotated[str | UnsetType | None, about("the doctor's last choice, by id")] = UNSET


class MafiaState(GameState, kw_only=True, rename="camel"):
    """A match as a seat sees it.

    It holds the fields of `PublicInfo`, `GameState` and `PrivateInfo` of mafia-ai-benchmark's agent interface together,
    each once, and ``statements``, ``nightActions`` and ``ownVote``. An observer does not see the private ones. After
    the end of the match all roles are shown.
    """

    game_id: Annotated[str, about("the game's id; the match's is TurnState's match_id")] = "mafia-v0"
    phase: Annotated[str, about("NIGHT_ACTIONS, DAY_DISCUSSION, DAY_VOTING or END")]
    day_number: int = 0
    round_number: Annotated[int, about("from 1")]
    players: Annotated[list[Player], about("in seat order")]
    alive_players: list[Alive] = field(default_factory=list)
    dead_players: list[Dead] = field(default_factory=list)
    mafia_count: Annotated[int, about("living mafia")]
    town_count: Annotated[int, about("living others")] = 0
    winner: Annotated[str | None, about("town or mafia")] = None
    last_night_result: NightResult | None = None
    voting_history: Annotated[list[VotingRound], about("of past days")]
    own: Annotated[Player | UnsetType | None, about("the observer")] = field(default=UNSET, name="self")
    private_knowledge: Annotated[Knowledge | UnsetType, about("what the observer's role knows")] = UNSET
    statements: Annotated[list[Statement], about("of the match so far")]
    night_actions: Annotated[
        dict[str, str] | UnsetType, about("tonight's choices by id, as far as known: the own, and the mafia's to mafia")
    ] = UNSET
    own_vote: Annotated[str | UnsetType | None, about("the own vote while the votes are sealed")] = UNSET
