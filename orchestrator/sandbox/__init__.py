"""What a child may touch and which variables it sees, as values; the worker holds itself to them."""
