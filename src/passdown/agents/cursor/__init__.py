"""Cursor's agent, in the terminal and in the editor."""
