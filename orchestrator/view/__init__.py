"""What a session looks like, whoever draws it: transcripts as blocks and lines, folded from the journal.

Pure. The window, `covey watch` and the benchmarks read these; nothing here knows a terminal or a toolkit.
"""
