"""From a clean merge to the plan of its landing: what stands on the disk, what shall stand, what is in the way.

Every path is compared with the disk as it is now. What git does not know of (ignored files, folders, links)
can be in the way of a file that it merged; such a thing is a conflict, never overwritten. Decides only:
nothing on the disk changes here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merge.files.working_files import Seen, folders_above, repo_path
from merge.landings.landing_journal import FolderGoes, Step, Waiting
from merge.merging.conflict import Conflict
from merge.merging.present import IN_THE_WAY, OnDisk
from merge.store.trees import SUBMODULE, Change, RepoPath, show_path


@dataclass(frozen=True)
class Ready:
    """The disk is as the merge expects. `changes` are what is left to do, `before` is what stands at each path.

    `going` are folders that give way to files, those inside first; `coming` are new ones, the outer first.
    """

    changes: tuple[Change, ...]
    before: Mapping[RepoPath, Seen | None]
    going: tuple[FolderGoes, ...]
    coming: tuple[RepoPath, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class InTheWay:
    """Something that git does not know of stands where files shall be; `rest` are the other changes."""

    conflicts: tuple[Conflict, ...]
    rest: tuple[Change, ...]


@dataclass(frozen=True)
class Outdated:
    """`path` changed since it was merged."""

    path: RepoPath


@dataclass(frozen=True)
class Impossible:
    """This can't land, whatever stands there; `reason` says why."""

    reason: str


def compare_with_disk(present: OnDisk, changes: Sequence[Change]) -> Ready | InTheWay | Outdated | Impossible:
    """Look whether the changes can be made to the working tree as it is now.

    Raises:
        Unreadable: when a file's content can't be told.
    """
    for change in changes:
        reason = _why_impossible(change)
        if reason is not None:
            return Impossible(reason)
    # What the merge asked for by path is known; what it took from a whole tree is looked at now.
    asked = {
        change.path: (change.before,)
        for change in changes
        if change.path not in present.known or present.known[change.path] != change.before
    }
    now = {**present.known, **(present.entries(asked) if asked else {})}
    leaving = {change.path for change in changes if change.after is None}
    wanted: list[Change] = []
    going: list[FolderGoes] = []
    conflicts: list[Conflict] = []
    notes: list[str] = []
    for change in changes:
        path, there = change.path, now[change.path]
        if there == change.before:
            if present.seen[path] is None and change.before is not None and change.after is None:
                notes.append(
                    f"{show_path(path)} is outside the sparse checkout; that it was deleted is not recorded"
                )
            else:
                wanted.append(change)
        elif change.before is not None:
            return Outdated(path)
        elif there != change.after:
            gives_way = _folders_that_give_way(present, path, leaving) if there == IN_THE_WAY else None
            if gives_way is None:
                conflicts.append(Conflict(path, "in the way", None, there, change.after))
            else:
                going += gives_way
                wanted.append(change)
    if conflicts:
        unclear = {conflict.path for conflict in conflicts}
        return InTheWay(tuple(conflicts), tuple(change for change in changes if change.path not in unclear))
    before = {change.path: _leaf(present.seen[change.path]) for change in wanted}
    # Where something stands, its folders do.
    new = [change.path for change in wanted if change.after is not None and present.seen[change.path] is None]
    coming = _missing_folders(present, new)
    return Ready(tuple(wanted), before, tuple(going), coming, tuple(notes))


def make_steps(
    ready: Ready, after: Mapping[RepoPath, Seen | None], beside: Mapping[RepoPath, RepoPath], landing: str
) -> tuple[Step, ...]:
    """The steps of a landing. `after` is what waits, `beside` the paths whose files can't wait in staging."""
    steps: list[Step] = []
    for number, change in enumerate(ready.changes):
        path = change.path
        before, coming = ready.before[path], after.get(path)
        if path in beside:
            name = f".covey-landing-{landing}-{number}".encode()
            new = Waiting(repo_path(beside[path], name + b"-new"), beside=True)
            old = Waiting(repo_path(beside[path], name + b"-old"), beside=True)
        else:
            new = Waiting(new_place(landing, number))
            old = Waiting(RepoPath(f"{landing}-old-{number}".encode()))
        if before != coming:
            waits, ends = new if coming is not None else None, old if before is not None else None
            steps.append(Step(number, path, before, coming, waits, ends))
    return tuple(steps)


def new_place(landing: str, number: int) -> RepoPath:
    """Where the new file of the landing's change with this number waits in the staging folder."""
    return RepoPath(f"{landing}-new-{number}".encode())


def permissions_after(change: Change, before: Seen | None, written: Seen) -> int:
    """The permissions of a new file: its own, or, where it replaces one, that one's but for the executable bit."""
    if written.kind != "file" or before is None or before.kind != "file" or change.before is None:
        return written.permissions
    kept = before.permissions & 0o777
    assert change.after is not None
    if change.before.mode == change.after.mode:
        return kept
    # Who may read it may run it, as git does for a new file.
    return kept | (kept & 0o444) >> 2 if written.is_executable else kept & ~0o111


def _why_impossible(change: Change) -> str | None:
    shown = show_path(change.path)
    for entry in (change.before, change.after):
        if entry is not None and entry.mode == SUBMODULE:
            return f"{shown} is a submodule whose commit would change; covey does not move the commits of submodules"
    for part in change.path.split(b"/"):
        # git refuses such names in an index; a tree that was not made by git could hold them all the same.
        if part in (b"", b".", b"..") or part.lower() == b".git":
            return f"{shown} is no path for a file"
    return None


def _folders_that_give_way(
    present: OnDisk, path: RepoPath, leaving: set[RepoPath]
) -> list[FolderGoes] | None:
    """The folders to remove so that a file can stand at `path`; None when something else is in the way."""
    blocked = present.files.blocked_at(path)
    if blocked is not None:
        return [] if blocked in leaving else None
    seen = present.seen[path]
    if seen is None or seen.kind != "folder":
        return None
    going: list[FolderGoes] = []
    for below, is_folder in present.files.list_below(path):
        if is_folder:
            inside = present.files.look(below)
            going.append(FolderGoes(below, inside.permissions if inside is not None else 0o777))
        elif below not in leaving:
            return None
    return [*going, FolderGoes(path, seen.permissions)]


def _missing_folders(present: OnDisk, paths: Sequence[RepoPath]) -> tuple[RepoPath, ...]:
    above = sorted({folder for path in paths for folder in folders_above(path)})
    missing: list[RepoPath] = []
    for folder in above:
        seen = present.files.look(folder)
        if seen is None or seen.kind != "folder":
            missing.append(folder)
    return tuple(missing)


def _leaf(seen: Seen | None) -> Seen | None:
    return None if seen is None or seen.kind == "folder" else seen
