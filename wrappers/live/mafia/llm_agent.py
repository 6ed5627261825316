"""`MafiaLLMAgent`: a language model as an `AgentPolicy`, with its prompts. If it fails, a scripted agent answers.

If the model fails to think, there is no thought: one of the scripted agent would look like the model's.
"""

import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from os import PathLike
from typing import Any

from msgspec import UNSET, Struct

from ....envs.core.options import named
from ...agents.answers import Spoken, last_choice
from ...agents.language_model import Model, ModelCall, ModelError, ModelStatistics, library
from ...agents.prompt import Chat, fill, load_texts
from ...logs.match_log import escaped as shown
from .agent_policy import SentenceLimit, night_targets, vote_targets
from .agents import MafiaScriptedAgent
from .conversion import known_roles
from .messages import NIGHT_ACTIONS, AgentConfig, GameState, LlmConfig, NightAction, PrivateInfo, PublicInfo, VoteAction

logger = logging.getLogger(__name__)


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


STATEMENTS = 40
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
        settings = LlmConfig(model=model.name, temperature=model.temperature, max_tokens=model.max_tokens)
        self.config = AgentConfig(type="llm", llm_config=settings)
        self.model = model
        self.replaced = 0
        self._past: deque[str] = deque(maxlen=OWN)
        self._game = ""
        self._held = True

    async def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        self.remember(private_info)
        async for chunk in self._stream(context, "think", self.prompts.think):
            yield chunk

    async def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
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

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """See `AgentPolicy`."""
        self.remember(private_info)
        self.replacement = None
        targets = night_targets(private_info)
        if not targets:
            return None
        kind = NIGHT_ACTIONS[str(private_info.self.role)]
        try:
            target, reason = await self._choose(context, self.prompts.night, targets, action=kind)
        except ModelError as error:
            self._replace(context, "nightAction", error)
            return await super().night_action(context, private_info)
        return NightAction(kind, target, {"reason": reason} if reason else None)

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """See `AgentPolicy`."""
        try:
            target, reason = await self._choose(context, self.prompts.vote, [None, *vote_targets(self.id, context)])
        except ModelError as error:
            self._replace(context, "vote", error)
            return await super().vote(context, public_info)
        return VoteAction(target, reason or UNSET)

    async def _stream(
        self, context: GameState, method: str, ask: str, cut: SentenceLimit | None = None, held: bool = False
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
        self, context: GameState, ask: str, targets: Sequence[str | None], **values: str
    ) -> tuple[Any, str]:
        """Return the model's choice of a target, and its reason or "".

        Raises:
            ModelError: if the model fails.
        """
        # A token is a character or more, so that the longest legal answer fits.
        reason = {"type": "string", "maxLength": min(REASON, self.model.max_tokens // 2)}
        schema = {
            "type": "object",
            "properties": {"targetId": {"enum": list(targets)}, "reason": reason},
            "required": ["targetId"],
            "additionalProperties": False,
        }

        def named(words: str) -> Any:
            return next(({"targetId": one} for one in targets if words == (one or "null")), None)

        def read(text: str) -> Any:
            return last_choice(text, "targetId", named)

        def fits(answer: Any) -> None:
            if answer["targetId"] not in targets:
                raise ValueError(f"targetId must be one of {', '.join(map(str, targets))}")

        answer = await self.model.choose(self._chat(context, ask, **values), schema, read, fits, self._call())
        reason = answer.get("reason")
        return answer["targetId"], reason[:REASON] if isinstance(reason, str) else ""

    def _call(self) -> ModelCall:
        """Begin a call of the model. Until it fails, the answer is its own."""
        self.replacement = None
        self.calls = [*self.calls[1 - CALLS :], ModelCall()]
        return self.calls[-1]

    def _replace(self, context: GameState, method: str, error: ModelError, own: bool = False) -> None:
        """Count a failure of the model; `own`: it failed after some words, which are kept, with a warning."""
        self.replaced += 1
        self.replacement = None if own else str(error)  # whoever calls it logs a replacement
        if own:
            where = f"{shown(context.game_id[:64])}, {method} of {shown(self.name[:64])}"
            logger.warning("%s: it broke off: %s", where, shown(str(error)))

    def _keep(self, context: GameState, what: str, text: str) -> None:
        if text.strip():
            self._past.append(f"Round {context.round_number}, {what}: {text[:1000]}")

    def _chat(self, context: GameState, ask: str, **values: str) -> Chat:
        if context.game_id != self._game:
            self._game = context.game_id
            self._past.clear()
        private = self.private_in(context)
        roles = known_roles(self.id, context, private)
        values = {"action": "", **values, "name": shown(self.name), "id": shown(self.id), "persona": self._persona}
        advice = self.prompts.roles.get(roles.get(self.id, ""), "").strip()
        system = f"{fill(self.prompts.system, **values)} {advice}"
        seen = "\n".join([_in_words(self.id, context, private, roles), *self._past, fill(ask, **values)])
        return [{"role": "system", "content": system}, {"role": "user", "content": seen}]


def _in_words(agent_id: str, context: GameState, private: PrivateInfo | None, roles: dict[str, str]) -> str:
    """Return the agent's information as lines of text."""
    names = {player.id: shown(player.name) for player in context.players}
    lines = [f"{context.phase}, day {context.day_number}. {context.mafia_count} mafia live."]
    for player in context.players:
        role = f", {roles[player.id]}" if player.id in roles else ""
        dead = "" if player.alive else f", died in round {player.eliminated_round}"
        lines.append(f"- {shown(player.id)} {names[player.id]}{' (you)' if player.id == agent_id else ''}{role}{dead}")
    last = context.last_night_result
    if last is not None:
        killed = f"{shown(last.killed.name)} was killed" if last.killed else "nobody was killed"
        lines.append(f"Last night {killed}{', the doctor saved the target' if last.prevented else ''}.")
    for voting in context.voting_history[-VOTINGS:]:
        votes = ", ".join(f"{shown(voter)} for {shown(target)}" for voter, target in voting.votes.items() if target)
        gone = shown(voting.eliminated) if voting.eliminated else "nobody"
        lines.append(f"Vote of round {voting.round}: {votes or 'no votes'}; eliminated: {gone}.")
    for said in (context.statements or [])[-STATEMENTS:]:
        content = " ".join(said.content[:SAID].split()).replace('"', "'")
        lines.append(f'Day {said.round}, {names.get(said.player_id, shown(said.player_id))} said: "{shown(content)}"')
    if private is not None:
        for result in private.private_knowledge.investigation_results:
            verdict = "mafia" if result.is_mafia else "not mafia"
            lines.append(f"You investigated {shown(result.target.name)}: {verdict}.")
        if private.private_knowledge.last_protected:
            protected = private.private_knowledge.last_protected
            lines.append(f"Last night you protected {names.get(protected, shown(protected))}.")
        for mate, target in (private.private_knowledge.night_actions or {}).items():
            lines.append(
                f"Tonight {names.get(mate, shown(mate))} (mafia) has chosen {names.get(target, shown(target))}."
            )
    return "\n".join(lines)
