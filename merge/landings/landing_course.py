"""The course of landings, of children's results or of an undo: merge, plan, stage, and carry out, in groups.

Results that wait together are taken in their order. As many as have nothing to do with one another are one group,
all planned against the disk as it is, and share their waits; any other is a group of its own. What a path holds may
change at any moment; the course of that landing then begins again, alone, a few times. Every other way out leaves
the working tree as it was. The landing lock is held by the caller, who also says what an outcome means.
"""

import errno
import shutil
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from merge.landings.candidates import (
    AnyCourse,
    Candidate,
    Done,
    Nothing,
    Refused,
    Wanted,
    Weighed,
    again,
    divide_wanted,
    look_at_index_for,
    reason_of,
    weigh_candidate,
)
from merge.landings.carrying_out import Moved, Tell
from merge.landings.carrying_together import Carried, carry_out_together
from merge.landings.independence import Territory
from merge.landings.landing_journal import staging_folder
from merge.landings.landing_records import next_landing
from merge.landings.staging import Number, Prepared, discard, prepare
from merge.landings.weighing import all_ready, merge_notes
from merge.merging.index_look import IndexLook
from merge.merging.present import Unreadable
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.seen_config import Rules
from merge.store.trees import show_path

GROUP_BYTES = 8 << 20
"""So much of new files is written before the first of a group changes anything: about as much as one wait for the disk
takes without being felt."""


@dataclass(frozen=True)
class _Member:
    """A candidate that is ready; `notes` are what the merge has to tell."""

    candidate: Candidate
    prepared: Prepared
    notes: tuple[str, ...]


def run_courses(
    repository: Repository, wanted: Sequence[Wanted], tell: Tell
) -> Iterator[tuple[int, AnyCourse]]:
    """Land changes in the working tree, submodules included, as if one after the other. The caller holds the lock.

    What became of each is told with its place in `wanted`, as soon as it is sure.
    """
    line: deque[Candidate] = deque()
    for order, each in enumerate(wanted):
        parts = divide_wanted(repository, each)
        if isinstance(parts, tuple):
            line.append(Candidate(order, each, parts))
        else:
            yield order, parts
    index = look_at_index_for(repository, line)
    while line:
        group = yield from _gather(repository, line, index, tell)
        if not group:
            continue
        repeated: list[Candidate] = []
        carried = carry_out_together(repository, [one.prepared for one in group], tell)
        for one, each in zip(group, carried, strict=True):
            outcome = _outcome(one, each, was_alone=len(group) == 1)
            if isinstance(outcome, Candidate):
                repeated.append(outcome)
            else:
                yield one.candidate.order, outcome
        line.extendleft(reversed(repeated))


def _gather(
    repository: Repository, line: deque[Candidate], index: IndexLook | None, tell: Tell
) -> Generator[tuple[int, AnyCourse], None, list[_Member]]:
    """Take the next group from the line and make it ready; on the way, tell of those that come to nothing."""
    group: list[_Member] = []
    territory, written = Territory(), 0
    rules: Rules | None = None
    while line and written < GROUP_BYTES:
        one = line[0]
        found = weigh_candidate(repository, one, index, rules)
        footprint = found.footprint if isinstance(found, Weighed) else None
        if group and (footprint is None or not territory.has_room_for(footprint)):
            break
        line.popleft()
        if isinstance(found, Weighed):
            rules = found.rules
            name = group[0].prepared.plan.group if group else None
            found = _make_ready(repository, one, found, name, tell)
        if isinstance(found, Refused) and group:
            line.appendleft(one)  # on a full disk the others may be in its way
            break
        if isinstance(found, Candidate):
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


def _make_ready(
    repository: Repository, one: Candidate, weighed: Weighed, group: str | None, tell: Tell
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
        return Refused(reason_of(fault))
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


def _outcome(one: _Member, carried: Carried, *, was_alone: bool) -> AnyCourse | Candidate:
    steps, told = one.prepared.plan.steps, _told_of(carried.kept)
    match carried.fault:
        case None:
            assert carried.has_landed
            paths = tuple(show_path(step.path) for step in steps)
            return Done(one.prepared.plan.landing, paths, (*one.notes, *told))
        case Moved(path=path):
            return again(one.candidate, path)
        case OSError(errno=errno.EXDEV):
            return again(replace(one.candidate, beside=True), steps[0].path)
        case fault if was_alone or carried.is_open:
            return Refused("; ".join((reason_of(fault), *told)))
        case _:
            # Perhaps for want of room that others of the group took: alone it lands, or is told why not.
            return again(one.candidate, steps[0].path)


def _told_of(kept: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{path} was written to by another program at the last moment and kept" for path in kept)
