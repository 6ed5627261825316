"""Environments for one learner: single-agent tables, Gymnasium, Stable-Baselines3."""
