"""What git says about a repository, on top of `passdown.io.git`: one snapshot, read without changing anything."""
