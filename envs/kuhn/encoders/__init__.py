"""The encoders of this game, one module each; `full` sees everything and is for critics alone."""
