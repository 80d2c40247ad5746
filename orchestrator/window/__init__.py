"""Window mode: a session over the whole terminal, with mouse and keys.

textual is imported only in this folder, and this folder only where a window opens: help, terminal mode and pipes pay
nothing for it.
"""
