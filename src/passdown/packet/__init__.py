"""The packet: from evidence to `handoff.json` and `handoff.md`. Pure functions; no clock, no files, no processes."""
