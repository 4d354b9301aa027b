"""Secrets and invisible characters: the rule table, the scanner, and the one boundary every outgoing text passes."""
