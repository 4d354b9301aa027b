"""Kimi Code, and Kimi CLI, which it grew out of."""
