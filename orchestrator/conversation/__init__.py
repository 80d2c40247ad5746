"""What every agent's model call passes through: budget, journal, compaction, the choice of the model."""
