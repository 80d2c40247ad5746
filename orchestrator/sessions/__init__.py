"""The sessions of a workspace as records: listed, and exported as data or as a text to read."""
