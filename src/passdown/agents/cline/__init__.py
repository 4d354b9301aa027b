"""Cline, and what grew out of it: Roo Code and Kilo Code."""
