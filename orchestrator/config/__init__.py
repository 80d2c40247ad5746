"""What a session is configured with: tables, the layers they come from, and what follows from them.

A new table or key is added in `tables`, and nowhere else.
"""
