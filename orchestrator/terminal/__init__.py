"""The terminal front end: a session in lines that scroll up, the rows below them, and what a person types.

How lines look is `orchestrator.drawing`'s. prompt_toolkit is imported only in this folder, and only when it is used: a
session that is fed from a pipe does not pay for it.
"""
