"""Base, one side and the other: merged, or a conflict as data, and how a conflict is resolved."""
