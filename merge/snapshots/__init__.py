"""A working tree as a tree: what is in it, what is left out, submodules and folders without a repository."""
