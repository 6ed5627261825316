"""One match: agents driven through the lifecycle of mafia.md, with our game's rules underneath.

The record decides who lives and who wins; here are the calls, their bounds in time and length, and the events. At night
and in the vote all agents are called side by side; in the discussion one after another. An agent that fails loses only
that answer: a night action is asked for twice, then drawn; a vote abstains; a statement is left out.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np

from ....envs.core.game import Game
from ....envs.core.rng import streams
from ....envs.core.turn_state import Action, AgentResponse
from ....envs.mafia.rules import Choice
from ....envs.mafia.statements import read as hear
from ....envs.mafia.statements import to_wire
from ....envs.mafia.table import DEFEND, DISCUSSION, GENERAL, NIGHT, ROLES, TARGET, VOTE, WINNERS
from ..common.worker import described, shown
from .agent_policy import AgentPolicy, night_problem, vote_problem
from .base_agent import BaseMafiaAgent
from .event_feed import EventFeed
from .messages import (
    NIGHT_ACTIONS,
    AgentConfig,
    Alive,
    Dead,
    GameState,
    Investigation,
    LastNight,
    NightAction,
    Phase,
    Player,
    PrivateInfo,
    PrivateKnowledge,
    PublicInfo,
    PublicNight,
    Statement,
    VoteAction,
    VotingRound,
    encode,
    read,
)
from .speech import SentenceLimit
from .streams import chunks

logger = logging.getLogger(__name__)

NAME_LENGTH = 64


@dataclass(frozen=True, kw_only=True)
class MafiaLimits:
    """What an agent may take.

    Attributes:
        think, say, act: seconds for a THINK stream, a SAYS stream, a night action or vote.
        thought, statement: characters of a THINK and of a SAYS stream.
        tries: calls of `night_action` in a night, until one gives a legal target.
    """

    think: float = 30.0
    say: float = 30.0
    act: float = 30.0
    thought: int = 20_000
    statement: int = 4_000
    tries: int = 2

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: naming one that is out of its range.
        """
        for name in ("think", "say", "act"):
            if not 0 < getattr(self, name) < 2**30:
                raise ValueError(f"{name}={getattr(self, name)}: seconds, above 0")
        if self.thought < 1 or not 1 <= self.statement <= 4_000 or self.tries < 1:
            raise ValueError(
                f"thought={self.thought}, statement={self.statement}, tries={self.tries}: at least 1 each, and at most "
                "4,000 characters of a statement"
            )


@dataclass(frozen=True)
class Fault:
    """An answer that an agent did not give.

    Attributes:
        agent_id, phase, round_number: whose, and when.
        method: what was asked of it.
        problem: what went wrong.
        instead: what was done in its place; "" where nothing had to be.
    """

    agent_id: str
    phase: str
    round_number: int
    method: str
    problem: str
    instead: str = ""


@dataclass(frozen=True)
class MafiaResult:
    """What came of a match.

    Attributes:
        game_id: of the match.
        winner: ``"town"``, ``"mafia"``, or None at the limit of days.
        rounds: nights that were played.
        roles: by agent id.
        payoffs: by agent id.
        faults: what went wrong, in order.
        record: the record's last bytes.
    """

    game_id: str
    winner: Literal["town", "mafia"] | None
    rounds: int
    roles: dict[str, str]
    payoffs: dict[str, float]
    faults: list[Fault]
    record: bytes


Note = Callable[..., None]
"""Takes a line of a match log: its kind and its fields (`MatchLog.write`)."""


class MafiaMatch:
    """A match of mafia between `AgentPolicy` objects.

    Args:
        game: mafia, with as many seats as there are agents.
        agents: the players, seat by seat. Agents that may block the event loop belong into `Apart`.
        seed: of the roles and of everything that is drawn; None for fresh entropy.
        feed: gets the events.
        limits: what agents may take.
        note: gets the lines of the match's log, which `parlour.wrappers.logs.recorder.replay` plays again.

    Raises:
        ValueError: if there are not as many agents as seats, or ids or names are not all different and printable.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[AgentPolicy],
        *,
        feed: EventFeed,
        seed: int | None = None,
        limits: MafiaLimits | None = None,
        note: Note | None = None,
    ) -> None:
        self.game = game
        self.agents = list(agents)
        self.feed = feed
        self.limits = limits or MafiaLimits()
        self.faults: list[Fault] = []
        self._ids = [agent.id for agent in agents]
        self._names = [agent.name for agent in agents]
        _check_players(game, self._ids, self._names)
        self._seats = {name: seat for seat, name in enumerate(self._names)}
        self._seats |= {agent_id: seat for seat, agent_id in enumerate(self._ids)}
        self._note = note
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._seed = seed
        tables = game.tables(1)
        tables["stream"] = streams(seed, 1)
        self._records = tables.view(np.ndarray)
        self.table = tables[0]
        game.rules.reset(self.table)
        self._plain = self._records[0]  # fields by name, faster than a record's attributes
        self._scratch = game.tables(1).view(np.ndarray)
        self._side = self._scratch[0]
        self._side_turn, self._side_night = self._scratch["turn"], self._scratch["night"][0]
        self._told: Phase = "SETUP"
        self._begin()

    def _begin(self) -> None:
        """Set up what agents are shown, which then grows with the match."""
        roles = self._plain["role"].tolist()
        self._roles = [ROLES[role] for role in roles[: self.game.seats]]
        self._true = [Player(id=i, name=n, role=r) for i, n, r in zip(self._ids, self._names, self._roles, strict=True)]
        self._shown = [Player(id=i, name=n) for i, n in zip(self._ids, self._names, strict=True)]
        self._mafia = [seat for seat, role in enumerate(self._roles) if role == "mafia"]
        self._results: dict[int, list[tuple[int, int]]] = {}  # sheriff's seat: (round, target's seat)
        self._protected: dict[int, int] = {}  # doctor's seat: whom it protected last night
        self._tonight: dict[int, int] = {}
        self._statements: list[Statement] = []
        self._history: list[VotingRound] = []
        self._last: tuple[int, bool] | None = None  # last night: who was killed (−1: nobody), whether one was saved

    async def play(self) -> MafiaResult:
        """Play the match to its end."""
        self._created()
        while not self._plain["done"]:
            phase = int(self._plain["phase"])
            if phase == NIGHT:
                await self._night()
            elif phase == DISCUSSION:
                await self._statement()
            else:
                await self._voting()
        return self._ended()

    # The phases.

    async def _night(self) -> None:
        self._enter("NIGHT_ACTIONS")
        self._tonight = {}
        alive = self._plain["alive"].tolist()
        order = [
            seat
            for role in ("mafia", "doctor", "sheriff")
            for seat, own in enumerate(self._roles)
            if own == role and alive[seat]
        ]
        await self._together([self._act_at_night(seat) for seat in order])
        for seat in order:
            self._submit(seat, Choice(TARGET, self._tonight[seat]), self._night_payload(seat))
        self._protected = {seat: self._tonight[seat] for seat in order if self._roles[seat] == "doctor"}
        self._tonight = {}
        killed = int(self._plain["killed"])
        prevented = bool(self._plain["prevented"])
        self._last = (killed, prevented)
        self._enter("MORNING_REVEAL")
        self.feed.emit("NIGHT_RESOLVED", {"killed": self._id(killed), "prevented": prevented})
        if killed >= 0:
            self._eliminated(killed, "night_kill")

    async def _act_at_night(self, seat: int) -> None:
        context, info = self._private(seat)
        self._show(seat)
        await self._think(seat, context, info)
        context, info = self._private(seat)  # teammates may have chosen meanwhile
        target = await self._chosen(seat, context, info)
        if target is None:
            target = self._drawn(seat)
            self._fault(self._ids[seat], "nightAction", "no legal target", f"{self._ids[target]}, drawn")
        self._tonight[seat] = target
        kind = NIGHT_ACTIONS[self._roles[seat]]
        payload = {"agentId": self._ids[seat], "actionType": kind, "targetId": self._ids[target]}
        self.feed.emit("NIGHT_ACTION_SUBMITTED", payload, private=True)
        if kind == "INVESTIGATE":
            self._results.setdefault(seat, []).append((int(self._plain["round_number"]), target))
            found = self._roles[target] == "mafia"
            result = {"agentId": self._ids[seat], "targetId": self._ids[target], "isMafia": found}
            self.feed.emit("INVESTIGATION_RESULT", result, private=True)

    async def _chosen(self, seat: int, context: GameState, info: PrivateInfo) -> int | None:
        """Ask for a night action until one is legal, as often as the limits allow."""
        agent = self.agents[seat]
        for _ in range(self.limits.tries):
            try:
                async with asyncio.timeout(self.limits.act):
                    action = _answer(await agent.night_action(context, info), NightAction)
                problem = night_problem(action, info)
                if problem is None and action is not None:
                    return self._ids.index(action.target_id)
            except TimeoutError:
                problem = f"no answer within {self.limits.act:g} s"
            except Exception as error:  # whatever it is, it is that agent's
                problem = described(error)
            self._fault(self._ids[seat], "nightAction", str(problem))
        return None

    async def _statement(self) -> None:
        """Let the next speaker plan and make its statement."""
        self._enter("DAY_DISCUSSION")
        seat = int(self._plain["turn"])
        context, info = self._private(seat)
        self._show(seat)
        await self._think(seat, context, info)
        text = await self._say(seat, context)
        act = hear(text, seat, self._seats)
        kind, target = act if self._sayable(act, seat) else (GENERAL, -1)
        wire = to_wire((kind, target), self._ids)
        self._statements.append(
            Statement(
                player_id=self._ids[seat],
                round=int(self._plain["round_number"]),
                type=wire["type"],
                content=text,
                target_id=wire["targetId"],
                role=wire["role"],
                is_mafia=wire["isMafia"],
            )
        )
        payload = {**to_wire((kind, target), self.game.agents), **({"text": text} if text.strip() else {})}
        self._submit(seat, Choice(kind, target), ("say", payload))

    def _sayable(self, act: tuple[int, int], seat: int) -> bool:
        """Whether an act speaks of nobody, of somebody alive, or of the speaker only to defend it."""
        kind, target = act
        return target < 0 or (bool(self._plain["alive"][target]) and (target != seat or kind == DEFEND))

    async def _voting(self) -> None:
        self._enter("DAY_VOTING")
        alive = self._plain["alive"].tolist()
        voters = [seat for seat in range(self.game.seats) if alive[seat]]
        votes: dict[int, int] = {}
        await self._together([self._vote(seat, votes) for seat in voters])
        # Sealed until all are in: nobody, admins apart, could see one before.
        for seat in voters:
            self.feed.emit("VOTE_CAST", {"voterId": self._ids[seat], "targetId": self._id(votes[seat])})
        round_number = int(self._plain["round_number"])
        for seat in voters:
            target = votes[seat]
            target_id = self.game.agents[target] if target >= 0 else None
            self._submit(seat, Choice(VOTE, target), ("vote", {"targetId": target_id}))
        gone = [seat for seat in voters if self._plain["voted_out"][seat]]
        eliminated = gone[0] if gone else -1
        by_name: dict[str, str | None] = {
            self._names[seat]: self._names[votes[seat]] for seat in voters if votes[seat] >= 0
        }
        name = self._names[eliminated] if eliminated >= 0 else None
        self._history.append(VotingRound(round=round_number, eliminated=name, votes=by_name))
        self._enter("RESOLUTION", round_number)
        result = {
            "eliminatedPlayerId": self._id(eliminated),
            "votes": {self._ids[seat]: self._id(votes[seat]) for seat in voters},
            "tie": _tied(list(votes.values())),
        }
        self.feed.emit("VOTE_RESULT", result)
        if eliminated >= 0:
            self._eliminated(eliminated, "vote", round_number)

    async def _vote(self, seat: int, votes: dict[int, int]) -> None:
        agent = self.agents[seat]
        context, info = self._private(seat)
        self._show(seat)
        await self._think(seat, context, info)
        votes[seat] = -1
        try:
            async with asyncio.timeout(self.limits.act):
                vote = _answer(await agent.vote(context, self._public()), VoteAction)
            if vote is None:
                problem: str | None = "no vote"
            else:
                problem = vote_problem(vote, self._ids[seat], context)
                if problem is None and vote.target_id is not None:
                    votes[seat] = self._ids.index(vote.target_id)
        except TimeoutError:
            problem = f"no answer within {self.limits.act:g} s"
        except Exception as error:  # whatever it is, it is that agent's
            problem = described(error)
        if problem is not None:
            self._fault(self._ids[seat], "vote", problem, "abstains")

    # Streams.

    async def _think(self, seat: int, context: GameState, info: PrivateInfo) -> None:
        agent = self.agents[seat]
        part = {"NIGHT_ACTIONS": "night", "DAY_DISCUSSION": "day", "DAY_VOTING": "vote"}[context.phase]
        payload = self._stream("think", part, seat)
        try:
            thought = agent.think(context, info)
            async with self._within(agent, thought, self.limits.think, self.limits.thought) as stream:
                async for chunk in stream:
                    self.feed.emit("AGENT_THINK_STREAM", {**payload, "chunk": chunk}, private=True)
        except TimeoutError:
            self._fault(self._ids[seat], "think", f"cut off after {self.limits.think:g} s")
        except Exception as error:  # whatever it is, it is that agent's
            self._fault(self._ids[seat], "think", described(error))
        self.feed.emit("AGENT_THINK_STREAM", {**payload, "chunk": ""}, private=True)

    async def _say(self, seat: int, context: GameState) -> str:
        """Pass a statement on as it comes, at most five sentences of it, and return what was passed on."""
        agent = self.agents[seat]
        payload = self._stream("say", "day", seat)
        said: list[str] = []
        cut = SentenceLimit()
        try:
            statement = agent.say(context, self._public())
            async with self._within(agent, statement, self.limits.say, self.limits.statement) as stream:
                async for chunk in stream:
                    part = cut.take(chunk)
                    if part:
                        said.append(part)
                        self.feed.emit("AGENT_SAY_STREAM", {**payload, "chunk": part})
                    if cut.full:
                        self._fault(self._ids[seat], "say", "more than five sentences: the rest is left out")
                        break
        except TimeoutError:
            self._fault(self._ids[seat], "say", f"cut off after {self.limits.say:g} s")
        except Exception as error:  # whatever it is, it is that agent's
            self._fault(self._ids[seat], "say", described(error))
        self.feed.emit("AGENT_SAY_STREAM", {**payload, "chunk": ""})
        text = "".join(said)
        if not text.strip():
            self._fault(self._ids[seat], "say", "it said nothing")
        return text

    @staticmethod
    def _within(agent: AgentPolicy, stream: Any, seconds: float, most: int) -> contextlib.aclosing[Any]:
        """Return a stream within its bounds; one of ours that never waits and never runs on needs none."""
        at_once = isinstance(agent, BaseMafiaAgent) and agent.at_once
        return contextlib.aclosing(stream if at_once else chunks(stream, seconds, most))

    def _stream(self, stream: str, part: str, seat: int) -> dict[str, str]:
        """Return what every chunk of a stream tells."""
        speech = int(self._plain["speech"]) if part == "day" else 0
        again = f"-{speech + 1}" if speech else ""
        turn_id = f"{stream}-{part}-{int(self._plain['round_number'])}-{self._ids[seat]}{again}"
        return {"agentId": self._ids[seat], "agentName": self._names[seat], "turnId": turn_id}

    async def _together(self, calls: list[Coroutine[Any, Any, None]]) -> None:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call)

    # What agents see.

    def _private(self, seat: int) -> tuple[GameState, PrivateInfo]:
        """Return the context and what `seat` alone knows."""
        role = self._roles[seat]
        players = self._shown.copy()
        players[seat] = self._true[seat]
        results = [Investigation(target=players[t], is_mafia=False, round=r) for r, t in self._results.get(seat, ())]
        knowledge = PrivateKnowledge(investigation_results=results)
        if role == "mafia":
            for mate in self._mafia:
                players[mate] = self._true[mate]
            knowledge.mafia_teammates = [self._true[mate] for mate in self._mafia if mate != seat]
            if self._told == "NIGHT_ACTIONS":
                chosen = [mate for mate in self._mafia if mate in self._tonight]
                knowledge.night_actions = {self._ids[mate]: self._ids[self._tonight[mate]] for mate in chosen}
        elif role == "sheriff":
            for i, (round_number, target) in enumerate(self._results.get(seat, ())):
                found = self._roles[target] == "mafia"
                if found:
                    players[target] = self._true[target]
                results[i] = Investigation(target=players[target], is_mafia=found, round=round_number)
        elif role == "doctor" and seat in self._protected:
            knowledge.last_protected = self._ids[self._protected[seat]]
        living = [player for player in players if player.alive]
        mafia = int(self._plain["living_mafia"])
        context = GameState(
            game_id=self.feed.game_id,
            phase=self._told,
            day_number=self._day(),
            round_number=int(self._plain["round_number"]),
            players=players,
            alive_players=living,
            dead_players=[player for player in players if not player.alive],
            mafia_count=mafia,
            town_count=len(living) - mafia,
            last_night_result=self._last_night(seat, players),
            voting_history=self._history.copy(),
            statements=self._statements.copy(),
        )
        return context, PrivateInfo(self=self._true[seat], game_state=context, private_knowledge=knowledge)

    def _last_night(self, seat: int, players: list[Player]) -> LastNight | None:
        if self._last is None or self._last == (-1, False):
            return None
        killed, prevented = self._last
        saved = prevented and self._roles[seat] == "doctor" and seat in self._protected
        return LastNight(
            killed=players[killed] if killed >= 0 else None,
            protected=players[self._protected[seat]] if saved else None,
            prevented=prevented,
        )

    def _public(self) -> PublicInfo:
        """Return what everybody knows."""
        last = None
        if self._last is not None:
            killed, prevented = self._last
            last = PublicNight(killed=self._names[killed] if killed >= 0 else None, prevented=prevented)
        return PublicInfo(
            game_id=self.feed.game_id,
            phase=self._told,
            day_number=self._day(),
            round_number=int(self._plain["round_number"]),
            alive_players=[Alive(id=one.id, name=one.name) for one in self._shown if one.alive],
            dead_players=[
                Dead(id=one.id, name=one.name, role=one.role, eliminated_round=one.eliminated_round)
                for one in self._shown
                if not one.alive
            ],
            last_night_result=last,
            voting_history=self._history.copy(),
        )

    def _day(self) -> int:
        return int(self._plain["round_number"]) - (self._told == "NIGHT_ACTIONS")

    def _show(self, seat: int) -> None:
        """Show an agent of ours the seat's observation, which is what it would read from its context."""
        agent = self.agents[seat]
        if isinstance(agent, BaseMafiaAgent):
            agent.shown(self.game, *self._seen(seat))

    def _seen(self, seat: int) -> tuple[Any, Any]:
        scratch = self._as_if_turn(seat)
        observation = self.game.observation(scratch, seat)
        mask = np.zeros(self.game.num_actions, np.int8)
        self.game.rules.legal(scratch, mask)
        return observation, mask

    def _as_if_turn(self, seat: int) -> Any:
        """Return a copy of the record in which it is the seat's turn: agents decide side by side."""
        self._scratch[:] = self._records
        self._side_turn[0] = seat
        for other, target in self._tonight.items():
            self._side_night[(int(self._plain["round_number"]) - 1) * self.game.seats + other] = target
        return self._side

    # Moves.

    def _submit(self, seat: int, move: Choice, action: tuple[str, dict[str, Any]]) -> None:
        """Let the rules apply a move, and the log tell it."""
        if self._plain["turn"] != seat:
            raise RuntimeError(f"the rules expect seat {self._plain['turn']}, not {seat}")
        if self._note is not None:
            response = AgentResponse(Action(*action))
            self._note("turn", agent=self.game.agents[seat], response=response)
        self.game.rules.step(self.table, move)

    def _night_payload(self, seat: int) -> tuple[str, dict[str, Any]]:
        kind = NIGHT_ACTIONS[self._roles[seat]]
        return "nightAction", {"actionType": kind, "targetId": self.game.agents[self._tonight[seat]]}

    def _drawn(self, seat: int) -> int:
        """Return a legal target, drawn from the match's stream."""
        scratch = self._as_if_turn(seat)
        return int(self.game.rules.decode(scratch, self.game.view.safe(scratch)).target)

    # What is told.

    def _created(self) -> None:
        players = [{"id": i, "name": n} for i, n in zip(self._ids, self._names, strict=True)]
        if self._note is not None:
            self._note(
                "match",
                game=self.game.id,
                options=self.game.options,
                seed=self._seed,
                match_id=self.feed.game_id,
                agents=[{**player, **_config(agent)} for player, agent in zip(players, self.agents, strict=True)],
            )
        self.feed.emit("GAME_CREATED", {"players": players})
        for seat, role in enumerate(self._roles):
            try:
                self.agents[seat].role = role
            except Exception as error:  # it learns its role by the calls, too
                self._fault(self._ids[seat], "role", described(error))
        self.feed.emit("ROLES_ASSIGNED", {"roles": dict(zip(self._ids, self._roles, strict=True))}, private=True)

    def _enter(self, phase: Phase, round_number: int | None = None) -> None:
        if phase == self._told:
            return
        before, self._told = self._told, phase
        number = int(self._plain["round_number"]) if round_number is None else round_number
        day = number - (phase == "NIGHT_ACTIONS")
        payload = {"from": before, "to": phase, "dayNumber": day, "roundNumber": number}
        self.feed.emit("PHASE_CHANGED", payload)

    def _eliminated(self, seat: int, by: str, round_number: int | None = None) -> None:
        """Reveal a death and the role."""
        gone = int(self._plain["eliminated_round"][seat])
        dead = Player(
            id=self._ids[seat], name=self._names[seat], role=self._roles[seat], alive=False, eliminated_round=gone
        )
        self._true[seat] = self._shown[seat] = dead
        payload = {"playerId": dead.id, "role": dead.role, "eliminatedBy": by, "roundNumber": gone}
        self.feed.emit("PLAYER_ELIMINATED", payload)

    def _ended(self) -> MafiaResult:
        winner = WINNERS[int(self._plain["winner"])]
        self._enter("END")
        self.feed.emit("GAME_ENDED", {"winner": winner})
        self.feed.close()
        if self._note is not None:
            self._note("end", outcome=self.game.turn_state(self.table, 0).outcome)
        return MafiaResult(
            self.feed.game_id,
            winner,  # type: ignore[arg-type]
            int(self._plain["round_number"]),
            dict(zip(self._ids, self._roles, strict=True)),
            dict(zip(self._ids, self._plain["rewards"].tolist(), strict=False)),
            self.faults,
            self._records.tobytes(),
        )

    def _fault(self, agent_id: str, method: str, problem: str, instead: str = "") -> None:
        fault = Fault(agent_id, self._told, int(self._plain["round_number"]), method, problem, instead)
        self.faults.append(fault)
        what = shown(problem)
        logger.warning("%s, round %d, %s of %s: %s", self.feed.game_id, fault.round_number, method, agent_id, what)
        if self._note is not None:
            self._note("fault", **msgspec.to_builtins(fault))

    def _id(self, seat: int) -> str | None:
        return self._ids[seat] if seat >= 0 else None


def _check_players(game: Game, ids: Sequence[str], names: Sequence[str]) -> None:
    if len(ids) != game.seats:
        raise ValueError(f"{len(ids)} agents for a game of {game.seats}")
    for kind, values in (("id", ids), ("name", names)):
        for value in values:
            if not isinstance(value, str) or not 1 <= len(value) <= NAME_LENGTH or not value.isprintable():
                raise ValueError(f"{kind} {value!r}: give 1 to {NAME_LENGTH} printable characters")
        if len(set(values)) != len(values):
            raise ValueError(f"{kind}s {', '.join(values)}: no two agents may have the same")
    for name, agent_id in zip(names, ids, strict=True):
        if name in ids and name != agent_id:
            raise ValueError(f"{agent_id} cannot be called {name!r}, which is another agent's id")


def _config(agent: AgentPolicy) -> dict[str, AgentConfig]:
    """Return an agent's config for the log; what others call so may be anything, and hold secrets."""
    config = getattr(agent, "config", None)
    return {"config": config} if type(config) is AgentConfig else {}


def _answer(answer: Any, kind: type[Any]) -> Any:
    """Return an agent's answer as a struct of ours: it may be one, a dict, or an object with its fields."""
    if answer is None:
        return None
    if isinstance(answer, (dict, kind)):
        return read(encode(answer), kind)  # a struct made by hand may hold anything
    return msgspec.convert(answer, kind, from_attributes=True)


def _tied(votes: list[int]) -> bool:
    """Whether two or more have the most votes, and more than one each."""
    counts = sorted((votes.count(target) for target in {vote for vote in votes if vote >= 0}), reverse=True)
    return len(counts) > 1 and counts[0] == counts[1] > 1
