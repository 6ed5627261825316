"""Training, evaluation and the `parlour` command."""
