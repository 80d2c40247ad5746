"""A model endpoint that plays a scenario file over real HTTP."""
