"""A change that waits to land, divided into its parts and weighed by the disk as it is; and what can come of it.

Decides only: nothing on the disk changes here. Knows nothing of groups (`merge.landings.landing_course`).
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import msgspec

from merge.landings.independence import Footprint, footprint_of
from merge.landings.landing_records import Facts
from merge.landings.plain_writing import PlainFile, plain_files
from merge.landings.staging import PlainParts
from merge.landings.weighing import Barred, ClearPart, Moving, Open, weigh_parts
from merge.merging.conflict import Conflict
from merge.merging.index_look import IndexLook, look_at_index
from merge.merging.parts import Part, divide
from merge.merging.present import Unreadable
from merge.merging.resolving import ChoiceImpossible, Choices
from merge.snapshots.never_lands import is_own_state
from merge.store.git import GitFailed
from merge.store.object_store import ObjectMissing
from merge.store.objects import edit_tree
from merge.store.plain_rules import attributes_above
from merge.store.repository import Repository
from merge.store.seen_config import Rules, read_rules
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


@dataclass(frozen=True)
class Failed:
    """It was asked for in a way that can't be answered; nothing was changed."""

    fault: Exception


AnyCourse = Done | Nothing | Clash | Refused | Failed


@dataclass(frozen=True)
class Wanted:
    """The change from `base` to `theirs`, which is to land; `choices` decide its conflicts by path.

    What it has in `.covey/` stays behind, save the project's own settings there.
    """

    base: ObjectId
    theirs: ObjectId
    facts: Facts
    choices: Choices


@dataclass(frozen=True)
class Candidate:
    """A change that waits for its turn. `beside`: its files must wait beside their places."""

    order: int
    wanted: Wanted
    parts: tuple[Part, ...]
    attempt: int = 1
    beside: bool = False


@dataclass(frozen=True)
class Weighed:
    """A candidate that can land as the disk is now, by `rules`. Without a `footprint` it has to land alone."""

    clear: tuple[ClearPart, ...]
    plain: PlainParts
    footprint: Footprint | None
    rules: Rules


def divide_wanted(repository: Repository, wanted: Wanted) -> tuple[Part, ...] | Failed | Refused:
    """The parts of a change, without what never lands."""
    try:
        return tuple(map(_without_own_state, divide(repository, wanted.base, wanted.theirs)))
    except ObjectMissing as fault:
        return Failed(fault)
    except (GitFailed, OSError) as fault:
        return Refused(reason_of(fault))


def look_at_index_for(repository: Repository, line: Collection[Candidate]) -> IndexLook | None:
    """What the index says of files that come new, asked once for all; None where that would be no less."""
    outermost = [one.parts[0].changes for one in line]
    new = {change.path for changes in outermost for change in changes if change.before is None}
    if len(line) < 2 or not new:
        return None
    try:
        return look_at_index(repository, new | attributes_above(new))
    except GitFailed:
        return None  # each asks for itself, and is told why that fails


def weigh_candidate(
    repository: Repository, one: Candidate, index: IndexLook | None, rules: Rules | None
) -> Weighed | Candidate | AnyCourse:
    """Merge a candidate with what is on the disk; the candidate again where that changed while it was looked at.

    `index` and `rules` are what somebody has just found there.
    """
    wanted = one.wanted
    try:
        # An undo takes back what is in the record of a landing, and moves nothing else.
        follow_folders = wanted.facts.undoes is None
        weighed = weigh_parts(one.parts, wanted.choices, follow_folders=follow_folders, index=index)
        match weighed:
            case Open(clashed):
                return Clash(clashed.conflicts)
            case Barred(reason):
                return Refused(reason)
            case Moving(path):
                return again(one, path)
            case _:
                pass
        if not any(each.clear.ready.changes for each in weighed):
            return Nothing()
        rules = rules or read_rules(repository)
        plain = tuple(_plain_files(each, rules if not each.part.path else None) for each in weighed)
        may_share = one.attempt == 1 and None not in plain
        footprint = footprint_of(weighed, map(os.fsencode, rules.within)) if may_share else None
        return Weighed(weighed, plain, footprint, rules)
    except ChoiceImpossible as fault:
        return Failed(fault)
    except (GitFailed, Unreadable, OSError) as fault:
        return Refused(reason_of(fault))


def _plain_files(each: ClearPart, rules: Rules | None) -> Mapping[RepoPath, PlainFile] | None:
    changes = each.clear.ready.changes
    entries = {change.path: change.after for change in changes if change.after is not None}
    return plain_files(each.present, entries, [change.path for change in changes], rules)


def again(one: Candidate, path: RepoPath) -> Candidate | Refused:
    """The candidate once more, alone, since `path` is not as it was; a few times."""
    if one.attempt == ATTEMPTS:
        return Refused(f"{show_path(path)} kept changing while it was merged")
    return replace(one, attempt=one.attempt + 1)


def _without_own_state(part: Part) -> Part:
    own = {change.path: change.before for change in part.changes if is_own_state(change.path)}
    if not own:
        return part
    rest = tuple(change for change in part.changes if change.path not in own)
    return replace(part, theirs=edit_tree(part.repository, part.theirs, own.items()), changes=rest)


def reason_of(fault: Exception) -> str:
    """A fault of the disk's or of git's in words."""
    if isinstance(fault, OSError) and fault.strerror is not None:
        name = fault.filename
        shown = (
            show_path(name if isinstance(name, bytes) else os.fsencode(str(name))) if name is not None else ""
        )
        return f"{shown}: {fault.strerror}".removeprefix(": ")
    return str(fault)
