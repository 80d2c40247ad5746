"""A conflict's text for a person's editor, and back: `render_conflict` and `read_conflict` are inverses.

The regions are the value; text with markers is a rendering of it, and unedited text reads back to the same
regions. A version that is absent is told apart from an empty one, and a last line without its newline from one
with it. All is pure but `open_conflict`, which reads the blobs.
"""

import re

import msgspec

from merge.merging.conflict import Conflict
from merge.merging.line_merge import (
    Contested,
    Edit,
    Hunk,
    Lines,
    Regions,
    Settled,
    Span,
    join_settled,
    merge_lines,
    parse_edits,
    split_lines,
)
from merge.store.diff_options import PINNED, SWITCHES
from merge.store.git import GitPlace, run_git
from merge.store.objects import read_blobs
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, Entry


class ConflictText(msgspec.Struct, frozen=True):
    """The text of one conflict; `hunks` are its contested places in each version's own lines."""

    regions: Regions
    hunks: tuple[Hunk, ...]


class MarkersBroken(Exception):
    """Raised when the markers of an edited text do not come in their order. `str()` names the line."""


_ABSENT = b" (absent)"
_NO_NEWLINE = b" (no newline at the end)"


def open_conflict(repository: Repository, conflict: Conflict) -> ConflictText | None:
    """Read the text of a conflict; None where it is no text on some side, or can't be merged line by line.

    Raises:
        ObjectMissing: when the repository does not hold one of the versions.
    """
    entries = (conflict.base, conflict.ours, conflict.theirs)
    if conflict.why == "binary" or not any(entries) or not all(map(_may_be_text, entries)):
        return None
    contents = iter(read_blobs(repository, [entry.object for entry in entries if entry is not None]))
    versions = [split_lines(next(contents)) if entry is not None else None for entry in entries]
    if any(b"\0" in line for lines in versions for line in lines or ()):
        return None
    base, ours, theirs = versions
    whole = Hunk(*(Span(0, len(lines or ())) for lines in versions))
    if base is not None and ours is not None and theirs is not None:
        assert conflict.base is not None
        edits = [_edits(repository, conflict.base, side) for side in entries[1:] if side is not None]
        regions, hunks = merge_lines(base, ours, theirs, *edits)
        if hunks:
            return ConflictText(regions, hunks)
    # One version is missing, or the trouble is not one of lines: then all of the file is contested.
    return ConflictText((Contested(base, ours, theirs),), (whole,))


def marker_length(regions: Regions) -> int:
    """How long the markers of a rendering are: longer than whatever looks like one in the text itself."""
    lines = (line for region in regions for _, lines in _blocks(region) for line in lines or ())
    runs = (re.match(rb"<+|\|+|=+|>+", line) for line in lines)
    return 1 + max([6, *(len(run[0]) for run in runs if run is not None)])


def render_conflict(regions: Regions, *, there: str = "the child") -> bytes:
    """The regions as text with markers. `there` names the side that is merged, in one line."""
    length = marker_length(regions)
    names = {"ours": b"here", "base": b"before", "theirs": there.encode()}
    first = next((line for region in regions for _, lines in _blocks(region) for line in lines or ()), b"")
    ending = b"\r\n" if first.endswith(b"\r\n") else b"\n"
    text: list[bytes] = []
    for region in regions:
        if isinstance(region, Settled):
            text += region.lines
            continue
        for name, lines in _blocks(region):
            cut = lines is not None and lines != () and not lines[-1].endswith(b"\n")
            flag = _ABSENT if lines is None else _NO_NEWLINE if cut else b""
            text.append(_SIGNS[name] * length + b" " + names[name] + flag + ending)
            text += lines or ()
            text += [ending] if cut else []
        text.append(_END * length + ending)
    return b"".join(text)


def read_conflict(text: bytes, length: int) -> Regions:
    """The regions of a rendering whose markers have `length`, perhaps edited.

    Raises:
        MarkersBroken: when a marker is missing or comes where it can't.
    """
    regions: list[Settled | Contested] = []
    block: list[bytes] = []
    blocks: dict[str, Lines | None] = {}
    opened: tuple[str, bytes] | None = None
    for number, line in enumerate(split_lines(text), 1):
        name = _marker(line, length)
        if name is None:
            block.append(line)
            continue
        expected = _ORDER[len(blocks) + (opened is not None)]
        if name != expected:
            raise MarkersBroken(f"Line {number} has the marker of {name!r} where {expected!r} is due.")
        if opened is None:
            regions.append(Settled(tuple(block)))
        else:
            blocks[opened[0]] = _close(block, opened[1])
        block = []
        opened = (name, line)
        if name == "end":
            regions.append(Contested(blocks["base"], blocks["ours"], blocks["theirs"]))
            blocks, opened = {}, None
    if opened is not None:
        raise MarkersBroken(f"The text ends where the marker of {_ORDER[len(blocks) + 1]!r} is due.")
    regions.append(Settled(tuple(block)))
    return join_settled(regions)


def resolved_content(regions: Regions) -> bytes | None:
    """The file's content when nothing is contested any more, else None."""
    lines: list[bytes] = []
    for region in regions:
        if not isinstance(region, Settled):
            return None
        lines += region.lines
    return b"".join(lines)


_SIGNS = {"ours": b"<", "base": b"|", "theirs": b"="}
_END = b">"
_ORDER = ("ours", "base", "theirs", "end")


def _blocks(region: Settled | Contested) -> list[tuple[str, Lines | None]]:
    if isinstance(region, Settled):
        return [("settled", region.lines)]
    return [("ours", region.ours), ("base", region.base), ("theirs", region.theirs)]


def _marker(line: bytes, length: int) -> str | None:
    """Which marker the line is: a run of one sign of just this length, then a space or the line's end."""
    for name, sign in (*_SIGNS.items(), ("end", _END)):
        if line.startswith(sign * length) and line[length : length + 1] in (b" ", b"\r", b"\n", b""):
            return name
    return None


def _close(block: list[bytes], marker: bytes) -> Lines | None:
    """The lines of a block, by what its opening marker says of them."""
    ending = b"\r\n" if marker.endswith(b"\r\n") else b"\n"
    words = marker.removesuffix(ending)
    if words.endswith(_ABSENT) and not block:
        return None
    if words.endswith(_NO_NEWLINE) and block:
        return (*block[:-1], block[-1].removesuffix(ending))
    return tuple(block)


def _may_be_text(entry: Entry | None) -> bool:
    return entry is None or entry.mode in (FILE, EXECUTABLE)


def _edits(repository: Repository, base: Entry, side: Entry) -> tuple[Edit, ...]:
    place = GitPlace(repository.root, git_dir=repository.git_dir, switches=SWITCHES)
    return parse_edits(run_git(place, "diff", "-U0", "--text", *PINNED, base.object, side.object).output)
