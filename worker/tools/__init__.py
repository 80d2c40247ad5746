"""The tools a model may call: one module each."""
