"""The terminal front end: reads events, draws rows, asks for requests.

rich and prompt_toolkit are imported only in this folder, and only when they are used: a session that is fed
from a pipe and writes to a file pays for neither.
"""
