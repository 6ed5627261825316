"""Match logs: the events of a match, one JSON object per line."""
