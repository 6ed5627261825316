"""TurnState arenas (agent-colosseum, https://github.com/March-08/agent-colosseum; Strategic Agent Games,
https://github.com/saskia-jungen/strategic-agent-games): our agents on them, and a host of our own for every game.

- `messages`: the wire types beyond TurnState; `foreign_types`: TurnStates and answers in others' types.
- `agent_session` (no I/O) and `agent`: our agents, in process and behind HTTP.
- `host_session`, `running_matches` and `results` (no I/O); `players` and `host`: our arena.
- `agent_names`: agent ids and the names of a game's seats.
"""
