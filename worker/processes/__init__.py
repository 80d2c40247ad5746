"""Processes owned to their end: trees, shells, guards, and what they print."""
