"""Frames between the parent and a worker, and the server that forks workers."""
