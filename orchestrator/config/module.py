"""A module: a capability that can be turned off. One is a row of `[modules]` in `orchestrator.config.tables`, no more.

Pure. Knows none of them.
"""

import msgspec


class Module(msgspec.Struct, frozen=True):
    """What a module is for, and the tools that are not offered without it."""

    about: str
    tools: tuple[str, ...] = ()
