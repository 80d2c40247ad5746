"""The children of a session: who runs, what one life consists of, where each stands, and what the dead left."""
