"""Decay: what the session before knew is no longer there."""
