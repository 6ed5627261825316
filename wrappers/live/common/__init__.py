"""Common parts of all live protocols.

- `agent_turn`, `player`: a turn of our agent; the agent in its thread, and what plays at a port.
- `match_session`, `seat_names`: a hosted match, without I/O, and its agents' names.
- `server`, `listening`, `connection`, `budgets`, `tokens`, `origins`, `page`: an HTTP and WebSocket server.
- `client`: connecting to a server, with retries and pings.
- `clock`: deadlines and timers of all hosts and agents.
- `activity`, `health`: what a program that runs for weeks tells about itself.
"""
