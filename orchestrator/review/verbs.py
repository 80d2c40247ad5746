"""The verbs of review on the command line: `review`, `undo`, `gc`, `children`. Reads arguments, and imports what a
verb needs when it is run.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.faults import UserError
from orchestrator.options import add_budget_options, add_endpoint_options

if TYPE_CHECKING:
    from merge.store.repository import Repository

AddVerb = Callable[..., argparse.ArgumentParser]
"""`add_parser` of the program's verbs."""


def add_review_verbs(add: AddVerb) -> None:
    review = add("review", help="list what is kept, look at it, land it or drop it")
    review.set_defaults(verb=_review)
    review.add_argument("child", nargs="?", metavar="ID", help="a child's id, or how it begins")
    review.add_argument("--land", action="store_true", help="land it again now")
    for side, meaning in (
        ("ours", "leave PATH as it is here"),
        ("theirs", "take the child's PATH"),
        ("union", "keep the lines of both"),
    ):
        review.add_argument(
            f"--{side}", action="append", default=[], metavar="PATH", help=f"land it, and {meaning}"
        )
    review.add_argument(
        "--edit", action="store_true", help="edit what conflicts in your editor, then land it"
    )
    review.add_argument("--tool", action="store_true", help="open your merge tool, then land it")
    review.add_argument(
        "--send-back",
        nargs="?",
        const="",
        metavar="TEXT",
        help="let it go on, told TEXT and why it was kept",
    )
    review.add_argument("--drop", action="store_true", help="remove it, after asking")
    review.add_argument("--terminal", action="store_true", help="print it, without the screen")
    review.add_argument("--yes", action="store_true", help="with --drop: do not ask")
    _add_json(review)
    add_endpoint_options(review, below=True)
    add_budget_options(review, below=True)

    undo = add("undo", help="take back a landing: the last one, or the one that is named")
    undo.set_defaults(verb=_undo)
    undo.add_argument("name", nargs="?", metavar="LANDING-OR-ID", help="a landing's number or a child's id")
    undo.add_argument("--list", action="store_true", help="list the landings")
    _add_json(undo)

    gc = add("gc", help="forget what has landed or was dropped; what is kept stays")
    gc.set_defaults(verb=_gc)
    gc.add_argument("--dry-run", action="store_true", help="only say what would be forgotten")
    _add_json(gc)

    children = add("children", help="list the children of this repository, in whichever session")
    children.set_defaults(verb=_children)
    _add_json(children)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print data instead of a view")


def _here() -> "Repository":
    from orchestrator.review.finding import find_repository_here

    return find_repository_here(Path.cwd())


def _review(arguments: argparse.Namespace) -> int:
    _refuse_contradictions(arguments)
    repository = _here()
    if arguments.send_back is not None:
        return _send_back(arguments, repository)
    if _lands(arguments) or arguments.drop:
        return _act(arguments, repository)
    from orchestrator.screen_choice import can_be_window

    if not arguments.json and not arguments.terminal and can_be_window():
        return _review_on_screen(arguments, repository)
    return _show(arguments, repository)


def _lands(arguments: argparse.Namespace) -> bool:
    decides = arguments.ours or arguments.theirs or arguments.union or arguments.edit or arguments.tool
    return bool(arguments.land or decides)


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    acts = _lands(arguments)
    if arguments.yes and not arguments.drop:
        raise UserError("--yes goes with --drop.")
    if arguments.drop and acts:
        raise UserError("--drop throws the child away; it can't be landed as well. Choose one.")
    if arguments.edit and arguments.tool:
        raise UserError("--edit and --tool both decide what conflicts; choose one.")
    if arguments.send_back is not None and (acts or arguments.drop):
        raise UserError(
            "--send-back lets the child go on; it can't be landed or dropped as well. Choose one."
        )
    if arguments.child is None and (acts or arguments.drop or arguments.send_back is not None):
        raise UserError("Which child? `covey review` lists them; name one: covey review ID --land.")


def _act(arguments: argparse.Namespace, repository: "Repository") -> int:
    from orchestrator.review.acting import Wishes, act
    from orchestrator.review.deciding import Wanted
    from orchestrator.review.finding import find_child, open_book, require_for_review

    wanted: Wanted = {"ours": arguments.ours, "theirs": arguments.theirs, "union": arguments.union}
    wishes = Wishes(wanted, arguments.edit, arguments.tool, arguments.drop, arguments.yes, arguments.json)
    with open_book(repository) as ledger:
        known = require_for_review(find_child(repository, ledger, arguments.child))
        assert ledger is not None, "a child was found in it"
        return act(repository, ledger, known, wishes, Path.cwd())


def _show(arguments: argparse.Namespace, repository: "Repository") -> int:
    from orchestrator.review.finding import find_child, open_book, require_for_review

    with open_book(repository) as ledger:
        if arguments.child is None:
            from orchestrator.review.listing import list_kept

            return list_kept(repository, ledger, as_json=arguments.json)
        from orchestrator.review.making_whole import make_whole
        from orchestrator.review.showing import show_child

        known = require_for_review(find_child(repository, ledger, arguments.child))
        return show_child(repository, make_whole(repository, known), as_json=arguments.json)


def _review_on_screen(arguments: argparse.Namespace, repository: "Repository") -> int:
    from orchestrator.review.finding import find_child, list_children, open_book, require_for_review
    from orchestrator.review.listing import list_kept

    with open_book(repository) as ledger:
        if arguments.child is not None:
            require_for_review(find_child(repository, ledger, arguments.child))
        elif not any(each.is_for_review for each in list_children(repository, ledger)):
            return list_kept(repository, ledger, as_json=False)
    from orchestrator.terminal.review_elsewhere import ANSWER_VARIABLE, write_answer
    from orchestrator.window.run import review_in_window

    wanted = review_in_window(repository, arguments.child or "")
    if wanted is None:
        return 0
    if os.environ.get(ANSWER_VARIABLE):
        write_answer(Path(os.environ[ANSWER_VARIABLE]), wanted)
        return 0
    arguments.child, arguments.send_back = wanted.child, wanted.text
    return _send_back(arguments, repository)


def _send_back(arguments: argparse.Namespace, repository: "Repository") -> int:
    """Let the child go on in a session that does nothing else."""
    from orchestrator.review.finding import find_child, open_book, require_for_review, require_home
    from orchestrator.review.making_whole import make_whole
    from orchestrator.review.sending_back import message_for
    from orchestrator.session_verbs import hold_for
    from orchestrator.unattended.courses import sent_back

    with open_book(repository) as ledger:
        known = require_for_review(find_child(repository, ledger, arguments.child))
        require_home(repository, known)
        known = make_whole(repository, known)
        message = message_for(repository, known, arguments.send_back)
    return hold_for(arguments, "send-back", sent_back(known.row.child, message), repository)


def _undo(arguments: argparse.Namespace) -> int:
    from orchestrator.review.finding import open_book
    from orchestrator.review.undoing import list_undoable, undo

    if arguments.list and arguments.name is not None:
        raise UserError("--list lists every landing; leave the name out.")
    repository = _here()
    if arguments.list:
        return list_undoable(repository, as_json=arguments.json)
    with open_book(repository) as ledger:
        return undo(repository, ledger, arguments.name, as_json=arguments.json)


def _gc(arguments: argparse.Namespace) -> int:
    from orchestrator.review.collecting import collect
    from orchestrator.review.finding import open_book

    repository = _here()
    with open_book(repository) as ledger:
        return collect(repository, ledger, dry_run=arguments.dry_run, as_json=arguments.json)


def _children(arguments: argparse.Namespace) -> int:
    from orchestrator.review.finding import open_book
    from orchestrator.review.roll import list_roll

    repository = _here()
    with open_book(repository) as ledger:
        return list_roll(repository, ledger, as_json=arguments.json)
