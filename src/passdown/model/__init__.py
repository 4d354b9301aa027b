"""Frozen records that every other part speaks. Floor 0: no I/O, no rules."""
