"""The only code that touches the outside: files, lines, databases and the git binary."""
