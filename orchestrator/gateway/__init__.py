"""The one door to the model: a conversation as values in, a whole reply or a failure as a value out.

Only `transport`, `connection_faults` and `local_servers` know HTTP, through httpx, and are loaded when first needed.
`openai` and `anthropic` are two wire formats as pure functions; `gateway` puts a format, the transport, the gate and
the retries together. Nothing here knows a session, a child or a screen.
"""
