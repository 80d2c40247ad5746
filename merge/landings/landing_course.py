"""The course of landings, of children's results or of an undo: merge, plan, stage, and carry out, in groups.

Results that wait together are taken in their order. As many as have nothing to do with one another are one group,
all planned against the disk as it is, and share their waits; any other is a group of its own. What a path holds may
change at any moment; the course of that landing then begins again, alone, a few times. Every other way out leaves
the working tree as it was. The landing lock is held by the caller, who also says what an outcome means.
"""

import errno
import os
import shutil
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from merge.landings.carrying_out import Moved, Tell
from merge.landings.carrying_together import Carried, carry_out_together
from merge.landings.independence import Footprint, Territory, footprint_of
from merge.landings.landing_journal import staging_folder
from merge.landings.landing_records import Facts, next_landing
from merge.landings.plain_writing import PlainFile, plain_files
from merge.landings.staging import Number, PlainParts, Prepared, discard, prepare
from merge.landings.weighing import Barred, ClearPart, Moving, Open, all_ready, merge_notes, weigh_parts
from merge.merging.conflict import Conflict
from merge.merging.parts import Part, divide
from merge.merging.present import Unreadable
from merge.merging.resolving import ChoiceImpossible, Choices
from merge.snapshots.never_lands import is_own_state
from merge.store.git import GitFailed
from merge.store.object_store import ObjectMissing
from merge.store.objects import edit_tree
from merge.store.repository import Repository
from merge.store.seen_config import Rules, read_rules
from merge.store.trees import ObjectId, RepoPath, show_path

ATTEMPTS = 3
"""A person who saves while a landing runs does so once or twice; what changes each time is written by a program."""

GROUP_BYTES = 8 << 20
"""So much of new files is written before the first of a group changes anything: about as much as one wait for the disk
takes without being felt."""


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
    """It was asked for in a way that can't be answered, or we are at fault; nothing was changed."""

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
class _Candidate:
    """A change that waits for its turn. `beside`: its files must wait beside their places."""

    order: int
    wanted: Wanted
    parts: tuple[Part, ...] | None = None
    attempt: int = 1
    beside: bool = False


@dataclass(frozen=True)
class _Weighed:
    """A candidate that can land as the disk is now, by `rules`. Without a `footprint` it has to land alone."""

    clear: tuple[ClearPart, ...]
    plain: PlainParts
    footprint: Footprint | None
    rules: Rules


@dataclass(frozen=True)
class _Member:
    """A candidate that is ready; `notes` are what the merge has to tell."""

    candidate: _Candidate
    prepared: Prepared
    notes: tuple[str, ...]


def run_courses(
    repository: Repository, wanted: Sequence[Wanted], tell: Tell
) -> Iterator[tuple[int, AnyCourse]]:
    """Land changes in the working tree, submodules included, as if one after the other. The caller holds the lock.

    What became of each is told with its place in `wanted`, as soon as it is sure.
    """
    line = deque(_Candidate(order, each) for order, each in enumerate(wanted))
    while line:
        group = yield from _gather(repository, line, tell)
        if not group:
            continue
        again: list[_Candidate] = []
        carried = carry_out_together(repository, [one.prepared for one in group], tell)
        for one, each in zip(group, carried, strict=True):
            outcome = _outcome(one, each)
            if isinstance(outcome, _Candidate):
                again.append(outcome)
            else:
                yield one.candidate.order, outcome
        line.extendleft(reversed(again))


def _gather(
    repository: Repository, line: deque[_Candidate], tell: Tell
) -> Generator[tuple[int, AnyCourse], None, list[_Member]]:
    """Take the next group from the line and make it ready; on the way, tell of those that come to nothing."""
    group: list[_Member] = []
    territory, written = Territory(), 0
    rules: Rules | None = None
    while line and written < GROUP_BYTES:
        one = line[0]
        found = _weigh(repository, one, rules)
        footprint = found.footprint if isinstance(found, _Weighed) else None
        if group and (footprint is None or not territory.has_room_for(footprint)):
            break
        line.popleft()
        if isinstance(found, _Weighed):
            rules = found.rules
            name = group[0].prepared.plan.group if group else None
            found = _make_ready(repository, one, found, name, tell)
        if isinstance(found, _Candidate):
            line.appendleft(found)
        elif not isinstance(found, _Member):
            yield one.order, found
        else:
            group.append(found)
            if footprint is None:
                break
            territory.take(footprint)
            written += found.prepared.written_bytes
    return group


def _weigh(repository: Repository, one: _Candidate, rules: Rules | None) -> _Weighed | _Candidate | AnyCourse:
    wanted = one.wanted
    try:
        parts = one.parts or tuple(map(_without_own_state, divide(repository, wanted.base, wanted.theirs)))
    except ObjectMissing as fault:
        return Failed(fault)
    except (GitFailed, OSError) as fault:
        return Refused(_reason(fault))
    try:
        # An undo takes back what is in the record of a landing, and moves nothing else.
        weighed = weigh_parts(parts, wanted.choices, follow_folders=wanted.facts.undoes is None)
        match weighed:
            case Open(clashed):
                return Clash(clashed.conflicts)
            case Barred(reason):
                return Refused(reason)
            case Moving(path):
                return _again(replace(one, parts=parts), path)
            case _:
                pass
        if not any(each.clear.ready.changes for each in weighed):
            return Nothing()
        rules = rules or read_rules(repository)
        plain = tuple(_plain_files(each, rules if not each.part.path else None) for each in weighed)
        may_share = one.attempt == 1 and None not in plain
        footprint = footprint_of(weighed, map(os.fsencode, rules.within)) if may_share else None
        return _Weighed(weighed, plain, footprint, rules)
    except ChoiceImpossible as fault:
        return Failed(fault)
    except (GitFailed, Unreadable, OSError) as fault:
        return Refused(_reason(fault))


def _plain_files(each: ClearPart, rules: Rules | None) -> Mapping[RepoPath, PlainFile] | None:
    changes = each.clear.ready.changes
    entries = {change.path: change.after for change in changes if change.after is not None}
    return plain_files(each.present, entries, [change.path for change in changes], rules)


def _make_ready(
    repository: Repository, one: _Candidate, weighed: _Weighed, group: str | None, tell: Tell
) -> _Member | Nothing | Refused:
    """Stage it under a number of its own, in the `group` or as the first of a new one."""
    clear, ready = weighed.clear, all_ready(weighed.clear)
    try:
        landing = next_landing(repository)
        number = Number(landing, group or landing)
        try:
            prepared = prepare(repository, clear, weighed.plain, one.wanted.facts, number, tell, one.beside)
        except BaseException:
            _discard(repository, number)
            raise
    except (GitFailed, Unreadable, OSError) as fault:
        return Refused(_reason(fault))
    if not prepared.plan.steps:
        _discard(repository, number)
        return Nothing()
    return _Member(one, prepared, (*merge_notes(clear), *ready.notes, *prepared.notes))


def _discard(repository: Repository, number: Number) -> None:
    staging = staging_folder(repository.common_dir, number.group)
    if number.group == number.landing:
        shutil.rmtree(staging, ignore_errors=True)
    else:
        discard(staging, number.landing)


def _outcome(one: _Member, carried: Carried) -> AnyCourse | _Candidate:
    steps, told = one.prepared.plan.steps, _told_of(carried.kept)
    match carried.fault:
        case None:
            assert carried.has_landed
            paths = tuple(show_path(step.path) for step in steps)
            return Done(one.prepared.plan.landing, paths, (*one.notes, *told))
        case Moved(path=path):
            return _again(one.candidate, path)
        case OSError(errno=errno.EXDEV):
            return _again(replace(one.candidate, beside=True), steps[0].path)
        case fault:
            return Refused("; ".join((_reason(fault), *told)))


def _again(one: _Candidate, path: RepoPath) -> _Candidate | Refused:
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
