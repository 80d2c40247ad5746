"""A terminal of any height that understands what covey draws with, and reflows its lines when it is resized.

An independent witness for what stands on the screen after a stream of bytes. What it does not know fails the
test.
"""

import re

from rich.cells import cell_len

_TOKEN = re.compile(r"\x1b\[(\?)?([0-9;]*)([A-Za-z])|[\r\n\b]|[^\x1b\r\n\b]", re.DOTALL)


class SmallTerminal:
    """Rows of cells; a row that was filled by wrapping goes on in the next one, also after a resize."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.cursor_hidden = False
        self.pastes_bracketed = False
        self._rows: list[list[str]] = [[]]
        self._wraps: list[bool] = [False]
        self._row = 0
        self._column = 0

    def feed(self, text: str) -> None:
        end = 0
        for token in _TOKEN.finditer(text):
            assert token.start() == end, f"not understood: {text[end : end + 20]!r}"
            end = token.end()
            if token[3]:
                self._obey(token[1] or "", token[2], token[3])
            elif token[0] == "\r":
                self._column = 0
            elif token[0] == "\b":
                self._column = max(0, self._column - 1)
            elif token[0] == "\n":
                self._row += 1
                self._column = 0
                self._make_row()
            else:
                self._put(token[0])
        assert end == len(text), f"not understood: {text[end:]!r}"

    def resize(self, columns: int) -> None:
        """Another width: wrapped rows are joined and cut anew; the cursor stays on its character."""
        lines: list[list[str]] = []
        cursor = (0, 0)
        new_line = True
        for number, (cells, wraps) in enumerate(zip(self._rows, self._wraps, strict=True)):
            if new_line:
                lines.append([])
            if number == self._row:
                cursor = (len(lines) - 1, len(lines[-1]) + self._column)
            lines[-1] += cells
            new_line = not wraps
        self.columns = columns
        self._rows, self._wraps = [], []
        for number, cells in enumerate(lines):
            if number == cursor[0]:
                self._row = len(self._rows) + min(cursor[1] // columns, max(0, len(cells) - 1) // columns)
                self._column = cursor[1] - (self._row - len(self._rows)) * columns
            pieces = [cells[at : at + columns] for at in range(0, len(cells), columns)] or [[]]
            self._rows += pieces
            self._wraps += [True] * (len(pieces) - 1) + [False]

    def lines(self) -> list[str]:
        """The text, without blanks at the ends of lines; wrapped rows are one line."""
        joined = ""
        for cells, wraps in zip(self._rows, self._wraps, strict=True):
            joined += "".join(cells) + ("" if wraps else "\n")
        lines = [line.rstrip() for line in joined.removesuffix("\n").split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _obey(self, private: str, parameters: str, final: str) -> None:
        match private + parameters + final:
            case "?25l" | "?25h":
                self.cursor_hidden = final == "l"
            case "?2004h" | "?2004l":
                self.pastes_bracketed = final == "h"
            case "J":
                self._erase_to_end_of_row()
                del self._rows[self._row + 1 :]
                del self._wraps[self._row + 1 :]
            case "K":
                self._erase_to_end_of_row()
            case _ if final == "A" and not private:
                self._row = max(0, self._row - int(parameters or 1))
            case _ if final == "C" and not private:
                self._column += int(parameters or 1)
            case _ if final == "D" and not private:
                self._column = max(0, self._column - int(parameters or 1))
            case _ if final == "m" and not private:
                pass
            case "?7l" | "?7h" | "?1l" | "?12l":  # wrapping, cursor keys, blinking: no matter here
                pass
            case other:
                raise AssertionError(f"not understood: ESC [ {other}")

    def _erase_to_end_of_row(self) -> None:
        del self._rows[self._row][self._column :]
        self._wraps[self._row] = False

    def _put(self, character: str) -> None:
        width = cell_len(character)
        if self._column + width > self.columns:
            self._wraps[self._row] = True
            self._row += 1
            self._column = 0
            self._make_row()
        cells = self._rows[self._row]
        cells += [" "] * (self._column - len(cells))
        cells[self._column : self._column + width] = [character, *[""] * (width - 1)]
        self._column += width

    def _make_row(self) -> None:
        if self._row == len(self._rows):
            self._rows.append([])
            self._wraps.append(False)
