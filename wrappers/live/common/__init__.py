"""Common parts of all live protocols.

- `sessions`: the interface between a session (no I/O) and its I/O shell; `responses` reads an agent's answer.
- `agent_runner`, `agent_driver`, `worker`, `agent_statistics`: run our agents, with deadlines.
- `server`, `connection`, `rate_limit`, `tokens`, `origins`, `page`: an HTTP and WebSocket server.
- `reconnecting`: connecting to a server, with retries.
- `session_timer`: the timer of a host's session.
- `activity`, `link`, `metrics`, `health`: what a program that runs for weeks tells about itself.
"""
