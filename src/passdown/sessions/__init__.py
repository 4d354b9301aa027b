"""Sessions across agents: find those of a repository, read one, fold it into counts, choose which feed a packet."""
