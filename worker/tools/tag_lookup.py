"""Finds the line that a tag names in a text, and refuses a tag that is stale or ambiguous, with the lines as they are.

A tag holds only where its number and its hash agree. A line that has moved is told with its new tag and is left to the
model: a hash of four digits is too short to edit another line by it.
"""

from collections.abc import Sequence

from worker.tools.body import Body
from worker.tools.lines import hash_of, lines_with_hash, parse_tag, split_lines, tag_line
from worker.tools.refusals import ToolRefused, counted, short

_MOST_TOLD = 10


def line_named(written: str, body: Body) -> int:
    """The number of the line that `written` names: `N:hash`, or a hash that only one line has.

    Raises:
        ToolRefused: when it is no tag, is stale, or names several lines.
    """
    tag = parse_tag(written)
    if tag is None:
        raise ToolRefused(
            f"{short(written)!r} is no tag; a tag is N:hash, as read shows it before each line."
        )
    number = tag.number
    if number is not None and 1 <= number <= body.lines and hash_of(body.line(number)) == tag.hash:
        return number
    lines = split_lines(body.bytes)
    alike = lines_with_hash(lines, tag.hash)
    if number is None:
        if len(alike) == 1:
            return alike[0]
        fault = (
            "is ambiguous; these lines have it" if alike else "is stale: no line has it. Read the file again"
        )
        raise ToolRefused(_told(f"The hash {tag.hash} {fault}{':' if alike else '.'}", alike, lines))
    if not 1 <= number <= len(lines):
        fault = f"Tag {number}:{tag.hash} is stale: the file has {counted(len(lines), 'line')} now."
    else:
        fault = (
            f"Tag {number}:{tag.hash} is stale; line {number} is now:\n{tag_line(number, lines[number - 1])}"
        )
    if not alike:
        raise ToolRefused(f"{fault}\nNo line has this hash: read the file again.")
    where = (
        "The line seems to be here now:" if len(alike) == 1 else "It is ambiguous which of these is meant:"
    )
    raise ToolRefused(_told(f"{fault}\n{where}", alike, lines))


def _told(lead: str, numbers: Sequence[int], lines: Sequence[bytes]) -> str:
    more = len(numbers) - _MOST_TOLD
    shown = [tag_line(number, lines[number - 1]) for number in numbers[:_MOST_TOLD]]
    return "\n".join([lead, *shown, *([f"[… and {more} more]"] if more > 0 else [])])
