"""Bots, trained policies and language models as `AgentPolicy`.

Bots and policies decide by action indices of our game, and say it in words. If a language model fails, a scripted agent
answers; if it fails to think, there is no thought: one of the scripted agent would look like the model's.
"""

import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import lru_cache, partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET, Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from ....envs import Action, Game, TurnState
from ....envs.core.options import named
from ....envs.core.rollout import encoder_of
from ....envs.mafia import table
from ....envs.mafia.bots import Scripted
from ....envs.mafia.rules import Choice
from ....envs.mafia.statements import CLAIMS, Act, read
from ....envs.mafia.statements import sentence as statement
from ...agents.answers import Spoken, last_choice
from ...agents.base import call_optional, sentence
from ...agents.language_model import Model, ModelCall, ModelError, ModelStatistics, library, object_schema
from ...agents.policy import notes
from ...agents.prompt import Chat, fill, load_texts
from ...logs.match_log import escaped
from ...policies.base import Policy
from ..common.player import Worker
from . import messages as wire
from .agent import SentenceLimit, night_targets, sentences, vote_targets
from .messages import game_of, known_roles, of_context, speeches_a_day, turn_state

logger = logging.getLogger(__name__)

# Statements in words: an act as one to three sentences of a personality, which are read as the same act.

SELF = -1
"""The kind of a player's defence of itself."""

CORES: Mapping[int, Sequence[str]] = {
    table.GENERAL: (
        "I have nothing to report.",
        "I have heard nothing that convinces me yet.",
        "I would rather listen for now.",
        "Let us hear the others first.",
    ),
    table.ACCUSE: ("I accuse {}.", "I suspect {}.", "I do not trust {}.", "Let us vote out {}.", "{} is suspicious."),
    table.DEFEND: ("I defend {}.", "I trust {}.", "I believe {}.", "I vouch for {}.", "{} is innocent."),
    SELF: ("I am innocent.", "I am not mafia.", "I did nothing wrong."),
    table.CLEARED: (
        "I am the sheriff, and {} is not mafia.",
        "I am the sheriff, and {} is innocent.",
        "I'm the sheriff, I checked {}, and {} is clear.",
    ),
    table.FOUND: (
        "I am the sheriff, and {} is mafia.",
        "I'm the sheriff, I investigated {}, and {} is mafia.",
        "I am the sheriff, and {} is guilty.",
    ),
    table.CLAIM_SHERIFF: ("I am the sheriff.", "I'm the sheriff."),
    table.CLAIM_DOCTOR: ("I am the doctor.", "I'm the doctor."),
    table.CLAIM_VILLAGER: ("I am a villager.", "I'm just a villager.", "I am only a simple villager."),
    table.CLAIM_MAFIA: ("I am mafia.", "I'm mafia."),
}
"""Sentences by kind of act; ``{}`` is the target's name."""

OPENINGS: Mapping[str, Sequence[str]] = {
    "aggressive": ("Enough talk!", "Listen to me.", "We cannot sit and wait.", "Somebody has to say it."),
    "cautious": ("I may be wrong.", "Let me be careful here.", "It is early to say.", "I have thought about it twice."),
    "analytical": ("Look at the votes so far.", "Consider who gains by this.", "I have gone through every round."),
    "social": ("Friends, stay calm.", "Thank you all for speaking up.", "We are in this together.", "Hear me out."),
}
CLOSINGS: Mapping[str, Sequence[str]] = {
    "aggressive": ("Act today, or regret it tomorrow.", "No more excuses.", "Do it now."),
    "cautious": ("Tell me what I have missed.", "Please weigh it for yourselves.", "I could change my mind."),
    "analytical": ("The record speaks for itself.", "Nothing else fits what we have seen.", "Check it for yourselves."),
    "social": ("What does everybody else think?", "Let us decide it together.", "I am glad to hear other views."),
}
"""Openings and closings by personality; they are not read as an act."""


def phrase(act: Act, speaker: int, names: tuple[str, ...], personality: str, chance: random.Random) -> str:
    """Return `act` in words, in one to three sentences.

    Args:
        act: the act.
        speaker: the speaker's seat.
        names: the names, seat by seat.
        personality: one of the four personalities.
        chance: the random stream that chooses the words.
    """
    kind, target = act

    def drawn(texts: Sequence[str]) -> str:
        return texts[int(chance.random() * len(texts))]

    said = _heard(drawn(CORES[SELF if kind == table.DEFEND and target == speaker else kind]), act, speaker, names)
    words = chance.random()
    if words < 0.7:
        said = f"{drawn(OPENINGS[personality])} {said}"
    if words > 0.4:
        said = f"{said} {drawn(CLOSINGS[personality])}"
    return said


@lru_cache(maxsize=8192)
def _heard(core: str, act: Act, speaker: int, names: tuple[str, ...]) -> str:
    """Return the core with the target's name; the plain sentence if it would be read as another act."""
    said = core.replace("{}", names[act[1]]) if act[1] >= 0 else core
    seats = {name: seat for seat, name in enumerate(names)}
    return said if read(said, speaker, seats) == act else statement(act, speaker, names)


# Decisions.


class MafiaDecision(NamedTuple):
    """A decision of an agent: its move, the record, and the policy's input, float32[1, D] and int8[1, A]."""

    moment: tuple[str, str, int]  # match, phase and round
    seat: int
    move: Choice
    state: TurnState
    game: Game
    record: Any
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names, seat by seat."""
        return tuple(player["name"] for player in self.state.game_state["players"])

    @property
    def is_lie(self) -> bool:
        """Whether the statement contradicts what the player knows; opinions are no lies."""
        kind, target = self.move
        state = self.state.game_state
        if kind in CLAIMS.values():
            return bool(CLAIMS.get(state["self"]["role"]) != kind)
        if kind in (table.CLEARED, table.FOUND):
            results = state["privateKnowledge"]["investigationResults"]
            is_mafia = {result["target"]["id"]: result["isMafia"] for result in results}
            return is_mafia.get(state["players"][target]["id"]) is not (kind == table.FOUND)
        if kind in (table.ACCUSE, table.DEFEND) and state["self"]["role"] == "mafia":
            return bool(state["players"][target]["role"] == "mafia") == (kind == table.DEFEND)
        return False

    def with_action(self, action: int) -> "MafiaDecision":
        """Return the decision for another action index."""
        return self._replace(move=self.game.rules.decode(self.record, action))


def intention(decision: MafiaDecision) -> str:
    """Return a decision in words such as ``"I abstain"``."""
    kind, target = decision.move
    name = decision.names[target] if target >= 0 else ""
    if kind == table.TARGET:
        return f"I choose {name}"
    if kind == table.VOTE:
        return f"I vote for {name}" if target >= 0 else "I abstain"
    itself = kind == table.DEFEND and target == decision.seat
    return "I will defend myself" if itself else f"I will {STATEMENTS[kind].format(name)}"


STATEMENTS = {
    table.GENERAL: "say nothing of weight",
    table.ACCUSE: "accuse {}",
    table.DEFEND: "defend {}",
    table.CLEARED: "claim to be the sheriff and to have found {} innocent",
    table.FOUND: "claim to be the sheriff and to have found {} to be mafia",
    table.CLAIM_SHERIFF: "claim to be the sheriff",
    table.CLAIM_DOCTOR: "claim to be the doctor",
    table.CLAIM_VILLAGER: "claim to be a villager",
    table.CLAIM_MAFIA: "claim to be mafia",
}
"""The statements in words; ``{}`` is the target's name."""


class MafiaScriptedAgent:
    """A bot that plays mafia by `AgentPolicy` (see `parlour.envs.mafia.bots.Scripted`).

    It loads the context into a record of our game. It decides when it thinks; the action after the thought is this
    decision.

    Args:
        id, name: the player's id and name.
        config: its personality, the frequency of lies, and the threshold of suspicion. None: analytical.
        seed: the seed of its choices and sentences; None: fresh entropy.

    Raises:
        ValueError: for a setting that is out of its range.
    """

    blocks = False

    def __init__(self, id: str, name: str, config: wire.AgentConfig | None = None, *, seed: int | None = None) -> None:
        self.id = id
        self.name = name
        self.role: str | None = None
        self.config = config or wire.AgentConfig(type="scripted")
        given = asdict(self.config.scripted_config or wire.ScriptedConfig())
        self._settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        self._settings["seed"] = seed
        self._personality: wire.Personality = given["personality"] or "analytical"
        self._bots: dict[int, Policy] = {5: Scripted(game_of(5), **self._settings)}  # which checks the settings
        self._random = random.Random(seed)
        self._worker: Worker | None = None
        self._private: wire.PrivateInfo | None = None
        self._decision: MafiaDecision | None = None

    def player(self, context: wire.GameState) -> tuple[Game, Policy]:
        """Return the game that loads the context, and the policy that plays it."""
        game = of_context(context)
        if game.seats not in self._bots:  # the observation it reads does not depend on other options
            self._bots[game.seats] = Scripted(game, **self._settings)
        return game, self._bots[game.seats]

    def reasons(self, decision: MafiaDecision) -> Sequence[str]:
        """Return the true reasons of a decision, as sentences: the two players that it suspects most."""
        part = decision.game.encoders[Scripted.encoder].layout["suspicion"]
        points = decision.observations[0, part.start : part.stop].tolist()
        players, seats, seat = decision.state.game_state["players"], len(points), decision.seat
        others = [(points[r], -r) for r in range(1, seats) if players[(seat + r) % seats]["alive"]]
        names, most = decision.names, sorted(others, reverse=True)[:2]
        suspects = [f"{names[(seat - r) % seats]} ({100 * score:.0f})" for score, r in most]
        return [f"Of 100 points of suspicion I give the most to {' and '.join(suspects)}."]

    def remember(self, private_info: wire.PrivateInfo) -> None:
        """Keep the private information of a call: the calls of statements and votes have none."""
        self._private = private_info.kept()
        self.role = private_info.self.role

    def private_in(self, context: wire.GameState) -> wire.PrivateInfo | None:
        """Return the private information of a context's match; None: not received."""
        private = self._private
        return None if private is None or private.game_state.game_id != context.game_id else private

    async def think(self, context: wire.GameState, private_info: wire.PrivateInfo) -> AsyncIterator[str]:
        """Decide, and yield the reasons; see `AgentPolicy`."""
        self.remember(private_info)
        if context.phase == "NIGHT_ACTIONS" and self.role not in wire.NIGHT_ACTIONS:
            yield "I sleep."
            return
        decision = self._decision = await self._decide(context)
        for reason in await self._run(self.reasons, decision):
            yield reason + " "
        yield f"So {intention(decision)}{', which is a lie' if decision.is_lie else ''}."

    async def say(self, context: wire.GameState, public_info: wire.PublicInfo) -> AsyncIterator[str]:
        """Yield the sentences of the decided statement; see `AgentPolicy`."""
        decision = await self._decided(context)
        kind, target = decision.move
        if kind in (table.TARGET, table.VOTE):
            raise ValueError(f"there is nothing to say in {context.phase}")
        said = phrase((kind, target), decision.seat, decision.names, self._personality, self._random)
        for part in sentences(said):
            yield part

    async def night_action(self, context: wire.GameState, private_info: wire.PrivateInfo) -> wire.NightAction | None:
        """Return the decided target; see `AgentPolicy`."""
        self.remember(private_info)
        if self.role not in wire.NIGHT_ACTIONS:
            return None
        decision = await self._decided(context)
        return wire.NightAction(wire.NIGHT_ACTIONS[str(self.role)], context.players[decision.move.target].id)

    async def vote(self, context: wire.GameState, public_info: wire.PublicInfo) -> wire.VoteAction:
        """Return the decided vote; see `AgentPolicy`."""
        target = (await self._decided(context)).move.target
        return wire.VoteAction(context.players[target].id if target >= 0 else None)

    async def _decided(self, context: wire.GameState) -> MafiaDecision:
        """Return the decision for this moment: the one of the thought, which is used once, or a new one."""
        decision, self._decision = self._decision, None
        if decision is None or decision.moment != _moment(context):
            decision = await self._decide(context)
        return decision

    async def _decide(self, context: wire.GameState) -> MafiaDecision:
        game, policy = self.player(context)
        state = turn_state(self.id, context, self.private_in(context))
        tables, seat = game.load(state)
        record = tables[0]
        observations = game.encoders[encoder_of(policy, game)].observation(record, seat)[None]
        masks = game.mask(record, seat)[None]
        actions = await self._run(policy.act, observations, masks)
        action = int(np.asarray(actions).reshape(-1)[0])
        if not 0 <= action < masks.size or not masks[0, action]:
            raise ValueError(f"the policy chose action {action}, which is masked")
        move = game.rules.decode(record, action)
        return MafiaDecision(_moment(context), seat, move, state, game, record, observations, masks)

    async def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function of the policy, in the worker if there is one, and return its result."""
        if self._worker is None:
            return function(*args)
        if self._worker.stuck:
            raise RuntimeError("the policy is still busy with an earlier decision")
        return await self._worker.call(function, *args)


def _moment(context: wire.GameState) -> tuple[str, str, int]:
    return context.game_id, context.phase, context.round_number


MOST_CHOICES = 3
"""Most choices in a thought, the likeliest first."""


class MafiaPolicyAgent(MafiaScriptedAgent):
    """A policy that plays mafia by `AgentPolicy`.

    In a match with more players than it was trained for, a scripted agent decides.

    Args:
        id, name: the player's id and name.
        game: the game that the policy was trained for.
        policy: the policy.
        seed: the seed of its sentences; None: fresh entropy.
        worker: the thread of a policy that may block; None: the policy runs in the event loop.
    """

    def __init__(
        self, id: str, name: str, game: Game, policy: Policy, *, seed: int | None = None, worker: Worker | None = None
    ) -> None:
        super().__init__(id, name, seed=seed)
        self._game = game
        self._policy = policy
        self._worker = worker
        self._warned = False
        self._latest: tuple[MafiaDecision, Any, float | None] | None = None  # chances and value of the latest decision

    def player(self, context: wire.GameState) -> tuple[Game, Policy]:
        """See `MafiaScriptedAgent`. The game is the policy's own, unless the match is longer or has more statements."""
        self._latest = None
        players, own = len(context.players), self._game.options
        if players <= self._game.seats:
            holds = context.round_number <= own["max_days"] and speeches_a_day(context) <= own["discussion_rounds"]
            return self._game if holds else of_context(context, self._game.seats), self._policy
        if not self._warned:
            self._warned = True
            trained, instead = f"{self.id} was trained for {self._game.seats} players at most", "a bot plays for it"
            train = f"parlour train mafia --options seats={players}"
            logger.warning("%s; %s among %d; train for them with: %s", trained, instead, players, train)
        return super().player(context)

    def reasons(self, decision: MafiaDecision) -> Sequence[str]:
        """Return the likeliest choices with their probabilities, and the expected value, if the policy has them."""
        if decision.game.seats != self._game.seats:
            return super().reasons(decision)
        sentences = []
        chances = np.empty(0)
        if (probabilities := getattr(self._policy, "probabilities", None)) is not None:
            chances = probabilities(decision.observations, decision.masks)[0]
            best = [one for one in np.argsort(-chances, kind="stable")[:MOST_CHOICES].tolist() if chances[one] >= 0.005]
            likely = (f"{intention(decision.with_action(one))}, {100 * float(chances[one]):.0f} %" for one in best)
            sentences.append(f"My likeliest choices: {'; '.join(likely)}.")
        expected = call_optional(self._policy, "values", decision.observations)
        value = None if expected is None else float(expected[0])
        self._latest = decision, chances, value
        if value is not None:
            sentences.append(f"I expect {value:+.2f}, of −1 for a loss to +1 for a win.")
        return sentences or ["My policy has no probabilities."]

    def thoughts(self) -> dict[str, Any]:
        """Return the probabilities of the choices of the latest decision and its value; {} without a thought."""
        if self._latest is None:
            return {}
        decision, chances, value = self._latest
        return notes(chances, lambda action: self._written(decision.with_action(action)), value)

    def _written(self, decision: MafiaDecision) -> str:
        """Return a choice as logs write it."""
        kind, target = decision.move
        ids = [player["id"] for player in decision.state.game_state["players"]]
        if kind == table.TARGET:
            action = Action("nightAction", {"actionType": wire.NIGHT_ACTIONS[str(self.role)], "targetId": ids[target]})
        elif kind == table.VOTE:
            action = Action("vote", {"targetId": ids[target] if target >= 0 else None})
        else:
            action = Action("say", {"text": statement((kind, target), decision.seat, ids)})
        return sentence(action)


class Prompts(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Texts for a language model; ``prompts.toml`` beside this module explains the placeholders.

    Attributes:
        system: the rules and the player's identity.
        think, say, night, vote: the requests.
        roles: advice by role.
        personas: styles of play, by name, in the order of their use.
    """

    system: str
    think: str
    say: str
    night: str
    vote: str
    roles: dict[str, str]
    personas: dict[str, str]


def load_prompts(path: str | PathLike[str] | None = None) -> Prompts:
    """Return Parlour's prompts, updated with those of a file; see `load_texts`."""
    return load_texts(Prompts, __package__, path, ("name", "id", "persona", "action"))


MOST_STATEMENTS = 40
"""Number of latest statements in the prompt."""
SAID = 300
"""Most characters of a statement in the prompt."""
REASON = 200
"""Most characters of the model's reason for a choice."""
CALLS = 16
"""Number of latest calls that are kept until they are taken."""
VOTINGS = 6
"""Number of latest votes in the prompt."""
OWN = 12
"""Number of the agent's latest thoughts and statements in the prompt."""


class MafiaLLMAgent(MafiaScriptedAgent):
    """A language model that plays mafia by `AgentPolicy`.

    Args:
        id, name: the player's id and name.
        model: the model; its own limits of time and tokens hold for every call.
        prompts: the prompts; None: those of Parlour.
        persona: the name of one of the prompts' personas; "": none.
        seed: the seed of the scripted agent.

    Attributes:
        replaced: number of answers that are not the model's.
        replacement: why the latest answer is not the model's; None: it is.
        calls: the calls of the model since the last `take_calls`.
        statistics: what the calls that were taken came to; agents of one seat may share it.

    Raises:
        ImportError: if the extra `llm` is not installed.
        ValueError: if there is no such persona.
    """

    def __init__(
        self,
        id: str,
        name: str,
        model: Model,
        *,
        prompts: Prompts | None = None,
        persona: str = "",
        seed: int | None = None,
    ) -> None:
        library()
        super().__init__(id, name, seed=seed)
        self.prompts = prompts or load_prompts()
        self.replacement: str | None = None
        self.calls: list[ModelCall] = []
        self.statistics = ModelStatistics()
        self._persona = self.prompts.personas[named("persona", persona, self.prompts.personas)] if persona else ""
        settings = wire.LlmConfig(model=model.name, temperature=model.temperature, max_tokens=model.max_tokens)
        self.config = wire.AgentConfig(type="llm", llm_config=settings)
        self.model = model
        self.replaced = 0
        self._past: deque[str] = deque(maxlen=OWN)
        self._game = ""
        self._held = True

    async def think(self, context: wire.GameState, private_info: wire.PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        self.remember(private_info)
        async for chunk in self._stream(context, "think", self.prompts.think):
            yield chunk

    async def say(self, context: wire.GameState, public_info: wire.PublicInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`; at most five sentences, and no thoughts of the model."""
        said = False
        async for chunk in self._stream(context, "say", self.prompts.say, SentenceLimit(), held=self._held):
            said = True
            yield chunk
        if not said:
            instead = super().say(context, public_info)
            chunks = [chunk async for chunk in instead]
            self._keep(context, "it was said to all in my name", "".join(chunks))
            for chunk in chunks:
                yield chunk

    async def night_action(self, context: wire.GameState, private_info: wire.PrivateInfo) -> wire.NightAction | None:
        """See `AgentPolicy`."""
        self.remember(private_info)
        self.replacement = None
        targets = night_targets(private_info)
        if not targets:
            return None
        kind = wire.NIGHT_ACTIONS[str(private_info.self.role)]
        try:
            target, reason = await self._choose(context, self.prompts.night, targets, action=kind)
        except ModelError as error:
            self._replace(context, "nightAction", error)
            return await super().night_action(context, private_info)
        return wire.NightAction(kind, target, {"reason": reason} if reason else None)

    async def vote(self, context: wire.GameState, public_info: wire.PublicInfo) -> wire.VoteAction:
        """See `AgentPolicy`."""
        try:
            target, reason = await self._choose(context, self.prompts.vote, [None, *vote_targets(self.id, context)])
        except ModelError as error:
            self._replace(context, "vote", error)
            return await super().vote(context, public_info)
        return wire.VoteAction(target, reason or UNSET)

    async def _stream(
        self, context: wire.GameState, method: str, ask: str, cut: SentenceLimit | None = None, held: bool = False
    ) -> AsyncIterator[str]:
        """Yield the model's words, and keep them; nothing if it fails."""
        said: list[str] = []
        call = self._call()
        try:
            async for chunk in self.model.stream(self._chat(context, ask), call, held=held):
                part = chunk if cut is None else cut.take(chunk if said else chunk.lstrip())
                if part:
                    said.append(part)
                    yield part
                if cut is not None and cut.full:
                    break
            self._learn(call)
        except ModelError as error:
            self._replace(context, method, error, own=bool(said))
        self._keep(context, "I thought" if method == "think" else "I said to all", "".join(said))

    def take_calls(self) -> list[ModelCall]:
        """Return the model's calls since the last time, for logs."""
        calls, self.calls = self.calls, []
        for call in calls:
            self.statistics.count(call, self.model.prices)
        return calls

    def _learn(self, call: ModelCall) -> None:
        """Say nothing before its end while thoughts may have no beginning: that shows in an answer that has ended."""
        reader = Spoken()
        reader.take(call.text, last=True)
        self._held = reader.began_inside or (self._held and bool(call.faults))

    async def _choose(
        self, context: wire.GameState, ask: str, targets: Sequence[str | None], **values: str
    ) -> tuple[Any, str]:
        """Return the model's choice of a target, and its reason or "".

        Raises:
            ModelError: if the model fails.
        """
        # A token is a character or more, so that the longest legal answer fits.
        reason = {"type": "string", "maxLength": min(REASON, self.model.max_tokens // 2)}
        schema = object_schema({"targetId": {"enum": list(targets)}, "reason": reason}, "targetId")

        def named(words: str) -> Any:
            return next(({"targetId": one} for one in targets if words == (one or "null")), None)

        def fits(answer: Any) -> None:
            if answer["targetId"] not in targets:
                raise ValueError(f"targetId must be one of {', '.join(map(str, targets))}")

        read = partial(last_choice, key="targetId", named=named)
        answer = await self.model.choose(self._chat(context, ask, **values), schema, read, fits, self._call())
        reason = answer.get("reason")
        return answer["targetId"], reason[:REASON] if isinstance(reason, str) else ""

    def _call(self) -> ModelCall:
        """Begin a call of the model. Until it fails, the answer is its own."""
        self.replacement = None
        self.calls = [*self.calls[1 - CALLS :], ModelCall()]
        return self.calls[-1]

    def _replace(self, context: wire.GameState, method: str, error: ModelError, own: bool = False) -> None:
        """Count a failure of the model; `own`: it failed after some words, which are kept, with a warning."""
        self.replaced += 1
        self.replacement = None if own else str(error)  # whoever calls it logs a replacement
        if own:
            where = f"{escaped(context.game_id[:64])}, {method} of {escaped(self.name[:64])}"
            logger.warning("%s: it broke off: %s", where, escaped(str(error)))

    def _keep(self, context: wire.GameState, what: str, text: str) -> None:
        if text.strip():
            self._past.append(f"Round {context.round_number}, {what}: {text[:1000]}")

    def _chat(self, context: wire.GameState, ask: str, **values: str) -> Chat:
        if context.game_id != self._game:
            self._game = context.game_id
            self._past.clear()
        private = self.private_in(context)
        roles = known_roles(self.id, context, private)
        values = {"action": "", **values, "name": escaped(self.name), "id": escaped(self.id), "persona": self._persona}
        advice = self.prompts.roles.get(roles.get(self.id, ""), "").strip()
        system = f"{fill(self.prompts.system, **values)} {advice}"
        seen = "\n".join([_in_words(self.id, context, private, roles), *self._past, fill(ask, **values)])
        return [{"role": "system", "content": system}, {"role": "user", "content": seen}]


def _in_words(agent_id: str, context: wire.GameState, private: wire.PrivateInfo | None, roles: dict[str, str]) -> str:
    """Return the agent's information as lines of text."""
    names = {player.id: escaped(player.name) for player in context.players}
    lines = [f"{context.phase}, day {context.day_number}. {context.mafia_count} mafia live."]
    for player in context.players:
        role = f", {roles[player.id]}" if player.id in roles else ""
        dead = "" if player.alive else f", died in round {player.eliminated_round}"
        lines.append(f"- {escaped(player.id)} {names[player.id]}{' (you)' * (player.id == agent_id)}{role}{dead}")
    if (last := context.last_night_result) is not None:
        killed = f"{escaped(last.killed.name)} was killed" if last.killed else "nobody was killed"
        lines.append(f"Last night {killed}{', the doctor saved the target' if last.prevented else ''}.")
    for voting in context.voting_history[-VOTINGS:]:
        votes = ", ".join(f"{escaped(voter)} for {escaped(target)}" for voter, target in voting.votes.items() if target)
        gone = escaped(voting.eliminated) if voting.eliminated else "nobody"
        lines.append(f"Vote of round {voting.round}: {votes or 'no votes'}; eliminated: {gone}.")
    for said in (context.statements or [])[-MOST_STATEMENTS:]:
        content = escaped(" ".join(said.content[:SAID].split()).replace('"', "'"))
        lines.append(f'Day {said.round}, {names.get(said.player_id, escaped(said.player_id))} said: "{content}"')
    if private is not None:
        for result in private.private_knowledge.investigation_results:
            verdict = "mafia" if result.is_mafia else "not mafia"
            lines.append(f"You investigated {escaped(result.target.name)}: {verdict}.")
        if private.private_knowledge.last_protected:
            protected = private.private_knowledge.last_protected
            lines.append(f"Last night you protected {names.get(protected, escaped(protected))}.")
        for pair in (private.private_knowledge.night_actions or {}).items():
            mate, target = (names.get(one, escaped(one)) for one in pair)
            lines.append(f"Tonight {mate} (mafia) has chosen {target}.")
    return "\n".join(lines)
