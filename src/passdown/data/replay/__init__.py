"""Replay: the files at every step of a recorded run, without running anything of it."""
