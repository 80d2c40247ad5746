"""The one door to the model."""
