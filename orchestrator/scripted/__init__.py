"""A model endpoint that plays a scenario file over real HTTP, in both wire formats.

`scenario` is the file, `script` decides what comes next, `openai_replies` and `anthropic_replies` write it
down, `server` sends it. Only `server` does I/O. It stands in for a model in demos, tests and benchmarks, so
it shares no code with the gateway that it is there to test, beyond the names of things.
"""
