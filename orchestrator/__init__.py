"""The parent: the session, its children, the door to the model, and what a person sees."""
