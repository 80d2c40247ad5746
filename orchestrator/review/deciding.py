"""Choices of sides as a person types them (`--ours PATH`), matched with what conflicts. Changes nothing.

A path may be told as covey shows it, or from the folder that the person is in; a folder stands for every conflict in
it. A path that does not conflict is a mistake and is said to be one: the person believes something that is not so.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from merge.landings.weighing import Open, look_ahead
from merge.merging.conflict import Conflict
from merge.merging.resolving import Choice, ChoiceImpossible
from merge.store.repository import Repository
from merge.store.trees import RepoPath, show_path
from orchestrator.faults import UserError
from orchestrator.review.outlook import Weighed
from worker.path_text import quote_path

Side = Literal["ours", "theirs", "union"]

Wanted = Mapping[Side, Sequence[str]]
"""Paths as they were typed, by the side that was asked for."""


def match_choices(
    repository: Repository, weighed: Weighed, wanted: Wanted, here: Path
) -> dict[RepoPath, Choice]:
    """The choices by path of the tree; `here` is the folder that the person is in.

    Raises:
        UserError: when a path does not conflict, is asked for twice, or can't have that side.
    """
    choices: dict[RepoPath, Choice] = {}
    typed: list[tuple[Side, str]] = [(side, path) for side, paths in wanted.items() for path in paths]
    found = weighed.clashed
    while typed:
        conflicts = found.conflicts if isinstance(found, Open) else ()
        unmatched: list[tuple[Side, str]] = []
        for side, path in typed:
            meant = _meant(repository, conflicts, path, here)
            for conflict in meant:
                if choices.setdefault(conflict.path, side) != side:
                    raise UserError(
                        f"{show_path(conflict.path)} can't be both {choices[conflict.path]} and {side}; choose one."
                    )
            if not meant:
                unmatched.append((side, path))
        if unmatched == typed:
            raise UserError(_no_conflict(weighed, conflicts, unmatched[0][1]))
        typed = unmatched
        # What stands in the way of a file shows only when everything before it is decided.
        found = _look_again(repository, weighed, choices) if typed else found
    _look_again(repository, weighed, choices)
    return choices


def _look_again(repository: Repository, weighed: Weighed, choices: Mapping[RepoPath, Choice]) -> Open | None:
    if not choices or weighed.result is None:
        return None
    try:
        found = look_ahead(repository, weighed.known.base, weighed.result.tree, choices)
    except ChoiceImpossible as error:
        raise UserError(str(error)) from error
    return found if isinstance(found, Open) else None


def _meant(repository: Repository, conflicts: Sequence[Conflict], typed: str, here: Path) -> list[Conflict]:
    """The conflicts that a typed path stands for, nearest reading first."""
    from_here = os.path.relpath(os.path.normpath(here / typed), repository.root)
    readings = [os.fsencode(typed), os.fsencode(os.path.normpath(typed)), os.fsencode(from_here)]
    for reading in dict.fromkeys(readings):
        exact = [each for each in conflicts if reading in (each.path, show_path(each.path).encode())]
        if exact:
            return exact
    for reading in dict.fromkeys(readings):
        below = [each for each in conflicts if reading == b"." or each.path.startswith(reading + b"/")]
        if below:
            return below
    return []


def _no_conflict(weighed: Weighed, conflicts: Sequence[Conflict], typed: str) -> str:
    child, path = weighed.known.row.child, quote_path(typed)
    if not conflicts:
        return f"{path} does not conflict, nothing of {child} does now; land it with --land alone."
    names = ", ".join(dict.fromkeys(show_path(conflict.path) for conflict in conflicts))
    if typed in weighed.files:
        return f"{path} does not conflict, it lands as it is; what conflicts is {names}."
    return f"{path} is no path that conflicts; what conflicts is {names}."
