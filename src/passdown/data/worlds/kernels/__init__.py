"""One kind of program a file: its source as it should be, what can be wrong with it, and the worlds made of that."""
