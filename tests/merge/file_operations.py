"""Random things that a child does to the files of its checkout, and the same done to a plain folder.

Pure but for `carry_out`. Names are few, so that one operation meets what another has left.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from hypothesis import strategies as st

NAMES = (
    "README.md",
    "src",
    "src/app.py",
    "src/deep",
    "src/deep/er",
    "src/deep/er/leaf.txt",
    "bin",
    "bin/run",
    "link",
    ".gitignore",
    "src/.gitignore",
    "new",
    "new/inner",
    "new/inner/file.txt",
    "new/noise.log",
    "moved",
    "moved/.gitignore",
    "café",
    "build",
    "build/out",
    "staged.txt",
    "notes",
    "notes/new.txt",
)

Kind = Literal[
    "write",
    "edit",
    "append",
    "truncate",
    "rename",
    "link",
    "symlink",
    "chmod",
    "mkdir",
    "rmdir",
    "remove",
    "recreate",
]


class Operation(msgspec.Struct, frozen=True):
    """One thing done to `path`; `other` is where to, `data` what with, `mode` how."""

    kind: Kind
    path: str
    other: str
    data: bytes
    mode: int


def operations() -> st.SearchStrategy[list[Operation]]:
    one = st.builds(
        Operation,
        st.sampled_from(Kind.__args__),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from((b"", b"one\n", b"two\r\n", b"*.txt\n", b"!noise.log\n", b"\0\xff")),
        st.sampled_from((0o644, 0o755, 0o600, 0o444)),
    )
    return st.lists(one, min_size=1, max_size=12)


def carry_out(root: Path, done: Sequence[Operation]) -> list[str]:
    """Do them all in `root`; the name of the error that each came to, empty for none."""
    return [_try(root, operation) for operation in done]


def _try(root: Path, operation: Operation) -> str:
    try:
        _do(root / operation.path, root / operation.other, operation)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")
    return ""


def _do(path: Path, other: Path, operation: Operation) -> None:
    match operation.kind:
        case "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(operation.data)
        case "edit":
            with path.open("r+b") as file:
                file.write(operation.data)
        case "append":
            with path.open("ab") as file:
                file.write(operation.data)
        case "truncate":
            os.truncate(path, len(operation.data))
        case "rename":
            _move(path, other)
        case "link":
            os.link(path, other, follow_symlinks=False)
        case "symlink":
            path.symlink_to(operation.other)
        case "chmod":
            path.chmod(operation.mode if not path.is_dir() else operation.mode | 0o700)
        case "mkdir":
            path.mkdir()
        case "rmdir":
            path.rmdir()
        case "remove":
            _remove(path)
        case "recreate":
            _remove(path)
            path.mkdir(parents=True)
            (path / "again.txt").write_bytes(operation.data)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _move(path: Path, other: Path) -> None:
    """As mv(1) does: where the kernel can't rename a folder of a lower layer, it is copied."""
    try:
        path.rename(other)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with contextlib.suppress(FileNotFoundError):
            other.rmdir()
        shutil.copytree(path, other, symlinks=True)
        shutil.rmtree(path)
