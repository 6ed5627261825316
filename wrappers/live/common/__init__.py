"""Common parts of all live protocols.

- `sessions`: the interface between a session (no I/O) and its I/O shell.
- `agent_turn`: one turn of an agent; `foreign_types`: states and answers in others' types.
- `agent_driver`, `agent_runner`, `worker`, `agent_statistics`: run our agents, with deadlines.
- `match_session`, `seat_names`: a hosted match, without I/O, and its agents' names.
- `server`, `connection`, `rate_limit`, `tokens`, `origins`, `page`: an HTTP and WebSocket server.
- `reconnecting`: connecting to a server, with retries.
- `session_timer`: the timer of a host's session.
- `activity`, `link`, `metrics`, `health`: what a program that runs for weeks tells about itself.
"""
