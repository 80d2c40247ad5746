"""Reviewing as a screen does it: look at what is kept, open one child, land it as decided, drop it.

The same deeds as on the command line, answered in lines instead of printed. Everything here blocks, so a screen
calls it in a thread. Nothing is written to the person's tree before `land`.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from merge.landings.landing import Landed, NothingToLand
from merge.landings.weighing import Decision, fix_decision
from merge.merging.conflict_text import open_conflict
from merge.merging.line_diff import unified_diff
from merge.merging.resolving import Choice, ChoiceImpossible
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import RepoPath
from orchestrator.children.standing import Known, own_repository
from orchestrator.drawing.lines import Line, Span, line
from orchestrator.faults import UserError
from orchestrator.review.acting import told
from orchestrator.review.concluding import land_child
from orchestrator.review.detail import Detail, read_detail
from orchestrator.review.dropping import drop_child, what_goes
from orchestrator.review.editing import lay_out_draft, read_draft
from orchestrator.review.finding import find_child, list_children, open_book, require_for_review, require_home
from orchestrator.review.making_whole import make_whole
from orchestrator.review.outlook import Weighed, weigh_all, weigh_child
from orchestrator.review.sides import FileChoice, open_choice


class Opened(msgspec.Struct, frozen=True):
    """A child that is looked at: what there is to see, and its conflicts with nothing decided."""

    detail: Detail
    diff: bytes
    files: tuple[FileChoice, ...]

    @property
    def weighed(self) -> Weighed:
        return self.detail.weighed


class Done(msgspec.Struct, frozen=True):
    """What came of a deed, in lines; `is_over` when the child is no longer kept."""

    lines: tuple[Line, ...]
    is_over: bool


def list_kept(repository: Repository) -> list[Weighed]:
    """Every child that is for review, with what landing it would come to.

    Raises:
        UserError: when the records can't be read.
    """
    with open_book(repository) as ledger:
        kept = [child for child in list_children(repository, ledger) if child.is_for_review]
    return weigh_all(repository, kept)


def open_child(repository: Repository, name: str) -> Opened:
    """One child with all that there is to see of it.

    Raises:
        UserError: when it is not there to be reviewed, or its versions can't be read.
    """
    known = _find(repository, name)
    own = own_repository(repository, known.row)
    try:
        weighed = weigh_child(repository, known)
        detail = read_detail(own, weighed)
        diff = unified_diff(own, known.base, weighed.result.tree) if weighed.result is not None else b""
        files = [open_choice(each, open_conflict(own, each.conflict)) for each in detail.conflicts]
    except (GitFailed, OSError) as error:
        raise UserError(str(error)) from error
    return Opened(detail, diff, tuple(files))


def land(repository: Repository, opened: Opened, files: Sequence[FileChoice]) -> Done:
    """Land the child as it was looked at, with what was decided; what changed here since is merged, not overwritten.

    Raises:
        UserError: when something is open, can't be had, or somebody else has the child.
    """
    known = opened.weighed.known
    require_home(repository, known)
    decision: Decision | None = None
    if opened.weighed.clashed is not None:
        decided: dict[RepoPath, Choice] = {}
        for each in files:
            choice = each.choice()
            if choice is not None:
                decided[each.conflict.conflict.path] = choice
        try:
            fixed = fix_decision(repository, known.base, opened.weighed.clashed.clashed, decided)
        except (ChoiceImpossible, GitFailed, OSError) as error:
            raise UserError(str(error)) from error
        if not isinstance(fixed, Decision):
            raise UserError(f"{len(fixed)} of its conflicts are still open; choose a side for each.")
        decision = fixed
    with open_book(repository) as ledger:
        assert ledger is not None, "the child was found in it"
        landing, note = land_child(repository, ledger, known, choices={}, decision=decision)
    lines = [*told(landing, known.row.child), *([line(Span(note, "warn"))] if note else [])]
    return Done(tuple(lines), isinstance(landing, Landed | NothingToLand))


def drop(repository: Repository, weighed: Weighed) -> Done:
    """Drop the child; the person was asked.

    Raises:
        UserError: when something can't be removed.
    """
    with open_book(repository) as ledger:
        assert ledger is not None, "the child was found in it"
        dropped = drop_child(repository, ledger, weighed, yes=True, quiet=True)
    assert dropped is not None, "it was said that it may go"
    stays = f"; until covey gc, what it had changed is in {dropped.result}" if dropped.result else ""
    return Done((line(f"dropped {dropped.child}{stays}"),), True)


def what_drop_takes(repository: Repository, weighed: Weighed) -> list[Line]:
    """What a person would lose."""
    return what_goes(repository, weighed)


def draft_of(repository: Repository, opened: Opened, file: FileChoice) -> Path:
    """The file in which a conflict is edited.

    Raises:
        UserError: when there is no text to edit.
    """
    if file.text is None:
        raise UserError("It has no lines to edit; choose a side.")
    return lay_out_draft(repository, opened.weighed.known.row.child, file.conflict.conflict, file.text)


def take_draft(path: Path, file: FileChoice) -> FileChoice:
    """The file with what was written in its draft.

    Raises:
        NothingDecided: when something in it is still contested.
    """
    assert file.text is not None, "it was laid out"
    return msgspec.structs.replace(file, edited=read_draft(path, file.conflict.conflict, file.text))


def _find(repository: Repository, name: str) -> Known:
    with open_book(repository) as ledger:
        known = require_for_review(find_child(repository, ledger, name))
    return make_whole(repository, known)
