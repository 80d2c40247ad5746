"""What an edit did, for the model: the lines as they are now, with their tags, so that it can go on from there.

Pure: the text after the edits and its splices in, lines out.
"""

from collections.abc import Sequence

from worker.tools.edit_plan import Splice
from worker.tools.lines import tag_line

_MOST_LINES = 60


def changed_lines(text: bytes, splices: Sequence[Splice]) -> list[str]:
    """The changed lines of `text`, which the splices have made, tagged, with a line before and after each place."""
    shown: list[str] = []
    for first, start, end in _regions(text, splices):
        if shown:
            shown.append("…")
        # What has no line ending behind it is the last line, or the nothing after the last ending.
        lines = text[start:end].split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, first):
            if len(shown) >= _MOST_LINES:
                return [*shown, f"[More has changed; read it from line {number} on.]"]
            shown.append(tag_line(number, line.removesuffix(b"\r")))
    return shown


def lines_shifted(before: bytes, splices: Sequence[Splice]) -> int:
    """By how many lines what stands below the last change has moved down; `before` is the text that was spliced."""
    return sum(splice.data.count(b"\n") - before.count(b"\n", splice.start, splice.end) for splice in splices)


def _regions(text: bytes, splices: Sequence[Splice]) -> list[tuple[int, int, int]]:
    """The places to show, in order and apart: the number of the first line, and where they start and end."""
    regions: list[tuple[int, int, int]] = []
    shift, counted, number = 0, 0, 1
    for splice in splices:
        at = min(splice.start + shift, len(text))
        to = min(at + len(splice.data), len(text))
        shift += len(splice.data) - (splice.end - splice.start)
        if splice.data.endswith(b"\n"):
            to -= 1  # the line after what was put in has not changed
        start = text.rfind(b"\n", 0, at) + 1
        end = text.find(b"\n", to) + 1 or len(text)
        # One line more on either side shows that the right place was met.
        start = text.rfind(b"\n", 0, start - 1) + 1 if start else 0
        end = text.find(b"\n", end) + 1 or len(text)
        if regions and start <= regions[-1][2]:
            regions[-1] = (*regions[-1][:2], max(end, regions[-1][2]))
            continue
        number += text.count(b"\n", counted, start)
        counted = start
        regions.append((number, start, end))
        if len(regions) > _MOST_LINES:
            break
    return regions
