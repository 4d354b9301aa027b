"""Views: what a successor is given at a cut, made from a prefix and nothing else."""
