"""A model endpoint that plays a scenario file over real HTTP, in both wire formats.

`scenario` is the file, `script` decides what comes next, `openai_replies` and `anthropic_replies` write it down,
`playing` sends it over a `connection`, `server` routes, `run` is the program. It stands in for a model in demos, tests
and benchmarks, so it shares no code with the gateway that it is there to test: two readings of one format check each
other.
"""
