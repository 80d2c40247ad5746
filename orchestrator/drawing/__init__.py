"""Lines and how they look on a terminal: tones, colours, columns, tables, Markdown.

Values and strings, nothing is written and nobody is asked. Knows no session, no child and no tool: what those look like
is in `orchestrator.view`. rich is imported only when something is drawn with it.
"""
