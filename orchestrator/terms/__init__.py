"""What a session works under: instructions, agents, skills, policy and tools, read from files at its start."""
