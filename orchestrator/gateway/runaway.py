"""When a tool call's streamed arguments have run away: a derailed model repeats one pattern, or never ends.

The thresholds are the documented behaviour of the loop detection: the last 256 characters are one pattern of
4 to 64 characters, or there are more than 256 KB of them.
"""

_WINDOW = 256
_PATTERN_LENGTHS = range(4, 65)
_LIMIT = 256 * 1024


def runaway_detail(tail: str, characters: int) -> str | None:
    """What went wrong with a call, or None while it looks sane.

    `tail` is the end of its arguments, at least 256 characters where there are that many; `characters` counts
    all.
    """
    if characters > _LIMIT:
        return f"its arguments passed {_LIMIT // 1024} KB ({characters} characters so far)"
    pattern = _repeated_pattern(tail[-_WINDOW:])
    if pattern is None:
        return None
    shown = pattern if len(pattern) <= 40 else pattern[:39] + "…"
    return f"its arguments repeat the same pattern ({characters} characters so far: {shown!r})"


def _repeated_pattern(window: str) -> str | None:
    if len(window) < _WINDOW:
        return None
    # A text repeats with a period exactly when it equals itself shifted by that period.
    for length in _PATTERN_LENGTHS:
        if window.startswith(window[length:]):
            return window[:length]
    return None
