"""The course of a landing, of a child's result or of an undo: merge, plan, stage, journal, carry out, finish.

What a path holds may change at any moment; the whole course then begins again, a few times. Every other way
out leaves the working tree as it was. The landing lock is held by the caller, who also says what an outcome
means.
"""

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from merge.landings.carrying_out import Moved, Tell, carry_out, check_old_files
from merge.landings.landing_journal import Grounds, Plan, staging_folder, write_plan
from merge.landings.landing_plan import new_place
from merge.landings.landing_records import Facts, next_landing
from merge.landings.recovery import abandon, finish, grounds_of
from merge.landings.staging import Prepared, prepare
from merge.landings.weighing import Barred, Moving, Open, all_ready, merge_notes, weigh_parts
from merge.merging.conflict import Conflict
from merge.merging.parts import Part, divide
from merge.merging.present import Unreadable
from merge.merging.resolving import Choices
from merge.snapshots.never_lands import is_own_state
from merge.store.git import GitFailed
from merge.store.object_store import ObjectMissing
from merge.store.objects import edit_tree
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath, show_path

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
    """Land the change from `base` to `theirs` in the working tree, submodules included. The caller holds the lock.

    What it has in `.covey/` stays behind, save the project's own settings there.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        ObjectMissing: when the repository does not hold one of the trees.
    """
    try:
        parts = tuple(map(_without_own_state, divide(repository, base, theirs)))
    except ObjectMissing:
        raise
    except (GitFailed, OSError) as fault:
        return Refused(_reason(fault))
    beside = False
    outcome: AnyCourse | _Again = Nothing()
    for _ in range(ATTEMPTS):
        try:
            outcome = _attempt(repository, parts, facts, choices, tell, beside)
        except (GitFailed, Unreadable, OSError) as fault:
            return Refused(_reason(fault))
        if not isinstance(outcome, _Again):
            return outcome
        beside = beside or outcome.beside
    assert isinstance(outcome, _Again)
    return Refused(f"{show_path(outcome.path)} kept changing while it was merged")


def _attempt(
    repository: Repository,
    parts: Sequence[Part],
    facts: Facts,
    choices: Choices,
    tell: Tell,
    beside: bool,
) -> AnyCourse | _Again:
    # An undo takes back what is in the record of a landing, and moves nothing else.
    weighed = weigh_parts(parts, choices, follow_folders=facts.undoes is None)
    match weighed:
        case Open(clashed):
            return Clash(clashed.conflicts)
        case Barred(reason):
            return Refused(reason)
        case Moving(path):
            return _Again(path)
        case _:
            pass
    ready = all_ready(weighed)
    if not ready.changes:
        return Nothing()
    landing = next_landing(repository)
    staging = staging_folder(repository.common_dir, landing)
    try:
        prepared = prepare(repository, weighed, facts, landing, tell, beside)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    if not prepared.plan.steps:
        shutil.rmtree(staging)
        return Nothing()
    ended = _carry_out(repository, prepared, tell)
    if isinstance(ended, Refused | _Again):
        return ended
    paths = tuple(show_path(step.path) for step in prepared.plan.steps)
    return Done(landing, paths, (*merge_notes(weighed), *ready.notes, *prepared.notes, *ended))


def _carry_out(repository: Repository, prepared: Prepared, tell: Tell) -> tuple[str, ...] | Refused | _Again:
    """Carry the plan out under its journal; notes on what was kept, or why nothing has changed."""
    plan = prepared.plan
    grounds = grounds_of(repository, plan)
    tell("write journal")
    write_plan(repository.common_dir, plan, prepared.needs)
    try:
        if not plan.ready:
            _bring_beside(grounds, plan, tell)
            plan = msgspec.structs.replace(plan, ready=True)
            tell("write journal")
            write_plan(repository.common_dir, plan)
        carry_out(grounds, plan, tell, is_new=True)
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


def _without_own_state(part: Part) -> Part:
    own = {change.path: change.before for change in part.changes if is_own_state(change.path)}
    if not own:
        return part
    rest = tuple(change for change in part.changes if change.path not in own)
    return replace(part, theirs=edit_tree(part.repository, part.theirs, own.items()), changes=rest)


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
