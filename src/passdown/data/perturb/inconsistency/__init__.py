"""Inconsistency: the notes and the tree no longer say the same."""
