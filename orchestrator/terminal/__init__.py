"""The terminal front end: a session in lines that scroll up, the rows below them, and the keys of a line editor.

How lines look is `orchestrator.drawing`'s, what may be told covey `orchestrator.commands`'. prompt_toolkit is imported
only in this folder, and only when it is used: a session that is fed from a pipe does not pay for it.
"""
