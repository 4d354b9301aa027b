"""Benchmarks of `passdown data`."""
