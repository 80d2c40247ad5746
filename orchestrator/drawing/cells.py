"""How many columns of a terminal a text takes, and how to make it fit.

The measuring is rich's. Pure; knows no line and no screen.
"""


def width_of(text: str) -> int:
    """The columns that `text` takes; it holds no newline."""
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int, ellipsis: str) -> str:
    """`text` in at most `width` columns; `ellipsis` (one column) ends what had to be cut."""
    from rich.cells import set_cell_size

    if width_of(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ellipsis if width > 0 else ""


def pad(text: str, width: int) -> str:
    """`text` with spaces behind it up to `width` columns."""
    return text + " " * (width - width_of(text))


def chop(text: str, width: int) -> list[str]:
    """`text`, which holds no newline, as pieces of at most `width` columns, at least one."""
    from rich.cells import chop_cells

    return chop_cells(text, max(2, width)) if text else [""]
