"""The files of a snapshot, every one written out in full: the way into a checkout that works everywhere.

Git writes them, with the parent's filters and line endings, and an index that knows their dates. A filter that can't
bring a file back (an object that git-lfs would have to fetch) leaves it as the repository stores it.
"""

import dataclasses
import os

from merge.snapshots.snapshot import Snapshot
from merge.store.filters import configured_filters, neutral_switches
from merge.store.git import GitAnswer, GitFailed, GitPlace, ask_git, run_git
from merge.store.private_git import Inheritance

_WRITE_OUT = ("read-tree", "--reset", "-u", "HEAD")


def write_out(place: GitPlace, inheritance: Inheritance, snapshot: Snapshot) -> tuple[str, ...]:
    """Fill the empty folder of `place` with what its HEAD holds; the names of the filters that failed.

    Raises:
        GitFailed: when git can't write a file.
    """
    failing: tuple[str, ...] = ()
    while True:
        patient = dataclasses.replace(place, switches=(*place.switches, *neutral_switches(failing)))
        answer = ask_git(patient, *_WRITE_OUT)
        if answer.status == 0:
            break
        more = [name for name in _blamed(answer, inheritance) if name not in failing]
        if not more:
            raise GitFailed(_WRITE_OUT, answer.status, answer.error)
        failing = (*failing, *more)
    if inheritance.is_sparse:
        _write_out_beyond_patterns(patient, snapshot)
    return failing


def _blamed(answer: GitAnswer, inheritance: Inheritance) -> tuple[str, ...]:
    """The filters at fault: the one that git names, or any of them when one just went away."""
    every = configured_filters(inheritance.config)
    named = tuple(name for name in every if f"smudge filter {name} failed" in answer.error)
    return named or (every if "the remote end hung up" in answer.error else ())


def _write_out_beyond_patterns(place: GitPlace, snapshot: Snapshot) -> None:
    """Bring in files that the parent has changed though its sparse checkout leaves them out."""
    paths = [change.path for change in snapshot.changes if change.after is not None]
    missing = [path for path in paths if not os.path.lexists(os.fsencode(place.folder) + b"/" + path)]
    feed = b"".join(path + b"\0" for path in missing)
    if missing:
        run_git(place, "update-index", "--no-skip-worktree", "-z", "--stdin", feed=feed)
        run_git(place, "checkout-index", "-u", "-z", "--stdin", feed=feed)
