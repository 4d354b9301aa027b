"""One way of working a file: scripts that act through an `Actor` as an agent would."""
