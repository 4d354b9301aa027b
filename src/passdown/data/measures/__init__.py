"""What a handoff cost and what got lost: the measures, each a pure function. `None` means undefined, never zero."""
