"""Text on its way in and out: lone surrogates mended, long words cut to one short line, keys taken out.

Python strings can hold what UTF-8 cannot: half of a pair when a server cut an emoji in two, a byte of a file
name that is not UTF-8. Both must survive a request, a journal and a screen.
"""

from orchestrator.gateway.endpoint import Key

_LINE_LIMIT = 300


def mend(text: str) -> str:
    """`text` with split surrogate pairs joined and lone halves replaced, so that it encodes as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def short_line(text: str, key: Key | None) -> str:
    """`text` as one line of at most 300 characters, without the key and without a period at its end."""
    if key is not None:
        text = text.replace(key.reveal(), "(key)")
    line = " ".join("".join(c if c.isprintable() else " " for c in mend(text)).split())
    if len(line) > _LINE_LIMIT:
        line = line[: _LINE_LIMIT - 1] + "…"
    return line.rstrip(". ")
