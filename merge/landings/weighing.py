"""What a merge would come to on the disk as it is now: clear, open conflicts, barred. Nothing is changed by asking.

The first half of every landing, and all of a look ahead: a kept checkout is weighed to say whether it would land
now. What is decided on open conflicts (`fix_decision`) is a change of its own, which is merged like any other: so
whatever the person does to a file after the decision is never overwritten by it. A change that reaches into
submodules is weighed part by part; paths are those of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from merge.landings.landing_plan import Ready
from merge.landings.weighing_part import Barred, Clear, Moving, Open, weigh
from merge.merging.conflict import Conflict
from merge.merging.index_look import IndexLook
from merge.merging.parts import Part, conflicts_to_outside, divide, join, to_outside
from merge.merging.present import OnDisk, Unreadable, open_on_disk
from merge.merging.resolving import Choice, Choices, decide
from merge.merging.three_way import Clashed, Merged
from merge.store.git import GitFailed
from merge.store.objects import edit_tree
from merge.store.repository import Repository, operation_in_progress
from merge.store.trees import SUBMODULE, Change, ObjectId, RepoPath, show_path


@dataclass(frozen=True)
class ClearPart:
    """A part that can be landed, with what was found on the disk. `clear` has the part's own paths."""

    part: Part
    present: OnDisk
    clear: Clear


class ClashedParts(Clashed, frozen=True):
    """Conflicts of which some may be in submodules. `parts` are the same, part by part, in each part's own paths."""

    parts: tuple[tuple[Part, Clashed], ...] = ()


def weigh_parts(
    parts: Sequence[Part], choices: Choices, *, follow_folders: bool = True, index: IndexLook | None = None
) -> tuple[ClearPart, ...] | Open | Barred | Moving:
    """Merge each part with what is on the disk, and compare the outcome with it. All parts are clear, or it is not.

    `follow_folders` is as for `merge_trees`, `index` as for `OnDisk`, for the outermost part.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        GitFailed, Unreadable, OSError: when something can't be read.
    """
    clear: list[ClearPart] = []
    clashed: list[tuple[Part, Clashed]] = []
    for part in parts:
        shown = show_path(part.path)
        busy = operation_in_progress(part.repository) if part.path else None
        if busy is not None:
            return Barred(f"{busy} is in progress in {shown}; finish or abort it first")
        present = open_on_disk(part.repository, part.base, index if not part.path else None)
        moved = _moved_submodule(part, present)
        if moved is not None:
            return Barred(
                f"{show_path(moved)} is a submodule whose commit would change; covey does not move the commits of "
                "submodules, and files in one land where it is populated (`git submodule update --init`)"
            )
        own = _choices_in(part, choices)
        match weigh(
            part.repository,
            part.base,
            present,
            part.theirs,
            own,
            changes=part.changes,
            follow_folders=follow_folders,
        ):
            case Clear() as found:
                clear.append(ClearPart(part, present, found))
                clashed.append((part, Clashed((), found.ready.changes, found.notes, found.whole)))
            case Open(conflicts):
                clashed.append((part, conflicts))
            case Barred(reason):
                return Barred(f"in {shown}: {reason}" if part.path else reason)
            case Moving(path):
                return Moving(part.from_outside(path))
    if len(clear) == len(parts):
        return tuple(clear)
    return Open(clashed[0][1] if len(parts) == 1 else _clash_of(parts[0].repository, clashed))


def all_ready(clear: Sequence[ClearPart]) -> Ready:
    """What is left to do in all parts, in the order of the parts; the entries are those of each part's repository."""
    return Ready(
        tuple(_outside(each.part, change) for each in clear for change in each.clear.ready.changes),
        {
            each.part.from_outside(path): seen
            for each in clear
            for path, seen in each.clear.ready.before.items()
        },
        tuple(
            msgspec.structs.replace(folder, path=each.part.from_outside(folder.path))
            for each in clear
            for folder in each.clear.ready.going
        ),
        tuple(each.part.from_outside(folder) for each in clear for folder in each.clear.ready.coming),
        tuple(_told(each.part, note) for each in clear for note in each.clear.ready.notes),
    )


def merge_notes(clear: Sequence[ClearPart]) -> tuple[str, ...]:
    """What the merges of all parts have to tell."""
    return tuple(_told(each.part, note) for each in clear for note in each.clear.notes)


_LOOKS = 3


def look_ahead(
    repository: Repository, base: ObjectId, theirs: ObjectId, choices: Choices
) -> Clear | Open | Barred:
    """What landing the change from `base` to `theirs` would come to now. Takes no lock and waits for nothing.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
    """
    busy = operation_in_progress(repository)
    if busy is not None:
        return Barred(f"{busy} is in progress")
    for _ in range(_LOOKS):
        try:
            found = weigh_parts(divide(repository, base, theirs), choices)
        except (GitFailed, Unreadable, OSError) as fault:
            return Barred(str(fault))
        if isinstance(found, tuple):
            return Clear(all_ready(found), merge_notes(found), found[0].clear.whole)
        if not isinstance(found, Moving):
            return found
    return Barred("its files keep changing")


class Decision(msgspec.Struct, frozen=True):
    """A merge whose conflicts are decided, as a change from what was seen here (`base`) to `result`, two trees."""

    base: ObjectId
    result: ObjectId


def fix_decision(
    repository: Repository, base: ObjectId, clashed: Clashed, choices: Choices
) -> Decision | tuple[Conflict, ...]:
    """The decision that `choices` make on `clashed`, or the conflicts that they leave open.

    Raises:
        ChoiceImpossible: when they ask for what can't be had.
    """
    if not isinstance(clashed, ClashedParts):
        whole = Part(RepoPath(b""), None, repository, base, base, ())
        return fix_decision(repository, base, _clash_of(repository, [(whole, clashed)]), choices)
    seen: dict[RepoPath, ObjectId] = {}
    results: dict[RepoPath, ObjectId] = {}
    still_open: list[Conflict] = []
    for part, found in clashed.parts:
        decided = decide(part.repository, found, _choices_in(part, choices))
        if not isinstance(decided, Merged):
            still_open += conflicts_to_outside(repository, part, decided.conflicts)
            continue
        known = decided.whole or part.base
        before = [(change.path, change.before) for change in decided.changes]
        seen[part.path] = edit_tree(part.repository, known, before)
        after = [(change.path, change.after) for change in decided.changes]
        results[part.path] = edit_tree(part.repository, seen[part.path], after)
    if still_open:
        return tuple(still_open)
    parts = [part for part, _ in clashed.parts]
    told = "What a decision was made on", "What was decided"
    tree, commits = join(parts, seen, {}, told[0], seconds=0)
    result, _ = join(parts, results, commits, told[1], seconds=0)
    return Decision(tree, result)


def _moved_submodule(part: Part, present: OnDisk) -> RepoPath | None:
    """A submodule whose commit the part would change: one that is no part by itself."""
    for change in part.changes:
        modes = {entry.mode for entry in (change.before, change.after) if entry is not None}
        is_move = change.before is not None and change.after is not None and modes == {SUBMODULE}
        if is_move and present.entries({change.path: (change.after,)})[change.path] != change.after:
            return part.from_outside(change.path)
    return None


def _clash_of(outermost: Repository, clashed: Sequence[tuple[Part, Clashed]]) -> ClashedParts:
    conflicts = [
        conflict
        for part, each in clashed
        for conflict in conflicts_to_outside(outermost, part, each.conflicts)
    ]
    settled = [change for part, each in clashed for change in to_outside(outermost, part, each.settled)]
    notes = [_told(part, note) for part, each in clashed for note in each.notes]
    return ClashedParts(
        tuple(conflicts), tuple(settled), tuple(notes), clashed[0][1].whole, parts=tuple(clashed)
    )


def _choices_in(part: Part, choices: Choices) -> Choices:
    """Those of the choices that are about paths of the part, as it calls them."""
    own: dict[RepoPath, Choice] = {}
    for path, choice in choices.items():
        inner = part.from_inside(path)
        if inner is not None:
            own[inner] = choice
    return own


def _outside(part: Part, change: Change) -> Change:
    return Change(part.from_outside(change.path), change.before, change.after)


def _told(part: Part, note: str) -> str:
    return f"in {show_path(part.path)}: {note}" if part.path else note
