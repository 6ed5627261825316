"""Payloads: every legal action index is a documented payload, and a wrong answer is refused with a documented code."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from ..core.aec import GameEnv
from ..core.game import Game
from ..core.turn_state import ERROR_CODES, Action, ActionResult, AgentResponse, AllowedAction, TurnState
from .copies import environment_at_a_decision
from .trial import NotTried, Trial, chooser, in_mask, in_observation, in_record, in_turn_state

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 500, 10**30, 0.5, -0.0, float("nan"), float("inf"), "", "fold", "public", "ünïcode",
    "\ud800", [], {}, [None], {"a": 1}, "player_0", b"bytes", object(),
)  # fmt: skip


class Answers:
    """Random answers: some are legal, most are almost right, some are nonsense.

    Args:
        game: the game with its options.
        seed: seed of the random choices.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self._generator = np.random.default_rng(seed)

    def answer(self, offers: Sequence[AllowedAction]) -> Any:
        """Return a random answer to a turn with these allowed actions."""
        kind = int(self._generator.integers(6))
        if kind == 0:
            return self.value()
        action = {"action_type": self._action_type(), "payload": self._payload(offers)}
        if kind == 1:
            return action
        if kind == 2:
            return Action(action["action_type"], action["payload"])
        if kind == 3:
            return AgentResponse(Action(action["action_type"], action["payload"]), self._messages())
        return {"action": action if kind == 4 else self.value(), "messages": self._messages()}

    def value(self) -> Any:
        """Return a random value of any type."""
        return self.one_of(_VALUES)

    def one_of(self, choices: Sequence[Any]) -> Any:
        """Return a random element of a sequence, drawn uniformly."""
        return choices[int(self._generator.integers(len(choices)))]

    def _action_type(self) -> Any:
        types = [*self.game.view.action_spaces] * 3
        return self.one_of([*types, "pass", "message_only", ERROR_CODES[0], self.value()])

    def _payload(self, offers: Sequence[AllowedAction]) -> Any:
        """Return a payload with known keys and random values."""
        keys = sorted({key for offer in offers for key in offer.payload_schema.get("properties", {})} | {"amount"})
        chosen = [key for key in keys if self._generator.random() < 0.5]
        values = [self.one_of((self.value(), int(self._generator.integers(-3, 100)))) for _ in chosen]
        return self.one_of([dict(zip(chosen, values, strict=True))] * 5 + [self.value()])

    def _messages(self) -> Any:
        intent = {
            "scope": self.one_of(["public", "private", "loud", self.value()]),
            "content": self.one_of(["hello", self.value()]),
            "to_agent_ids": self.one_of([None, [self.one_of(self.game.agents)], ["stranger"], self.value()]),
        }
        return self.one_of([[], [intent], [intent] * 11, self.value()])


ACTIONS_A_DECISION = 12
"""The number of legal actions that are tried at a decision if there are more; and the last one."""


def legal_actions(trial: Trial) -> None:
    """A legal action index encodes to a payload of a declared type, and playing either gives the same result."""
    game = trial.game
    for seed in trial.seeds(3):
        env, choose = GameEnv(game, "flat"), chooser(game, seed)
        env.reset(seed=seed)
        trial.decision = 0
        while not env.table.done:
            trial.seat = env.match.turn
            mask = env.observe(env.agent_selection)["action_mask"]
            for action in _some(np.flatnonzero(mask), env.table):
                _check_action(trial, env, action)
            env.step(choose(mask))
            trial.decision += 1


def _some(actions: Any, table: Any) -> list[int]:
    """Return all of a few actions; of many, a dozen that vary with the table, and the last."""
    generator = np.random.default_rng(table.stream + np.uint64(table.turn))
    return sorted({*generator.permutation(actions)[:ACTIONS_A_DECISION].tolist(), int(actions[-1])})


def _check_action(trial: Trial, env: GameEnv, index: int) -> None:
    game, view = trial.game, trial.game.view
    agent, action = env.agent_selection, (response := view.encode(env.table, index)).action
    kind = action.action_type
    trial.require(
        kind in view.action_spaces, f"action {index} encodes to the type {kind!r}, which is not in action_spaces"
    )
    trial.require(
        view.action_spaces[kind].contains(_as_sample(action.payload)),
        f"action {index} encodes to {kind} {action.payload}, which is not in its space {view.action_spaces[kind]}",
    )
    ranges = [part for part in view.action_ranges if part.start <= index < part.stop]
    trial.require(
        not view.action_ranges or [kind in part.action_types for part in ranges] == [True],
        f"action {index} encodes to {kind}; action_ranges has {[part.action_types for part in ranges]}",
    )
    if kind != "message_only":  # talk: the index is in the message
        move = view.parse(env.table, action)
        trial.require(not isinstance(move, ActionResult), f"action {index} encodes to {action}, refused: {move}")
        nearest = view.nearest(env.table, move)
        trial.require(nearest == index, f"action {index} encodes to {action}, whose nearest index is {nearest}")
    by_index, by_payload = env.clone(), env.clone()
    by_index.step(index)
    result = by_payload.submit(agent, AgentResponse.from_json(response.to_json()))
    trial.require(result.ok, f"action {index} encodes to {action}, refused: {result.error}: {result.error_detail}")
    trial.same(in_record(by_index.table, by_payload.table))
    trial.require(
        by_index.rewards == by_payload.rewards,
        f"action {index} is rewarded with {by_index.rewards}, its payload with {by_payload.rewards}",
    )
    for other in {agent, game.agents[index % game.seats]}:  # not all of them, to save time
        trial.same(in_turn_state(by_index.turn_state(other), by_payload.turn_state(other)))
    one, other_one = by_index.observe(agent), by_payload.observe(agent)
    trial.same(in_observation(game.layout, one["observation"], other_one["observation"]))
    trial.same(in_mask(one["action_mask"], other_one["action_mask"]))


def _as_sample(payload: dict[str, Any]) -> dict[str, Any]:
    return {key: np.array(value) if isinstance(value, (int, float, list)) else value for key, value in payload.items()}


def schemas(trial: Trial) -> None:
    """The schemas of `allowed_actions` are JSON schemas, and the payloads of all legal actions are valid by them."""
    if find_spec("jsonschema") is None:
        raise NotTried("jsonschema is not installed")
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    game = trial.game
    for seed in trial.seeds(3):
        for table in trial.decisions(seed):
            if table.done:
                continue
            offers = {}
            for offer in game.turn_state(table, int(table.turn)).allowed_actions:
                try:
                    Draft202012Validator.check_schema(offer.payload_schema)
                except SchemaError as error:
                    trial.fail(f"the schema of {offer.action_type} is not a JSON schema: {error.message}")
                offers[offer.action_type] = Draft202012Validator(offer.payload_schema)
            for index in _some(np.flatnonzero(game.mask(table, int(table.turn))), table):
                action = game.view.encode(table, index).action
                trial.require(
                    action.action_type in offers,
                    f"action {index} encodes to {action.action_type}; allowed_actions offers {', '.join(offers)}",
                )
                for problem in offers[action.action_type].iter_errors(action.payload):
                    trial.fail(f"{action.action_type} {action.payload} is not valid by its schema: {problem.message}")


def states(trial: Trial) -> None:
    """`game_state` is valid by the JSON schema of its type, and nothing of it is lost where it is read as that type."""
    if find_spec("jsonschema") is None:
        raise NotTried("jsonschema is not installed")
    from jsonschema import Draft202012Validator

    state_type = trial.game.view.state_type
    if state_type is None:
        raise NotTried("the view has no state_type")
    validator = Draft202012Validator(msgspec.json.schema(state_type))
    for seed in trial.seeds(3):
        for table in trial.decisions(seed):
            for trial.seat in {0, max(0, int(table.turn))}:
                state = TurnState.from_json(trial.game.turn_state(table, trial.seat).to_json())
                for problem in validator.iter_errors(state.game_state):
                    trial.fail(f"game_state is no {state_type.__name__}: {problem.json_path}: {problem.message}")
                read = state_type.of(state).to_json()
                trial.require(read == msgspec.json.encode(state.game_state), f"game_state is read as {read.decode()}")


def allowed_actions(trial: Trial) -> None:
    """What the acting seat sees tells what is allowed, also read from JSON: the action types that the mask has."""
    game, view = trial.game, trial.game.view
    for seed in trial.seeds(3):
        for table in trial.decisions(seed):
            if table.done:
                continue
            seat = trial.seat = int(table.turn)
            state = TurnState.from_json(game.turn_state(table, seat).to_json())
            seen = state.game_state if view.state_type is None else view.state_type.of(state)
            read = [offer.to_dict() for offer in view.allowed(seen, seat, state.phase)]
            offers = [offer.to_dict() for offer in state.allowed_actions]
            trial.require(read == offers, f"allowed_actions has {offers}; of its game_state, read from JSON: {read}")
            indices = np.flatnonzero(game.mask(table, seat)).tolist()
            legal = {view.encode(table, index).action.action_type for index in indices} - {"message_only"}
            offered = {offer.action_type for offer in state.allowed_actions} - {"message_only"}
            trial.require(offered == legal, f"allowed_actions offers {sorted(offered)}; legal are {sorted(legal)}")


def any_answer(trial: Trial) -> None:
    """Any answer is accepted, or refused with a documented code; a refused answer changes nothing."""
    for seed in trial.seeds():
        answers = Answers(trial.game, seed)
        env = environment_at_a_decision(trial, seed, steps=seed)
        for _ in range(50):
            offers = env.turn_state(env.agent_selection).allowed_actions
            agent = answers.one_of(env.possible_agents)
            try_answer(trial, env, agent, answers.answer(offers))
            if env.table.done:
                env = environment_at_a_decision(trial, seed, steps=seed)


def try_answer(trial: Trial, env: GameEnv, agent: str, answer: Any) -> None:
    """Submit an answer and check the result: see `any_answer`."""
    trial.seat = env.possible_agents.index(agent)
    before = env.state().tobytes(), env.agent_selection, list(env.messages)
    result = env.submit(agent, answer)
    if result.ok:
        trial.require(agent == before[1], f"{answer!r} was accepted out of turn")
        _check_json(trial, (env.turn_state(other) for other in env.possible_agents))
    else:
        trial.require(
            result.error in ERROR_CODES and result.error_detail,
            f"{answer!r} was refused with the code {result.error!r} and the sentence {result.error_detail!r}",
        )
        trial.require(
            (env.state().tobytes(), env.agent_selection, env.messages) == before,
            f"{answer!r} was refused with {result.error}, and has changed the record, the turn or the messages",
        )
    trial.require(ActionResult.from_json(result.to_json()) == result, f"{result} changes in a round trip through JSON")


def _check_json(trial: Trial, states: Iterable[TurnState]) -> None:
    for state in states:
        trial.same(in_turn_state(state, TurnState.from_json(state.to_json())))
