"""The folder that a child edits: the ways to make one, and the result that is taken from it."""
