"""Ambiguity: what is left can be read in more than one way."""
