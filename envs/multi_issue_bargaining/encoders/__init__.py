"""The encoders of this game, one module each; `full` shows hidden information and is for critics only."""
