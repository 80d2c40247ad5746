"""Names that tools had before, or that models know them by: never advertised, always carried out by the tool of today.

Each is a name of today and a function that puts its arguments into that tool's. Pure; knows no tool, and whether one of
today's is there at all is nobody's concern here.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Given = dict[str, Any]


class Older(NamedTuple):
    """The name of today, and how arguments become its own."""

    tool: str
    translate: Callable[[Given], Given]


def _renaming(**today: str) -> Callable[[Given], Given]:
    """Arguments by the names that they have today: `_renaming(old="old_text old_string")`."""
    names = {older: name for name, others in today.items() for older in others.split()}

    def translate(given: Given) -> Given:
        return {names.get(name, name): value for name, value in given.items()}

    return translate


def _with(translate: Callable[[Given], Given], **fixed: object) -> Callable[[Given], Given]:
    return lambda given: {**translate(given), **fixed}


_PATH = "file file_path filename"
_REPLACED = {"old": "old_text old_string search find", "new": "new_text new_string replacement replace"}

_plain = _renaming(path=_PATH)
_replacing = _renaming(path=_PATH, all="replace_all", **_REPLACED)


def _listing(given: Given) -> Given:
    return {"path": ".", **_renaming(path=f"{_PATH} dir directory folder")(given)}


def _grepping(given: Given) -> Given:
    today = _renaming(
        glob="include file_pattern", path="dir directory", pattern="query regex", output="output_mode"
    )
    translated = today(given)
    ignores_case = translated.pop("ignore_case", translated.pop("case_insensitive", None))
    if ignores_case is not None:
        translated["case_sensitive"] = not ignores_case
    return translated


def _many(given: Given) -> Given:
    translated = _renaming(path=_PATH, edits="replacements texts changes")(given)
    edits = translated.get("edits")
    if isinstance(edits, list):
        one = _renaming(**_REPLACED)
        translated["edits"] = [one(edit) if isinstance(edit, dict) else edit for edit in edits]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    elif "old" in (single := _renaming(path=_PATH, **_REPLACED)(given)):
        old, new = single.pop("old"), single.pop("new", "")
        return {**single, "edits": [{"old": old, "new": new}]}
    return translated


def _paging(given: Given) -> Given:
    """`offset` and `limit`, as `read` has them, for `start` and `end`."""
    translated = _renaming(path=_PATH, start="start_line", end="end_line")(given)
    offset, limit = translated.pop("offset", None), translated.pop("limit", None)
    if isinstance(offset, int) and "start" not in translated:
        translated["start"] = offset
    if isinstance(limit, int) and "end" not in translated:
        translated["end"] = max(1, int(translated.get("start") or 1)) + limit - 1
    return translated


_lines = _renaming(path=_PATH, tag="start start_tag line", end_tag="end", new="text content new_text lines")

OLDER_NAMES: Mapping[str, Older] = {
    "list_dir": Older("read", _listing),
    "show_image": Older("read", _plain),
    "grep": Older("search", _grepping),
    "glob": Older("search", _renaming(glob="pattern", path="dir directory")),
    "replace_text": Older("edit", _replacing),
    "replace_lines": Older("edit", _lines),
    "insert_after": Older("edit", _renaming(path=_PATH, tag="after line", text="content new lines")),
    "delete_lines": Older("edit", _with(_lines, op="delete")),
    "replace_texts": Older("edit", _many),
    "diagnostics": Older("lsp", _with(_plain, action="diagnostics")),
    "definition": Older("lsp", _with(_plain, action="definition")),
    "web_search": Older("web", _renaming(query="q search")),
    "web_fetch": Older("web", _renaming(url="link address")),
    # Still tools of their own; other names of their arguments are understood.
    "read_file": Older("read_file", _paging),
    "write_file": Older("write_file", _renaming(path=_PATH, content="text contents")),
    "edit_file": Older("edit_file", _many),
}
