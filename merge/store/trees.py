"""The nouns of this room: object ids, paths as git stores them, entries of a tree, and one path's change.

A path is bytes, relative to the root of the tree, with `/` between its parts, whatever its encoding.
`show_path` is how one is told to a person or a model. Nothing here reads a repository.
"""

from collections.abc import Mapping
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
FOLDER = 0o040000


class Entry(msgspec.Struct, frozen=True):
    """What stands at a path: git's mode and the object's id. Absence is `None`, a value like any other."""

    mode: int
    object: ObjectId

    @property
    def is_folder(self) -> bool:
        return self.mode & 0o170000 == FOLDER


class Change(msgspec.Struct, frozen=True):
    """One path that differs between two trees. Never both sides `None`, never both equal."""

    path: RepoPath
    before: Entry | None
    after: Entry | None


class LeftOut(msgspec.Struct, frozen=True):
    """A path that is in a folder and that no tree holds as it is there. `path` is as `show_path` tells it."""

    path: str
    reason: str


def decode_tree(content: bytes, id_size: int) -> dict[bytes, Entry]:
    """The entries of one tree object by name; `id_size` is 20 bytes, or 32 in a SHA-256 repository."""
    # "MODE SP NAME NUL ID", over and over: gitformat-pack(5) calls it the tree's canonical content.
    entries: dict[bytes, Entry] = {}
    position = 0
    while position < len(content):
        space = content.index(b" ", position)
        end = content.index(b"\0", space)
        object_id = ObjectId(content[end + 1 : end + 1 + id_size].hex())
        entries[content[space + 1 : end]] = Entry(int(content[position:space], 8), object_id)
        position = end + 1 + id_size
    return entries


def encode_tree(entries: Mapping[bytes, Entry]) -> bytes:
    """The tree object that holds `entries`, the same bytes as git writes."""
    # Git sorts a folder as if its name ended in a slash: "a.b" < "a/" < "a0".
    ordered = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1].is_folder else item[0])
    return b"".join(b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.object)) for name, entry in ordered)


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
