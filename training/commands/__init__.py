"""The commands of `parlour`, one module each."""
