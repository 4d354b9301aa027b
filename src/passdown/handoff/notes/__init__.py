"""Leaving evidence: one line of a decision, a question, a clue, the next step, and what is done with it later."""
