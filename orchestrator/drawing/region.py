"""The last lines of a terminal, drawn again and again in place, while other text scrolls up above them.

Pure: keeps what stands on the terminal and makes the bytes that change it; someone else writes them. Each
change is one string, so a terminal shows it at once. rich's own live display is not used: it redraws from a
thread, and after a terminal was made narrower it counts the old lines, not the rows they wrap to, and
leaves their remains behind.
"""

from collections.abc import Sequence

HIDE_CURSOR = "\x1b[?25l"
SHOW_CURSOR = "\x1b[?25h"
_ERASE_BELOW = "\x1b[J"
_ERASE_TO_END_OF_LINE = "\x1b[K"


class Region:
    """How wide each line at the bottom is now. The cursor stays behind the last one."""

    def __init__(self) -> None:
        self._widths: list[int] = []

    def redraw(self, above: str, lines: Sequence[tuple[str, int]], columns: int) -> str:
        """Put `above` over the region, whole lines or nothing, and make the region `lines` (text, its width).

        `columns` is how wide the terminal is now, perhaps not as wide as at the last drawing. A line has to
        be narrower than that.
        """
        if not (above or lines or self._widths):
            return ""
        begin = self._to_the_first_line(columns)
        end = _ERASE_BELOW if self._widths else ""
        if above:
            # Its lines are of any length: what stands there is taken away first.
            begin, end = begin + end + above, ""
        self._widths = [width for _, width in lines]
        return begin + "\n".join(text + _ERASE_TO_END_OF_LINE for text, _ in lines) + end

    def _to_the_first_line(self, columns: int) -> str:
        rows = sum(max(1, -(-width // max(1, columns))) for width in self._widths)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") if rows else ""
