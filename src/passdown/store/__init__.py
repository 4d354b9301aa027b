"""Packets on disk: where they lie, which is active, the mirror, the lock."""
