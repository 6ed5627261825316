"""`parlour soak`: a command per protocol."""
