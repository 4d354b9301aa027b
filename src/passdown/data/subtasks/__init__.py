"""Subtasks of a recorded run, by rule: what there was to do, what waits for what, and how far each was."""
