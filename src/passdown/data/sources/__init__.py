"""Sources: what trajectories come from. One file a source; every one of them yields trajectories and rejects."""
