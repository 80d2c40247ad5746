"""Trees in and out of a repository: snapshots, checkouts, three-way merge, landing. Knows no agent and no process."""
