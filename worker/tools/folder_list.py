"""A folder as a list for a reader: folders first, then files with their sizes, one a line.

Nothing is opened and no symbolic link is followed further than to learn where it leads. Knows no tool.
"""

import os
import stat
from pathlib import Path

from worker.path_text import quote_path
from worker.tools.refusals import system_refusal
from worker.tools.regular_file import describe_size


def list_folder(folder: Path, shown: str) -> list[str]:
    """One line for each entry of `folder`, hidden ones too.

    Raises:
        ToolRefused: when the folder can't be read.
    """
    try:
        with os.scandir(folder) as found:
            entries = sorted((not _is_folder(entry), entry.name, _line(entry)) for entry in found)
    except OSError as error:
        raise system_refusal(error, shown) from None
    return [line for _, _, line in entries]


def _line(entry: "os.DirEntry[str]") -> str:
    name = quote_path(entry.name)
    try:
        if entry.is_symlink():
            slash = "/" if _is_folder(entry) else ""
            return f"{name}{slash} -> {quote_path(os.readlink(entry.path))}"
        if entry.is_dir():
            return f"{name}/"
        found = entry.stat()
    except OSError as error:
        return f"{name}  ({error.strerror})"
    if not stat.S_ISREG(found.st_mode):
        return f"{name}  (no regular file)"
    return f"{name}  {describe_size(found.st_size)}"


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a symbolic link that leads in a circle, or where it may not
        return False
