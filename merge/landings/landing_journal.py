"""The journal of a landing: what it will do, durable on the disk before it does the first of it.

A journal that is there is a landing that was begun and not ended: the next start completes it or takes it
back (`merge.landings.recovery`). It is removed as the last act; what landed is then told by refs
(`merge.landings.landing_records`). The files that will stand in the tree, and those that stood there, wait in a
staging folder in the git directory, where a rename can put them in place; on another filesystem they wait
beside their places.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from merge.files.working_files import Seen, Spot, WorkingFiles
from merge.files.writing import write_file
from merge.store.syncing import Unsynced, sync_all, sync_folder
from merge.store.trees import ObjectId, RepoPath


class JournalUnreadable(Exception):
    """Raised when a journal holds no plan: the disk lost it, or another version of covey wrote it."""


class Waiting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a file waits: a path of the staging folder, or, `beside`, of the working tree."""

    path: RepoPath
    beside: bool = False


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One path of the working tree that goes from `before` to `after`, each a file, a symlink or nothing.

    The new file waits at `new`, None where none comes; the old one ends at `old`, or, where the two could be
    swapped, in the place of the new one. `number` tells the landing's files apart where they wait.
    """

    number: int
    path: RepoPath
    before: Seen | None
    after: Seen | None
    new: Waiting | None
    old: Waiting | None


class FolderGoes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder that must go because a file takes its place."""

    path: RepoPath
    permissions: int


class Inside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A submodule that a landing reaches into: its git directory, and the commits of its trees before and after."""

    git_dir: bytes
    before: ObjectId
    after: ObjectId


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a landing does for `child`. `before` and `after` are commits of the two trees that differ by it.

    Its files wait in the staging folder of its `group`, which has the number of the first landing in it.
    `going` are folders that give way, those inside first; `coming` are new folders, the outer first. While
    `ready` is false, nothing in the working tree has changed yet but files that wait beside their places. The
    steps may be in submodules too, which are `inside`.
    """

    landing: str
    group: str
    child: str
    root: bytes
    steps: tuple[Step, ...]
    going: tuple[FolderGoes, ...]
    coming: tuple[RepoPath, ...]
    before: ObjectId
    after: ObjectId
    ready: bool = True
    inside: tuple[Inside, ...] = ()


@dataclass(frozen=True)
class Grounds:
    """The two folders between which a landing moves files."""

    tree: WorkingFiles
    staging: WorkingFiles

    def place(self, step: Step) -> Spot:
        return Spot(self.tree, step.path)

    def stands(self, step: Step) -> Seen | None:
        """The file or symlink at the step's path; a folder is none."""
        seen = self.tree.look(step.path)
        return None if seen is not None and seen.kind == "folder" else seen

    def waiting(self, waiting: Waiting) -> Spot:
        return Spot(self.tree if waiting.beside else self.staging, waiting.path)

    def look_at(self, waiting: Waiting | None) -> Seen | None:
        """What waits there; nothing waits nowhere."""
        return self.waiting(waiting).look() if waiting is not None else None


def staging_folder(common_dir: Path, group: str) -> Path:
    """Where the files of a group of landings wait."""
    return common_dir.joinpath("covey/staging", group)


def write_plans(common_dir: Path, plans: Sequence[Plan], needs: Iterable[Unsynced] = ()) -> None:
    """Put plans into their journals; when this returns they are there whatever happens next.

    So is what they `need`, which is on the disk for good before the first of the journals is.
    """
    folder = common_dir.joinpath("covey/landings")
    make_folder_durably(folder)
    unfinished = [f"{plan.landing}.json.new" for plan in plans]
    try:
        for plan, name in zip(plans, unfinished, strict=True):
            write_file(folder / name, msgspec.json.encode(plan))
        sync_all([*needs, Unsynced(str(folder), unfinished)])
        for name in unfinished:
            folder.joinpath(name).rename(folder.joinpath(name.removesuffix(".new")))
        sync_folder(folder)
    except OSError:
        for name in unfinished:
            folder.joinpath(name).unlink(missing_ok=True)
        raise


def make_folder_durably(folder: Path) -> None:
    """Make a folder, and those above it, for good; one that is there costs nothing."""
    if not folder.is_dir():
        make_folder_durably(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def remove_unfinished(common_dir: Path) -> None:
    """Remove what `write_plans` had not come to the end of when its process was killed."""
    for unfinished in _journals(common_dir, ".new"):
        unfinished.unlink(missing_ok=True)


def remove_plans(common_dir: Path, landings: Iterable[str], *, durably: bool = True) -> None:
    """Remove journals: these landings are over. Unless `durably`, a power cut may bring them back."""
    for landing in landings:
        _journal(common_dir, landing).unlink(missing_ok=True)
    if durably:
        sync_folder(_journal(common_dir, "").parent)


def open_plans(common_dir: Path) -> tuple[Plan, ...]:
    """The plans of landings that were begun and not ended, in their order.

    Raises:
        JournalUnreadable: when one of them can't be read.
    """
    return tuple(_read_plan(journal) for journal in sorted(_journals(common_dir, ".json"), key=_number))


def _read_plan(journal: Path) -> Plan:
    try:
        return msgspec.json.decode(journal.read_bytes(), type=Plan)
    except (OSError, msgspec.MsgspecError) as error:
        raise JournalUnreadable(
            f"{journal} tells of a landing that was interrupted and can't be read ({error}); compare your working "
            "tree with what you expect, then remove it."
        ) from error


def _journal(common_dir: Path, landing: str) -> Path:
    return common_dir.joinpath(f"covey/landings/{landing}.json")


def _journals(common_dir: Path, ending: str) -> list[Path]:
    folder = common_dir.joinpath("covey/landings")
    try:
        return [folder / name for name in os.listdir(folder) if name.endswith(ending)]
    except FileNotFoundError:
        return []


def _number(journal: Path) -> int:
    return int(journal.stem) if journal.stem.isdecimal() else 0
