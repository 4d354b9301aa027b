"""The clean-state check: is the work safe to leave? One file per check; nothing is run but git, nothing is changed."""
