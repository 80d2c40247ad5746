"""The nouns of this room: object ids, paths as git stores them, entries of a tree, and one path's change.

A path is bytes, relative to the root of the tree, with `/` between its parts, whatever its encoding. `show_path` is
how one is told to a person or a model. Nothing here reads a repository.
"""

from typing import NewType

import msgspec

ObjectId = NewType("ObjectId", str)
"""A blob, tree or commit, in hexadecimal: 40 digits, or 64 in a SHA-256 repository."""

RepoPath = NewType("RepoPath", bytes)
"""A path inside a tree, e.g. `b"src/caf\\xe9.py"`."""

FILE = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000
SUBMODULE = 0o160000


class Entry(msgspec.Struct, frozen=True):
    """What stands at a path: git's mode and the object's id. Absence is `None`, a value like any other."""

    mode: int
    object: ObjectId


class Change(msgspec.Struct, frozen=True):
    """One path that differs between two trees. Never both sides `None`, never both equal."""

    path: RepoPath
    before: Entry | None
    after: Entry | None


def show_path(path: bytes) -> str:
    """`path` as text: itself when it is plain UTF-8, else quoted as git quotes it (`"caf\\351.py"`)."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and text.isprintable() and not set(text) & {'"', "\\"}:
        return text
    return '"' + "".join(_quote(byte) for byte in path) + '"'


def _quote(byte: int) -> str:
    names = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}
    if byte in names:
        return names[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
