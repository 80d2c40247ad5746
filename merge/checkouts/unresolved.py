"""Which files a child left in the middle of a conflict: with git's marks around both sides, which no program can read.

A child may merge, rebase or pop a stash in its checkout, and call it done with the conflict still in a file. To a
landing that is a text like any other. Only what the child has added counts: a file may be about conflicts. Knows no
checkout and no landing.
"""

from collections.abc import Iterable

from merge.store.object_store import ObjectMissing, open_store
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, Change, Entry, RepoPath

_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>")
"""How the lines begin that stand before, between and after two sides, in this order."""

_LIMIT_BYTES = 8 << 20
"""No text that somebody merges by hand is longer."""


def unresolved(repository: Repository, changes: Iterable[Change]) -> tuple[RepoPath, ...]:
    """The paths whose file holds more marked conflicts than it did before."""
    return tuple(
        change.path
        for change in changes
        if (now := _conflicts(repository, change.after)) and now > _conflicts(repository, change.before)
    )


def _conflicts(repository: Repository, entry: Entry | None) -> int:
    if entry is None or entry.mode not in (FILE, EXECUTABLE):
        return 0
    text = _text_or_none(repository, entry)
    return 0 if text is None or _MARKS[0] not in text else count_conflicts(text)


def count_conflicts(text: bytes) -> int:
    """How many whole conflicts are marked in it."""
    found = 0
    for line in text.splitlines():
        # A mark is followed by nothing or by a blank and a name: a longer row of signs is an ornament.
        if line.startswith(_MARKS[found % 3]) and line[7:8] in (b"", b" "):
            found += 1
    return found // 3


def _text_or_none(repository: Repository, entry: Entry) -> bytes | None:
    """None for what is too long, and for a file of a submodule, which is in another repository."""
    store = open_store(repository)
    try:
        # Without libgit2 nothing tells how long it is.
        found = store.read_all([entry.object]) if store.starts_processes else None
        found = found or store.read_small([entry.object], _LIMIT_BYTES)
    except ObjectMissing:
        return None
    return found[0] if found else None
