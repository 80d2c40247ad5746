"""Merge cases that stand as plain folders in `fixtures/merge_cases/`: base, ours, theirs, and what shall come of it.

A case has `want/`, the parent's folder after the landing, or `conflicts.txt`, the lines that tell why nothing
landed; `notes.txt` holds what is told of a landing, if anything. A name that begins with `dot-` stands for one
that begins with `.`.
"""

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from merge.store.trees import ObjectId
from tests.merge.places import Place

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "merge_cases"

Files = dict[str, tuple[str, bytes]]
"""What a folder holds, by path: `file`, `executable` or `symlink`, and its bytes."""


@dataclass(frozen=True)
class MergeCase:
    """One case; `conflicts` is None where the merge is clean."""

    name: str
    conflicts: tuple[str, ...] | None
    notes: tuple[str, ...]

    def put(self, side: str, folder: Path) -> None:
        """Let `folder` hold just the files of a side, its `.git` aside."""
        for old in folder.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        source = CASES / self.name / side
        if source.is_dir():
            shutil.copytree(source, folder, symlinks=True, dirs_exist_ok=True)
        for path in folder.rglob("*"):
            if ".git" not in path.parts:
                # Not with the dates of the fixture: git takes two files of one size and date for the same.
                os.utime(path, follow_symlinks=False)
        for stand_in in sorted(folder.rglob("dot-*"), reverse=True):
            stand_in.rename(stand_in.with_name("." + stand_in.name.removeprefix("dot-")))

    def tree(self, side: str, place: Place) -> ObjectId:
        """The tree of a side, made by git itself."""
        with tempfile.TemporaryDirectory() as folder:
            self.put(side, Path(folder))
            return tree_of_folder(place, Path(folder))


def merge_cases() -> list[MergeCase]:
    """Every case, by name."""
    return [_read_case(folder) for folder in sorted(CASES.iterdir()) if folder.is_dir()]


def _read_case(folder: Path) -> MergeCase:
    conflicts, notes = (
        tuple(file.read_text().splitlines()) if file.exists() else None
        for file in (folder / "conflicts.txt", folder / "notes.txt")
    )
    return MergeCase(folder.name, conflicts, notes or ())


def tree_of_folder(place: Place, folder: Path) -> ObjectId:
    """The tree that git makes of a plain folder, nothing ignored."""
    with tempfile.TemporaryDirectory() as elsewhere:
        index = str(Path(elsewhere, "index"))
        place.git("--work-tree", str(folder), "add", "--all", "--force", ".", GIT_INDEX_FILE=index)
        return ObjectId(os.fsdecode(place.git("write-tree", GIT_INDEX_FILE=index)))


def files_of(folder: Path) -> Files:
    """What stands in a folder, git's own aside; empty folders count as well."""
    files: Files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name == ".git" or name.startswith(".git/"):
            continue
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            files[name] = ("symlink", os.fsencode(path.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            files.update({name + "/": ("folder", b"")} if not any(path.iterdir()) else {})
        else:
            kind = "executable" if status.st_mode & 0o100 else "file"
            files[name] = (kind, path.read_bytes())
    return files
