"""Where a person's half-done edits of conflicts are kept: in git's own folder, until the child has landed.

One folder per child; in it one for each conflict, named by its path and its three versions. So the same conflict
finds its own draft again, and one whose versions have changed since begins anew beside it.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from merge.files.removal import remove_tree
from merge.merging.conflict import Conflict
from merge.store.repository import Repository

_DIGITS = 12


def draft_file(repository: Repository, child: str, conflict: Conflict) -> Path:
    """Where the text of one conflict is edited: a file of the same name, in a folder that is there."""
    folder = drafts_of(repository, child) / f"{_of_path(conflict)}-{_of_versions([conflict])}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / os.fsdecode(conflict.path.rpartition(b"/")[2])


def earlier_drafts(repository: Repository, child: str, conflict: Conflict) -> list[Path]:
    """Drafts of the same path made for other versions of it."""
    own = draft_file(repository, child, conflict)
    return sorted(
        file
        for folder in drafts_of(repository, child).glob(f"{_of_path(conflict)}-*")
        if (file := folder / own.name) != own and file.is_file()
    )


def scratch_folder(repository: Repository, child: str, conflicts: Sequence[Conflict]) -> tuple[Path, bool]:
    """Where a merge tool works on these conflicts, and whether it was there already."""
    folder = drafts_of(repository, child) / f"tool-{_of_versions(conflicts)}"
    known = (folder / ".git" / "index").is_file()
    if not known:
        remove_tree(folder)  # one that was not finished being made
        folder.mkdir(parents=True)
    return folder, known


def all_drafts(repository: Repository) -> list[str]:
    """The children for which a person began something."""
    folder = repository.common_dir / "covey" / "drafts"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def remove_drafts(repository: Repository, child: str) -> None:
    """Forget everything a person began for a child."""
    remove_tree(drafts_of(repository, child))


def drafts_of(repository: Repository, child: str) -> Path:
    return repository.common_dir / "covey" / "drafts" / child


def _of_path(conflict: Conflict) -> str:
    return hashlib.sha256(conflict.path).hexdigest()[:_DIGITS]


def _of_versions(conflicts: Sequence[Conflict]) -> str:
    parts = hashlib.sha256()
    for conflict in conflicts:
        parts.update(conflict.path + b"\0")
        for entry in (conflict.base, conflict.ours, conflict.theirs):
            parts.update(f"{entry.mode:o} {entry.object}".encode() if entry is not None else b"-")
            parts.update(b"\0")
    return parts.hexdigest()[:_DIGITS]
