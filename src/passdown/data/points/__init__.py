"""Where to cut a trajectory: detectors that say where, one family a file, and the choice among what they find."""
