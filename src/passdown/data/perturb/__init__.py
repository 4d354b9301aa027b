"""Perturbations: what time, other people and mistakes do to a handoff, each with its answer key."""
