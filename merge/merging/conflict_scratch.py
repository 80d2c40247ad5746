"""A small repository of its own with one merge's conflicts in its index, for `git mergetool` to work on.

It is nobody's working tree: the conflicting files alone are in it, as they are stored, with no filter and no line
ending applied, so that what is read back is what will be stored. The person's settings for merge tools hold in it.
Nothing here runs a tool.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from merge.files.working_files import Seen, WorkingFiles, folders_above
from merge.merging.conflict import Conflict
from merge.merging.conflict_text import marker_length, open_conflict, render_conflict
from merge.merging.resolving import Choice, Content
from merge.store.filters import read_config
from merge.store.git import GitPlace, parent_place, run_git
from merge.store.objects import read_blob
from merge.store.private_git import Inheritance, lay_out, object_folders
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, SUBMODULE, SYMLINK, Entry, RepoPath

_TOOL_SETTINGS = re.compile(r"mergetool\..*|merge\.(?:gui)?tool|merge\.conflictstyle|core\.editor", re.DOTALL)

# The strongest attributes there are: not even a conflict about .gitattributes converts what stands beside it.
_RAW = b"* -text !eol !filter !ident !working-tree-encoding\n"


def merge_tool(repository: Repository) -> str | None:
    """The merge tool that the person has configured, `merge.tool` or else `merge.guitool`."""
    config = read_config(parent_place(repository))
    return config.get("merge.tool") or config.get("merge.guitool")


def can_be_laid_out(conflict: Conflict) -> bool:
    """Whether a merge tool has something to work on: two versions at least, each a file or a link."""
    versions = [entry for entry in (conflict.base, conflict.ours, conflict.theirs) if entry is not None]
    special = any(entry.is_folder or entry.mode == SUBMODULE for entry in versions)
    return len(versions) > 1 and not special and conflict.why != "file and folder"


def lay_out_conflicts(repository: Repository, conflicts: Sequence[Conflict], folder: Path) -> None:
    """Make the empty `folder` a repository in the middle of a merge with these conflicts.

    Raises:
        GitFailed: when git can't write the index.
        ObjectMissing: when the repository does not hold one of the versions.
    """
    git_dir = folder / ".git"
    git_dir.mkdir()
    config = {
        key: value
        for key, value in read_config(parent_place(repository)).items()
        if _TOOL_SETTINGS.fullmatch(key)
    }
    config |= {"core.bare": "false", "core.fsmonitor": "false", "core.repositoryformatversion": "0"}
    if conflicts and any(_id_length(conflict) == 64 for conflict in conflicts):
        config |= {"core.repositoryformatversion": "1", "extensions.objectformat": "sha256"}
    objects = tuple(object_folders(repository.common_dir / "objects"))
    inheritance = Inheritance(config, objects, {"attributes": _RAW}, None)
    lay_out(git_dir, inheritance, head="ref: refs/heads/review")
    lines: list[bytes] = []
    for conflict in conflicts:
        for stage, entry in enumerate((conflict.base, conflict.ours, conflict.theirs), 1):
            if entry is not None:
                lines.append(b"%06o %s %d\t%s\0" % (entry.mode, entry.object.encode(), stage, conflict.path))
        _write_merged(repository, conflict, folder)
    run_git(_place(folder), "update-index", "-z", "--index-info", feed=b"".join(lines))


def read_resolved(
    repository: Repository, conflicts: Sequence[Conflict], folder: Path
) -> dict[RepoPath, Choice]:
    """What was made of the conflicts in `folder`: one choice for each that is resolved there.

    Raises:
        GitFailed: when the index in there can't be read.
    """
    unmerged = {
        RepoPath(line.split(b"\t", 1)[1]) for line in run_git(_place(folder), "ls-files", "-u", "-z").fields()
    }
    files = WorkingFiles(folder, _id_length(conflicts[0])) if conflicts else None
    choices: dict[RepoPath, Choice] = {}
    for conflict in conflicts:
        if files is None or conflict.path in unmerged:
            continue
        choice = _read_one(repository, conflict, folder, files.look(conflict.path))
        if choice is not None:
            choices[conflict.path] = choice
    return choices


def _read_one(repository: Repository, conflict: Conflict, folder: Path, seen: Seen | None) -> Choice | None:
    if seen is None:
        return "ours" if conflict.ours is None else "theirs" if conflict.theirs is None else None
    if _is(seen, conflict.ours):
        return "ours"
    if _is(seen, conflict.theirs):
        return "theirs"
    if seen.kind != "file":
        return None
    data = (folder / os.fsdecode(conflict.path)).read_bytes()
    text = open_conflict(repository, conflict)
    if text is not None:
        opened = b"<" * marker_length(text.regions) + b" here"
        if any(line.rstrip(b"\r\n").startswith(opened) for line in data.split(b"\n")):
            return None  # the tool said that it was done, and a conflict still stands in the file
    return Content(data)


def _write_merged(repository: Repository, conflict: Conflict, folder: Path) -> None:
    """What stands at the path while it conflicts: the text with its markers, or one side of what has no text."""
    path = folder / os.fsdecode(conflict.path)
    for above in folders_above(conflict.path):
        (folder / os.fsdecode(above)).mkdir(exist_ok=True)
    entry = conflict.ours or conflict.theirs
    assert entry is not None, "such a conflict is not laid out"
    # Where a side deleted the file git asks by itself, and takes what stands here for the other side's.
    text = open_conflict(repository, conflict) if conflict.ours and conflict.theirs else None
    if text is not None:
        path.write_bytes(render_conflict(text.regions))
    elif entry.mode == SYMLINK:
        path.symlink_to(os.fsdecode(read_blob(repository, entry.object)))
    else:
        path.write_bytes(read_blob(repository, entry.object))
    if entry.mode == EXECUTABLE:
        path.chmod(0o755)


def _is(seen: Seen, entry: Entry | None) -> bool:
    same_kind = entry is not None and (seen.kind == "symlink") == (entry.mode == SYMLINK)
    return same_kind and entry is not None and seen.content == entry.object


def _id_length(conflict: Conflict) -> int:
    return next(
        len(entry.object)
        for entry in (conflict.base, conflict.ours, conflict.theirs)
        if entry is not None and entry.object
    )


def _place(folder: Path) -> GitPlace:
    return GitPlace(folder, git_dir=folder / ".git", work_tree=folder)
