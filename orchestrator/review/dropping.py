"""`covey review ID --drop`: a kept child thrown away, after saying what goes with it and asking.

Nothing is dropped without a yes, typed or on the command line. What the child had made of the files stays readable
as a ref until `covey gc`; what only its folder holds is gone.
"""

import sys
import time

import msgspec

from merge.checkouts.checkout import CheckoutFailed
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import commits_made, take_result
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import show_path
from orchestrator.children.first_message import listed
from orchestrator.children.ledger import Ledger
from orchestrator.children.standing import Known, own_repository
from orchestrator.drawing.figures import count
from orchestrator.drawing.lines import Line, Span, line, tame_line
from orchestrator.faults import UserError
from orchestrator.printing.once import show_lines
from orchestrator.review.drafts import remove_drafts
from orchestrator.review.outlook import Weighed, checkout_of


class Dropped(msgspec.Struct, frozen=True, tag=True):
    """A child that was dropped. `result` is the ref of what it had made, None where it had made nothing."""

    child: str
    result: str | None


def drop_child(
    repository: Repository, ledger: Ledger, weighed: Weighed, *, yes: bool, quiet: bool
) -> Dropped | None:
    """Drop the child; None when the person thinks better of it. `quiet` prints nothing.

    Raises:
        UserError: when nobody can be asked, or something can't be removed.
    """
    known, row = weighed.known, weighed.known.row
    if not quiet:
        show_lines(what_goes(repository, weighed))
    if not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UserError(f"Nobody can be asked here; add --yes to drop {row.child}. Nothing was dropped.")
        if not _asked(f"Drop {row.child}? [y/N] "):
            return None
    try:
        made = _pin_result(repository, known)
        # The row first: a folder without a kept row is found again and can be dropped again.
        over = row.state in ("landed", "ended")
        if not over and not ledger.swap(
            row, msgspec.structs.replace(row, state="dropped", changed_at=time.time())
        ):
            raise UserError(f"{row.child} is being dealt with elsewhere just now; look at it again.")
        if known.folder is not None:
            remove_checkout(own_repository(repository, row), checkout_of(known), keep_refs=True)
        remove_drafts(repository, row.child)
    except (GitFailed, OSError) as error:
        raise UserError(f"{row.child} could not be removed as a whole: {error}; drop it again.") from error
    return Dropped(row.child, f"refs/covey/children/{row.child}/result" if made else None)


def what_goes(repository: Repository, weighed: Weighed) -> list[Line]:
    """What a person would lose, as lines."""
    known, row = weighed.known, weighed.known.row
    lines = [line(Span(row.child, "strong"), f" {tame_line(row.title)}")]
    if known.folder is None:
        return [*lines, line("  its folder is gone already")]
    lines.append(line(f"  its folder {tame_line(row.checkout or str(known.folder))}"))
    result = weighed.result
    if result is None:
        return [*lines, line("  and whatever is in it")]
    if row.state == "landed":
        lines.append(line("  its edits have landed"))
    elif result.changes:
        paths = tame_line(listed([show_path(change.path) for change in result.changes]))
        lines.append(line(Span(f"  {count(len(result.changes), 'file')} it changed: {paths}", "warn")))
    try:
        commits = commits_made(repository, checkout_of(known))
    except (CheckoutFailed, GitFailed) as error:
        lines.append(line(Span(f"  commits of its own that can't be read: {error}", "warn")))
    else:
        if commits:
            lines.append(line(Span(f"  {count(len(commits), 'commit')} of its own:", "warn")))
            lines += [line(f"    {each.commit[:10]} {tame_line(each.subject)}") for each in commits]
    lines += [line(Span(f"  {tame_line(f'{left.path}: {left.reason}')}", "warn")) for left in result.left_out]
    return [*lines, line("  and whatever git ignores in it")]


def _pin_result(repository: Repository, known: Known) -> bool:
    """Let the ref of the result show what is in the folder now; whether there is any."""
    if not known.is_whole:
        return False
    try:
        return bool(take_result(own_repository(repository, known.row), checkout_of(known)).changes)
    except (CheckoutFailed, GitFailed):
        return False


def _asked(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
