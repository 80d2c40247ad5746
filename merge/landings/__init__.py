"""A result into the person's working tree: weighed, planned, journaled, written, recovered, undone."""
