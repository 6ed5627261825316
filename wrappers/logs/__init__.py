"""Match logs: what was played, one JSON object per line."""
