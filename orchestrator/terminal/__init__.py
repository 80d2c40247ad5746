"""The terminal front end: reads events, draws rows, asks for requests."""
