"""What all live protocols share.

- `sessions`: the words between a protocol's session (no I/O) and its shell; `responses` reads an agent's answer.
- `agent_runner`, `agent_driver`, `worker`, `agent_statistics`: how an agent of ours answers its turns in time.
- `server`, `connection`, `rate_limit`, `tokens`, `origins`, `page`: the life of an HTTP and WebSocket server.
- `reconnecting`: connecting to a server, and trying again.
- `session_timer`: the timer of a host's session.
"""
