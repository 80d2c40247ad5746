"""The course of a landing, of a child's result or of an undo: merge, plan, stage, journal, carry out, finish.

What a path holds may change at any moment; the whole course then begins again, a few times. Every other way
out leaves the working tree as it was. The landing lock is held by the caller, who also says what an outcome
means.
"""

import errno
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from merge.carrying_out import Moved, Tell, carry_out, check_old_files
from merge.conflict import Conflict
from merge.git import GitFailed
from merge.landing_journal import Grounds, Plan, make_folder_durably, staging_folder, write_plan
from merge.landing_plan import Ready, make_steps, new_place, permissions_after
from merge.landing_records import Facts, next_landing, write_commits
from merge.objects import edit_tree, make_durable, read_entries
from merge.present import OnDisk, Unreadable, open_on_disk
from merge.recovery import abandon, finish, grounds_of
from merge.repository import Repository
from merge.resolving import Choices
from merge.trees import Change, ObjectId, RepoPath, show_path
from merge.weighing import Barred, Clear, Moving, Open, weigh
from merge.working_files import Seen, Spot, WorkingFiles, folders_above
from merge.writing_out import write_out

ATTEMPTS = 3
"""A person who saves while a landing runs does so once or twice; what changes each time is written by a program."""


class Done(msgspec.Struct, frozen=True):
    """It landed, durably."""

    landing: str
    paths: tuple[str, ...]
    notes: tuple[str, ...]


class Nothing(msgspec.Struct, frozen=True):
    """The parent has it all already."""


class Clash(msgspec.Struct, frozen=True):
    """It conflicts, and nothing was changed."""

    conflicts: tuple[Conflict, ...]


class Refused(msgspec.Struct, frozen=True):
    """It could not be done, and nothing was changed."""

    reason: str


AnyCourse = Done | Nothing | Clash | Refused


class _Again(msgspec.Struct, frozen=True):
    """A path changed meanwhile, or (`beside`) its files must wait elsewhere."""

    path: RepoPath
    beside: bool = False


def run_course(
    repository: Repository,
    base: ObjectId,
    theirs: ObjectId,
    facts: Facts,
    *,
    choices: Choices,
    tell: Tell,
) -> AnyCourse:
    """Land the change from `base` to `theirs` in the working tree. The caller holds the landing lock.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
    """
    beside = False
    outcome: AnyCourse | _Again = Nothing()
    for _ in range(ATTEMPTS):
        try:
            outcome = _attempt(repository, base, theirs, facts, choices, tell, beside)
        except (GitFailed, Unreadable, OSError) as fault:
            return Refused(_reason(fault))
        if not isinstance(outcome, _Again):
            return outcome
        beside = beside or outcome.beside
    assert isinstance(outcome, _Again)
    return Refused(f"{show_path(outcome.path)} kept changing while it was merged")


def _attempt(
    repository: Repository,
    base: ObjectId,
    theirs: ObjectId,
    facts: Facts,
    choices: Choices,
    tell: Tell,
    beside: bool,
) -> AnyCourse | _Again:
    present = open_on_disk(repository, base)
    # An undo takes back what is in the record of a landing, and moves nothing else.
    moves_more = facts.undoes is None
    match weigh(repository, base, present, theirs, choices, follow_folders=moves_more):
        case Clear(found, merge_notes, whole):
            pass
        case Open(clashed):
            return Clash(clashed.conflicts)
        case Barred(reason):
            return Refused(reason)
        case Moving(path):
            return _Again(path)
    if not found.changes:
        return Nothing()
    landing = next_landing(repository)
    staging = staging_folder(repository.common_dir, landing)
    try:
        plan, notes = _prepare(repository, present, found, whole or base, facts, landing, tell, beside)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    if not plan.steps:
        shutil.rmtree(staging)
        return Nothing()
    ended = _carry_out(repository, plan, tell)
    if isinstance(ended, Refused | _Again):
        return ended
    paths = tuple(show_path(step.path) for step in plan.steps)
    return Done(landing, paths, (*merge_notes, *found.notes, *notes, *ended))


def _prepare(
    repository: Repository,
    present: OnDisk,
    ready: Ready,
    parent: ObjectId,
    facts: Facts,
    landing: str,
    tell: Tell,
    all_beside: bool,
) -> tuple[Plan, tuple[str, ...]]:
    """Write the new files to where they wait and the objects for good; the plan, not yet in its journal.

    `parent` is the parent's tree, or what comes nearest to it of what is known: the child's base.

    Raises:
        GitFailed: when git can't write a file or an object.
        OSError: when the disk refuses.
    """
    staging = staging_folder(repository.common_dir, landing)
    after, notes = _stage(present, ready, staging, tell)
    beside = _paths_elsewhere(present.files, ready, staging, all_beside)
    steps = make_steps(ready, after, beside, landing)
    old = edit_tree(repository, parent, [(change.path, change.before) for change in ready.changes])
    new = edit_tree(repository, old, [(change.path, change.after) for change in ready.changes])
    before, landed = write_commits(repository, landing, facts, old, new, seconds=int(time.time()))
    make_durable(repository, {before, landed, old, new, *_objects(repository, ready.changes, (old, new))})
    root = os.fsencode(repository.root)
    plan = Plan(
        landing, facts.child, root, steps, ready.going, ready.coming, before, landed, ready=not beside
    )
    return plan, notes


def _stage(
    present: OnDisk, ready: Ready, staging: Path, tell: Tell
) -> tuple[dict[RepoPath, Seen | None], tuple[str, ...]]:
    """Write the new files to where they wait; what waits for which path, and what is to be told."""
    tell("make staging")
    for name in ("written", "new", "old"):
        make_folder_durably(staging / name)
    written = WorkingFiles(staging / "written", present.files.id_length)
    waiting = WorkingFiles(staging, present.files.id_length)
    entries = {change.path: change.after for change in ready.changes if change.after is not None}
    tell("write new files")
    paths = [change.path for change in ready.changes]
    notes = write_out(present, entries, paths, written, staging / "index")
    after: dict[RepoPath, Seen | None] = {}
    for number, change in enumerate(ready.changes):
        path = change.path
        if path in entries:
            seen = written.look(path)
            assert seen is not None, f"git wrote no file for {path!r}"
            if seen.kind == "file":
                written.set_permissions(path, permissions_after(change, ready.before[path], seen))
                written.sync(path)
            after[path] = written.look(path)
            # All in one folder: one to sync instead of as many as there are in the tree.
            Spot(written, path).move_to(Spot(waiting, new_place(number)))
    waiting.sync_folders([b"new"])
    return after, notes


def _carry_out(repository: Repository, plan: Plan, tell: Tell) -> tuple[str, ...] | Refused | _Again:
    """Carry the plan out under its journal; notes on what was kept, or why nothing has changed."""
    grounds = grounds_of(repository, plan)
    tell("write journal")
    write_plan(repository.common_dir, plan)
    try:
        if not plan.ready:
            _bring_beside(grounds, plan, tell)
            plan = msgspec.structs.replace(plan, ready=True)
            tell("write journal")
            write_plan(repository.common_dir, plan)
        carry_out(grounds, plan, tell)
        check_old_files(grounds, plan.steps)
        kept = finish(repository, grounds, plan, tell)
    except Moved as moved:
        abandon(repository, grounds, plan, tell)
        return _Again(moved.path)
    except (GitFailed, OSError) as fault:
        _, kept = abandon(repository, grounds, plan, tell)
        if isinstance(fault, OSError) and fault.errno == errno.EXDEV:
            return _Again(plan.steps[0].path, beside=True)
        return Refused("; ".join((_reason(fault), *_told_of(kept))))
    return _told_of(kept)


def _bring_beside(grounds: Grounds, plan: Plan, tell: Tell) -> None:
    folders: set[bytes] = set()
    for step in plan.steps:
        if step.new is not None and step.new.beside:
            tell("copy new file beside its place")
            grounds.staging.copy(new_place(step.number), grounds.tree, step.new.path)
            folders.add(step.new.path.rpartition(b"/")[0])
    grounds.tree.sync_folders(folders)


def _paths_elsewhere(
    files: WorkingFiles, ready: Ready, staging: Path, everything: bool
) -> dict[RepoPath, RepoPath]:
    """The paths that a rename from the staging folder can't reach, each with the nearest folder there is."""
    device = staging.stat().st_dev
    devices: dict[RepoPath, int] = {}
    elsewhere: dict[RepoPath, RepoPath] = {}
    gone = {*ready.coming, *(folder.path for folder in ready.going)}
    for change in ready.changes:
        above = [folder for folder in folders_above(change.path) if folder not in gone]
        nearest = above[-1] if above else RepoPath(b"")
        if nearest not in devices:
            devices[nearest] = files.device(nearest)
        if everything or devices[nearest] != device:
            elsewhere[change.path] = nearest
    return elsewhere


def _objects(repository: Repository, changes: Sequence[Change], trees: Sequence[ObjectId]) -> set[ObjectId]:
    """The objects that the changes brought: the blobs, and the folders above them in both trees."""
    entries = [entry for change in changes for entry in (change.before, change.after) if entry is not None]
    above = {folder for change in changes for folder in folders_above(change.path)}
    for tree in trees if above else ():
        entries += [entry for entry in read_entries(repository, tree, above).values() if entry is not None]
    return {entry.object for entry in entries}


def _told_of(kept: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{path} was written to by another program at the last moment and kept" for path in kept)


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.strerror is not None:
        name = fault.filename
        shown = (
            show_path(name if isinstance(name, bytes) else os.fsencode(str(name))) if name is not None else ""
        )
        return f"{shown}: {fault.strerror}".removeprefix(": ")
    return str(fault)
