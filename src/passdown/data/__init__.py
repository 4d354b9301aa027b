"""HANDOFF-DATA: from recorded trajectories to handoff-aware training and evaluation data.

Imports inside go one way: records, actions, trajectory, prefix, sources, replay, subtasks, points, views, perturb,
samples, filters, export, engine.
"""
