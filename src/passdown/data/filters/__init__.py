"""Filters: what is dropped and why. Each takes trajectories and yields those it keeps, and a reject for every other."""
