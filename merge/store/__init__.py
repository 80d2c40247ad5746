"""What git keeps: objects, trees, commits, settings and indexes, each behind one door."""
