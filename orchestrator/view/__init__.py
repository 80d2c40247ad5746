"""What a session looks like, whoever draws it: children as rows, receipts, transcripts as blocks and lines.

Pure. Terminal mode, the window, runs without a person and `covey watch` show these; nothing here knows a screen or a
toolkit. How a line looks is `orchestrator.drawing`'s.
"""
