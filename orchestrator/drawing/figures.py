"""Times, tokens and counts as a person reads them. Pure."""

from collections.abc import Iterable


def clock(seconds: float) -> str:
    """A running time of fixed form: `0:07`, `12:40`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def duration(seconds: float) -> str:
    """How long something took: `0.3 s`, `41 s`, `12 min 40 s`, `1 h 2 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole // 60 % 60} min"


def age(seconds: float) -> str:
    """How long ago something was, roughly: `now`, `5 min`, `3 h`, `2 days`."""
    minutes = int(max(0.0, seconds)) // 60
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else count(minutes // (24 * 60), "day")


def ago(seconds: float) -> str:
    """`just now`, `5 min ago`."""
    return "just now" if age(seconds) == "now" else f"{age(seconds)} ago"


def short_tokens(tokens: int) -> str:
    """Tokens in at most five characters: `950`, `12.3k`, `134k`, `2.1M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 99_950:
        return f"{tokens / 1_000:.1f}k"
    if tokens < 999_500:
        return f"{tokens / 1_000:.0f}k"
    return f"{tokens / 1_000_000:.1f}M"


_PLURALS = {"child": "children", "search": "searches"}


def count(number: int, thing: str) -> str:
    """`1 file`, `2 files`, `1,200 searches`, `3 children`."""
    plural = _PLURALS.get(thing, f"{thing}s")
    return f"{number:,} {thing if number == 1 else plural}"


def tally(words: Iterable[str]) -> str:
    """How often each word occurs, in the order of their first: `5 landed, 1 conflict`."""
    numbers: dict[str, int] = {}
    for word in words:
        numbers[word] = numbers.get(word, 0) + 1
    return ", ".join(f"{number} {word}" for word, number in numbers.items())
