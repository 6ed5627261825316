"""Policies: functions from observations and masks to actions, for many seats at once."""
