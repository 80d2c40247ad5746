"""A landing made ready: its new files written to where they wait, its objects on the disk for good, its plan made.

Nothing in the working tree changes here, and the plan is not yet in its journal. A landing that reaches into
submodules is one plan; each file is written by the rules of the repository that it is in, and its objects are kept
there.
"""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from merge.carrying_out import Tell
from merge.commits import read_commit
from merge.landing_journal import Inside, Plan, make_folder_durably, staging_folder
from merge.landing_plan import Ready, make_steps, new_place, permissions_after
from merge.landing_records import Facts, write_commits
from merge.objects import edit_tree, make_durable, read_entries
from merge.parts import join
from merge.repository import Repository
from merge.trees import Change, ObjectId, RepoPath
from merge.weighing import ClearPart, all_ready
from merge.working_files import Seen, Spot, WorkingFiles, folders_above
from merge.writing_out import write_out


def prepare(
    repository: Repository,
    clear: Sequence[ClearPart],
    facts: Facts,
    landing: str,
    tell: Tell,
    all_beside: bool,
) -> tuple[Plan, tuple[str, ...]]:
    """The plan of a landing, and what is to be told of it. With `all_beside` no file waits in the staging folder.

    Raises:
        GitFailed: when git can't write a file or an object.
        OSError: when the disk refuses.
    """
    staging = staging_folder(repository.common_dir, landing)
    after, notes = _stage(clear, staging, tell)
    ready = all_ready(clear)
    beside = _paths_elsewhere(clear[0].present.files, ready, staging, all_beside)
    steps = make_steps(ready, after, beside, landing)
    before, landed, inside = _record(repository, clear, facts, landing)
    root = os.fsencode(repository.root)
    plan = Plan(
        landing,
        facts.child,
        root,
        steps,
        ready.going,
        ready.coming,
        before,
        landed,
        ready=not beside,
        inside=inside,
    )
    return plan, notes


def _stage(
    clear: Sequence[ClearPart], staging: Path, tell: Tell
) -> tuple[dict[RepoPath, Seen | None], tuple[str, ...]]:
    """Write the new files to where they wait; what waits for which path, and what is to be told."""
    tell("make staging")
    for name in ("written", "new", "old"):
        make_folder_durably(staging / name)
    waiting = WorkingFiles(staging, clear[0].present.files.id_length)
    after: dict[RepoPath, Seen | None] = {}
    notes: list[str] = []
    number = 0
    for order, each in enumerate(clear):
        changes, before = each.clear.ready.changes, each.clear.ready.before
        (staging / "written" / str(order)).mkdir()
        written = WorkingFiles(staging / "written" / str(order), waiting.id_length)
        entries = {change.path: change.after for change in changes if change.after is not None}
        tell("write new files")
        paths = [change.path for change in changes]
        notes += write_out(each.present, entries, paths, written, staging / f"index-{order}")
        for change in changes:
            path = change.path
            if path in entries:
                seen = written.look(path)
                assert seen is not None, f"git wrote no file for {path!r}"
                if seen.kind == "file":
                    written.set_permissions(path, permissions_after(change, before[path], seen))
                    written.sync(path)
                after[each.part.from_outside(path)] = written.look(path)
                # All in one folder: one to sync instead of as many as there are in the tree.
                Spot(written, path).move_to(Spot(waiting, new_place(number)))
            number += 1
    waiting.sync_folders([b"new"])
    return after, tuple(notes)


def _record(
    repository: Repository, clear: Sequence[ClearPart], facts: Facts, landing: str
) -> tuple[ObjectId, ObjectId, tuple[Inside, ...]]:
    """The commits of the trees before and after, in each repository, on the disk for good.

    Beside what lands they hold the parent's tree, or what comes nearest to it of what is known: the child's base.
    """
    seconds = int(time.time())
    concerned = _concerned(clear)
    parts = [each.part for each in concerned]
    old: dict[RepoPath, ObjectId] = {}
    new: dict[RepoPath, ObjectId] = {}
    for each in concerned:
        inner, changes = each.part.repository, each.clear.ready.changes
        known = each.clear.whole or each.part.base
        old[each.part.path] = edit_tree(inner, known, [(change.path, change.before) for change in changes])
        after = [(change.path, change.after) for change in changes]
        new[each.part.path] = edit_tree(inner, old[each.part.path], after)
    old_tree, old_commits = join(parts, old, {}, f"before landing {landing}", seconds=seconds)
    new_tree, new_commits = join(parts, new, old_commits, f"landing {landing}", seconds=seconds)
    before, landed = write_commits(repository, landing, facts, old_tree, new_tree, seconds=seconds)
    inside: list[Inside] = []
    for each in concerned:
        part = each.part
        ends = before, landed
        if part.path:
            ends = old_commits[part.path], new_commits[part.path]
            inside.append(Inside(os.fsencode(part.repository.git_dir), *ends))
        trees = [read_commit(part.repository, commit).tree for commit in ends]
        within = [other.path_in_outer for other in parts if other.outer == part.path and other is not part]
        objects = _objects(part.repository, each.clear.ready.changes, within, trees)
        make_durable(part.repository, {*ends, *trees, *objects})
    return before, landed, tuple(inside)


def _concerned(clear: Sequence[ClearPart]) -> list[ClearPart]:
    """The outermost part, and those others in which, or in a part inside of which, something changes."""
    needed: set[RepoPath | None] = {RepoPath(b"")}
    for each in reversed(clear):
        if each.clear.ready.changes or each.part.path in needed:
            needed |= {each.part.path, each.part.outer}
    return [each for each in clear if each.part.path in needed]


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


def _objects(
    repository: Repository,
    changes: Sequence[Change],
    submodules: Iterable[RepoPath],
    trees: Sequence[ObjectId],
) -> set[ObjectId]:
    """The objects that the changes brought: the blobs, and the folders above them and the submodules in both trees."""
    entries = [entry for change in changes for entry in (change.before, change.after) if entry is not None]
    paths = [*(change.path for change in changes), *submodules]
    above = {folder for path in paths for folder in folders_above(path)}
    for tree in trees if above else ():
        entries += [entry for entry in read_entries(repository, tree, above).values() if entry is not None]
    return {entry.object for entry in entries}
