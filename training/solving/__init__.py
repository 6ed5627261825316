"""Solvers: exact ones, the solver from samples, and the end of a hand solved again at the table."""
