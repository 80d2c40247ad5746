"""Turns edits, as a model wrote them, into splices of a text's bytes, and applies them all at once.

Every edit is resolved against the text as it is, never against the result of the one before, and two that change the
same bytes are refused. Pure: a text and edits in, the new text or a refusal out.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import msgspec

from worker.tools.body import Body
from worker.tools.find_text import find_text, refuse_missing, refuse_several
from worker.tools.refusals import ToolRefused
from worker.tools.tag_lookup import line_named
from worker.tools.text_file import Coding, NotEncodable

Old = Annotated[
    str | None, msgspec.Meta(description="Exact text to replace; it must occur once, unless all is true.")
]
New = Annotated[
    str | None,
    msgspec.Meta(description="What replaces old, or the line that tag names. May be several lines."),
]
All = Annotated[bool, msgspec.Meta(description="Replace every occurrence of old.")]
Tag = Annotated[
    str | None,
    msgspec.Meta(description="The tag N:hash of a line, as read shows it. To insert at the top: 0."),
]
EndTag = Annotated[
    str | None, msgspec.Meta(description="The tag of the last line, where the edit is about several lines.")
]
Text = Annotated[str | None, msgspec.Meta(description="Lines to insert after the line that tag names.")]
Op = Annotated[
    Literal["replace", "insert", "delete"] | None,
    msgspec.Meta(description="Needed for delete; replace and insert follow from new and text."),
]


class OneEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change of a text."""

    old: Old = None
    new: New = None
    all: All = False
    tag: Tag = None
    end_tag: EndTag = None
    text: Text = None
    op: Op = None


class Splice(NamedTuple):
    """`data` in place of the bytes from `start` to `end`. An insertion stands between lines and takes none away."""

    start: int
    end: int
    data: bytes
    edit: int
    insertion: bool = False


@dataclass(frozen=True)
class Planned:
    """A text after its edits, and the splices that made it, in the order of the text before."""

    text: bytes
    splices: list[Splice]


def plan(text: bytes, coding: Coding, edits: Sequence[OneEdit]) -> Planned:
    """Apply `edits` to `text`.

    Raises:
        ToolRefused: when one of them does not fit the text, or two of them meet. `str()` says which and why.
    """
    body = Body(text, coding)
    splices: list[Splice] = []
    for number, edit in enumerate(edits, 1):
        try:
            splices += _splices(edit, body, number)
        except (ToolRefused, NotEncodable) as fault:
            which = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            raise ToolRefused(f"{which}{fault}\nNothing was written.") from None
    # Where an insertion and a change begin at one place, the inserted lines come first; two insertions keep order.
    splices.sort(key=lambda splice: (splice.start, splice.end, not splice.insertion))
    for before, after in itertools.pairwise(splices):
        both_change = before.start == after.start and not before.insertion and not after.insertion
        if before.end > after.start or both_change:
            one, other = sorted((before.edit, after.edit))
            raise ToolRefused(
                f"Edits {one} and {other} change the same place (line {body.line_at(after.start)});"
                " make one edit of them. Nothing was written."
            )
    last_changed = splices[-1].end if splices else 0
    return Planned(body.join(_parts(body.bytes, splices), last_changed), splices)


def _parts(text: bytes, splices: Sequence[Splice]) -> list[bytes | memoryview]:
    """What the text consists of after its splices; the last part is what stands behind them."""
    parts: list[bytes | memoryview] = []
    view = memoryview(text)
    at = 0
    for splice in splices:
        parts += [view[at : splice.start], splice.data]
        at = splice.end
    parts.append(view[at:])
    return parts


def _splices(edit: OneEdit, body: Body, number: int) -> list[Splice]:
    if edit.end_tag is not None and edit.tag is None:
        raise ToolRefused("end_tag names the last line of several; give the first one with tag.")
    bare_text = edit.text is not None and edit.new is None and edit.old is None
    if edit.op == "insert" or (edit.op is None and bare_text):
        return [_insertion(edit, body, number)]
    if edit.op == "delete" and (edit.new is not None or edit.text is not None):
        raise ToolRefused("op delete takes away what tag or old names; leave out new and text.")
    if edit.text is not None:
        raise ToolRefused(
            "text is for inserting after the line that tag names; what replaces something is new."
        )
    if edit.old is not None:
        return _replacements(edit, body, number)
    if edit.tag is None:
        raise ToolRefused(
            "It does not say what to change: give old and new, or tag and new, or tag and text to insert lines,"
            " or tag and op delete."
        )
    if edit.all:
        raise ToolRefused("all is for old; a tag names one line.")
    return [_line_change(edit, body, number)]


def _insertion(edit: OneEdit, body: Body, number: int) -> Splice:
    added = edit.text if edit.text is not None else edit.new
    if added is None or edit.tag is None or edit.old is not None or edit.end_tag is not None or edit.all:
        raise ToolRefused(
            "An insert takes tag and text, and nothing else: the lines go after the line of the tag."
        )
    line = 0 if edit.tag.strip() in ("0", "0:") else line_named(edit.tag, body)
    at = body.span(line)[2] if line else 0
    ending = body.ending_of(line or 1)
    return Splice(at, at, body.encode(added.removesuffix("\n"), ending) + ending, number, insertion=True)


def _line_change(edit: OneEdit, body: Body, number: int) -> Splice:
    first, last = _lines_named(edit, body)
    start = body.span(first)[0]
    _, end, following = body.span(last)
    if edit.op == "delete":
        return Splice(start, following, b"", number)
    if edit.new is None:
        raise ToolRefused("new is missing: what the line is to be. To take the line away give op delete.")
    # A last line feed ends the last line, as it does in a file; the line's own ending stays where it is.
    return Splice(start, end, body.encode(edit.new.removesuffix("\n"), body.ending_of(first)), number)


def _replacements(edit: OneEdit, body: Body, number: int) -> list[Splice]:
    new = "" if edit.op == "delete" else edit.new
    if new is None:
        raise ToolRefused("new is missing: what old becomes. To take old away give an empty new.")
    if not edit.old:
        raise ToolRefused("old is empty. To insert lines give tag and text; to fill a file use write.")
    if edit.old == new:
        raise ToolRefused("old and new are the same; there is nothing to change.")
    start, end = 0, len(body.bytes)
    if edit.tag is not None:
        first, last = _lines_named(edit, body)
        start, end = body.span(first)[0], body.span(last)[2]
    found = find_text(body, edit.old, start, end)
    if not found:
        raise refuse_missing(body, edit.old)
    if len(found) > 1 and not edit.all:
        raise refuse_several(body, found)
    splices: list[Splice] = []
    at = 0
    for start, end in found:
        if start >= at:
            splices.append(Splice(start, end, body.encode(new, body.ending_within(start, end)), number))
            at = end
    return splices


def _lines_named(edit: OneEdit, body: Body) -> tuple[int, int]:
    first = line_named(edit.tag or "", body)
    last = first if edit.end_tag is None else line_named(edit.end_tag, body)
    if last < first:
        raise ToolRefused(
            f"end_tag names line {last}, which stands before line {first} of tag; exchange them."
        )
    return first, last
