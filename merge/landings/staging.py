"""A landing made ready: its new files written to where they wait, its objects stored, its plan made.

Nothing in the working tree changes here, the plan is not yet in its journal, and nothing need be on the disk yet. A
landing that reaches into submodules is one plan; each file is written by the rules of the repository that it is in,
and its objects are kept there.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from merge.files.removal import remove_tree
from merge.files.working_files import Seen, Spot, WorkingFiles, folders_above
from merge.landings.carrying_out import Tell
from merge.landings.landing_journal import Inside, Plan, staging_folder
from merge.landings.landing_plan import Ready, make_steps, new_place, permissions_after
from merge.landings.landing_records import Facts, write_commits
from merge.landings.plain_writing import PlainFile
from merge.landings.weighing import ClearPart, all_ready
from merge.landings.writing_out import write_out
from merge.merging.parts import join
from merge.store.commits import read_commit
from merge.store.objects import edit_tree, read_entries, unsynced_objects
from merge.store.repository import Repository
from merge.store.syncing import Unsynced
from merge.store.trees import Change, ObjectId, RepoPath


@dataclass(frozen=True)
class Prepared:
    """A landing that can begin once what it `needs` is on the disk. `notes` are to be told.

    `written_bytes` are those of the files that were written as they are stored.
    """

    plan: Plan
    notes: tuple[str, ...]
    needs: tuple[Unsynced, ...]
    written_bytes: int


class Number(NamedTuple):
    """The number of a landing, and that of the group which it is in."""

    landing: str
    group: str


PlainParts = Sequence[Mapping[RepoPath, PlainFile] | None]
"""For each part of a change the files that are written as they are stored, as `plain_files` finds them."""


def prepare(
    repository: Repository,
    clear: Sequence[ClearPart],
    plain: PlainParts,
    facts: Facts,
    number: Number,
    tell: Tell,
    all_beside: bool,
) -> Prepared:
    """Make a landing ready. With `all_beside` no file waits in the staging folder.

    Raises:
        GitFailed: when git can't write a file or an object.
        OSError: when the disk refuses.
    """
    landing = number.landing
    staging = staging_folder(repository.common_dir, number.group)
    after, notes = _stage(clear, plain, staging, landing, tell)
    ready = all_ready(clear)
    beside = _paths_elsewhere(clear[0].present.files, ready, staging, all_beside)
    steps = make_steps(ready, after, beside, landing)
    before, landed, inside, objects = _record(repository, clear, facts, landing)
    root = os.fsencode(repository.root)
    plan = Plan(
        landing,
        number.group,
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
    own = f"staging/{number.group}"
    waiting = [
        f"{own}/{os.fsdecode(new_place(landing, order))}"
        for order, change in enumerate(ready.changes)
        if change.path in after
    ]
    covey = [*waiting, own, "staging", "landings/last", "", ".."]
    needs = (Unsynced(f"{repository.common_dir}/covey", covey), *objects)
    files = [file for part in plain if part is not None for file in part.values()]
    return Prepared(plan, notes, needs, sum(len(file.content) for file in files))


def discard(staging: Path, landing: str) -> None:
    """Remove what waits for a landing that is none; what others of its group have there stays."""
    prefix = f"{landing}-"
    with contextlib.suppress(OSError):  # what stays here goes with the group's folder
        for entry in os.scandir(staging):
            if entry.name.startswith(prefix):
                remove_tree(Path(entry.path))


def _stage(
    clear: Sequence[ClearPart], plain_parts: PlainParts, staging: Path, landing: str, tell: Tell
) -> tuple[dict[RepoPath, Seen | None], tuple[str, ...]]:
    """Write the new files to where they wait; what waits for which path, and what is to be told."""
    tell("make staging")
    if not staging.is_dir():
        staging.mkdir(parents=True)
    waiting = WorkingFiles(staging, clear[0].present.files.id_length)
    after: dict[RepoPath, Seen | None] = {}
    notes: list[str] = []
    first = 0
    for order, (each, plain) in enumerate(zip(clear, plain_parts, strict=True)):
        changes = each.clear.ready.changes
        places = {change.path: new_place(landing, own) for own, change in enumerate(changes, first)}
        entries = {change.path: change.after for change in changes if change.after is not None}
        tell("write new files")
        seen: dict[RepoPath, Seen | None] = {}
        if plain is not None:
            with waiting.open_folder(b"") as folder:
                for path, file in plain.items():
                    seen[path] = file.write(folder, places[path])
        else:
            written = WorkingFiles(staging / f"{landing}-written-{order}", waiting.id_length)
            written.root.mkdir()
            index = staging / f"{landing}-index-{order}"
            notes += write_out(each.present, entries, list(places), written, index)
            for path in entries:
                # All in one folder: one to sync instead of as many as there are in the tree.
                Spot(written, path).move_to(Spot(waiting, places[path]))
                seen[path] = waiting.look(places[path])
        for change in changes:
            if change.path in entries:
                before = each.clear.ready.before[change.path]
                will_be = _as_it_will_be(waiting, places[change.path], change, before, seen[change.path])
                after[each.part.from_outside(change.path)] = will_be
        first += len(changes)
    return after, tuple(notes)


def _as_it_will_be(
    waiting: WorkingFiles, place: RepoPath, change: Change, before: Seen | None, written: Seen | None
) -> Seen:
    """The new file of a change, which is given the permissions that it shall have."""
    assert written is not None, f"no file was written for {change.path!r}"
    permissions = permissions_after(change, before, written)
    if written.kind != "file" or permissions == written.permissions:
        return written
    waiting.set_permissions(place, permissions)
    return msgspec.structs.replace(written, permissions=permissions)


def _record(
    repository: Repository, clear: Sequence[ClearPart], facts: Facts, landing: str
) -> tuple[ObjectId, ObjectId, tuple[Inside, ...], tuple[Unsynced, ...]]:
    """The commits of the trees before and after, in each repository; what of it need not be on the disk yet.

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
        if known == each.part.base and changes == each.part.changes:
            old[each.part.path], new[each.part.path] = known, each.part.theirs
            continue
        old[each.part.path] = edit_tree(inner, known, [(change.path, change.before) for change in changes])
        after = [(change.path, change.after) for change in changes]
        new[each.part.path] = edit_tree(inner, old[each.part.path], after)
    old_tree, old_commits = join(parts, old, {}, f"before landing {landing}", seconds=seconds)
    new_tree, new_commits = join(parts, new, old_commits, f"landing {landing}", seconds=seconds)
    before, landed = write_commits(repository, landing, facts, old_tree, new_tree, seconds=seconds)
    inside: list[Inside] = []
    needs: list[Unsynced] = []
    for each in concerned:
        part = each.part
        ends = before, landed
        if part.path:
            ends = old_commits[part.path], new_commits[part.path]
            inside.append(Inside(os.fsencode(part.repository.git_dir), *ends))
        trees = (
            (old_tree, new_tree)
            if not part.path
            else tuple(read_commit(part.repository, commit).tree for commit in ends)
        )
        within = [other.path_in_outer for other in parts if other.outer == part.path and other is not part]
        objects = _objects(part.repository, ends, trees, each.clear.ready.changes, within)
        needs.append(unsynced_objects(part.repository, objects))
    return before, landed, tuple(inside), tuple(needs)


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
    commits: Sequence[ObjectId],
    trees: Sequence[ObjectId],
    changes: Sequence[Change],
    submodules: Iterable[RepoPath],
) -> Iterator[ObjectId]:
    """The objects that the changes brought: commits, trees, blobs, the folders above them and above the submodules."""
    yield from (*commits, *trees)
    for change in changes:
        yield from (entry.object for entry in (change.before, change.after) if entry is not None)
    above = {
        folder
        for path in (*(change.path for change in changes), *submodules)
        for folder in folders_above(path)
    }
    for tree in trees if above else ():
        entries = read_entries(repository, tree, above).values()
        yield from (entry.object for entry in entries if entry is not None)
