"""Trajectories of agents in the formats that evaluations and training data use: one file a format."""
