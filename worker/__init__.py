"""One agent at work: the wire, the loop and the tools. Knows nothing of the orchestrator or of merging."""
