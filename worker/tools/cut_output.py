"""How the tools of the classic set keep their output within its limit, which is counted in characters. Pure."""


def cut_output(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, with a line that says so where there are more."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[output truncated: the first {limit:,} characters are shown]"
