"""Samples: which cut, view and continuation make one; rendered as messages with a role for every span of text."""
