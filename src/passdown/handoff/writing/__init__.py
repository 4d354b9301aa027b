"""What agents are taught: how to leave evidence and finish well, as a skill and as a block in AGENTS.md."""
