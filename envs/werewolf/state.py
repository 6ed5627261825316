"""The type of werewolf's `game_state`."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from ..core.game_state import GameState, about


class Death(Struct):
    """A dead player."""

    agent_id: str
    role: str


class Event(Struct, kw_only=True):
    """A death or a vote."""

    day: int
    type: Annotated[str, about("killed, lynched or no_lynch")]
    agent_id: Annotated[str | UnsetType | None, about("who died")] = UNSET
    role: Annotated[str | UnsetType | None, about("of who died")] = UNSET
    votes: Annotated[dict[str, int] | UnsetType | None, about("of a vote: how many each player got")] = UNSET


class Inspection(Struct):
    """What the seer has found."""

    day: int
    target: str
    is_werewolf: bool


class Statement(Struct):
    """What was said, as an act; the words are in the messages."""

    agent_id: str
    day: int
    action: Annotated[str, about("defense, accusation, claim, general or ready_to_vote")]
    target: str | None = None
    role: Annotated[str | None, about("of a claim")] = None
    is_werewolf: Annotated[bool | None, about("the result of a claimed seer")] = None


class WerewolfState(GameState, kw_only=True):
    """A match as a seat sees it.

    It has the fields of strategic-agent-games, and ``statements`` and ``voting_history``. A player knows its own role,
    those of the dead and, as a werewolf, its fellow; the seer also knows what it has found. Votes are open. At night
    only the player whose turn it is knows so. `day_announce` has no decision and is passed over.
    """

    num_players: int = 0
    agent_ids: Annotated[list[str], about("in seat order")]
    alive_players: list[str] = field(default_factory=list)
    dead_players: list[str] = field(default_factory=list)
    day: Annotated[int, about("from 1")]
    phase: Annotated[str, about("night_werewolf, night_seer, day_discuss or day_vote")] = ""
    event_log: Annotated[list[Event], about("deaths and votes in order")]
    last_killed: Death | None = None
    last_lynched: Death | None = None
    role_counts: dict[str, int] = field(default_factory=dict)
    votes_so_far: Annotated[dict[str, str] | UnsetType, about("during the vote: from voter to target")] = UNSET
    players_ready_to_vote: Annotated[list[str] | UnsetType, about("during the discussion")] = UNSET
    voting_history: Annotated[list[dict[str, str]], about("of past days, from voter to target")] = field(
        default_factory=list
    )
    statements: Annotated[list[Statement] | None, about("of the match so far")] = None
    my_role: Annotated[str | UnsetType, about("werewolf, seer or villager")] = UNSET
    my_team: Annotated[str | UnsetType, about("village or werewolves")] = UNSET
    fellow_werewolves: Annotated[list[str] | UnsetType, about("to werewolves")] = UNSET
    pending_kill: Annotated[str | UnsetType | None, about("to werewolves: the latest nomination")] = UNSET
    werewolf_nominations: Annotated[dict[str, str] | UnsetType, about("to werewolves: tonight's")] = UNSET
    my_inspections: Annotated[list[Inspection] | UnsetType, about("to the seer")] = UNSET
