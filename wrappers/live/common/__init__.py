"""Common parts of all live protocols.

- `agent_turn`, `agent_runner`: a turn of our agent; the agent in its thread, and its session's events.
- `match_session`, `seat_names`: a hosted match, without I/O, and its agents' names.
- `server`, `listening`, `connection`, `budgets`, `tokens`, `origins`, `page`: an HTTP and WebSocket server.
- `client`, `pings`: connecting to a server, with retries.
- `clock`: deadlines and timers of all hosts and agents.
- `activity`, `health`: what a program that runs for weeks tells about itself.
"""
