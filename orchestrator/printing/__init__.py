"""Standard output, whoever writes to it: a session as long as it runs, or a verb that prints once and ends.

`paper` is where is written, and whether anybody still reads it; `once` prints lines and JSON. How a line looks is
`orchestrator.drawing`'s; nothing here knows a session or a child.
"""
