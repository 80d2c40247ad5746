"""What has landed, as refs: `refs/covey/landings/<id>` is a commit that differs from its parent by the landing.

The two hold the objects that undo and review need until `covey gc`, and the few facts about a landing in the
message of the first. Ids are numbers that count up and are never given twice in a repository.
"""

import os

import msgspec

from merge.landings.landing_journal import make_folder_durably
from merge.landings.own_refs import LANDINGS
from merge.store.commits import write_commit
from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository
from merge.store.trees import ObjectId, show_path

_DIGITS = 12


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a landing beside its trees. `undoes` is the landing that it took back, if it did.

    `worktree` names the linked worktree that it landed in; it is empty for the repository's own working tree.
    """

    child: str
    undoes: str | None = None
    worktree: str = ""


class LandingRecord(msgspec.Struct, frozen=True):
    """One landing. `before` and `after` are commits; `seconds` is when it landed, since 1970."""

    landing: str
    facts: Facts
    seconds: int
    before: ObjectId
    after: ObjectId


def facts_of(repository: Repository, child: str, undoes: str | None = None) -> Facts:
    """The facts of a landing in this working tree."""
    linked = repository.git_dir != repository.common_dir
    # git's own name for the worktree: it stays when the folder is moved.
    return Facts(child, undoes, show_path(os.fsencode(repository.git_dir.name)) if linked else "")


def next_landing(repository: Repository) -> str:
    """An id that no landing of this repository has had; the landing lock must be held.

    `covey/landings/last` is to be on the disk before the id is used for anything that lasts.
    """
    counter = repository.common_dir.joinpath("covey/landings/last")
    make_folder_durably(counter.parent)
    descriptor = os.open(counter, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        last = os.pread(descriptor, _DIGITS, 0)
        known = (
            int(last)
            if last.isdigit()
            else max((int(record.landing) for record in read_records(repository)), default=0)
        )
        number = str(known + 1)
        # Always as long as before, and in its place: however the machine stops, the old number or the new one is there.
        os.pwrite(descriptor, b"%s\n" % number.rjust(_DIGITS, "0").encode(), 0)
    finally:
        os.close(descriptor)
    return number


def write_commits(
    repository: Repository, landing: str, facts: Facts, before: ObjectId, after: ObjectId, *, seconds: int
) -> tuple[ObjectId, ObjectId]:
    """Commits of the two trees, to which nothing points yet; the first is the same for results of the same base."""
    first = write_commit(repository, before, None, "before a landing", seconds=seconds)
    told = msgspec.json.encode(facts).decode()
    second = write_commit(repository, after, first, f"landing {landing}\n\n{told}", seconds=seconds)
    return first, second


def read_records(repository: Repository) -> tuple[LandingRecord, ...]:
    """Every landing that is still recorded, in any of the repository's working trees, the oldest first.

    Raises:
        GitFailed: when git can't read the refs.
    """
    place = GitPlace(repository.root, git_dir=repository.git_dir)
    # NUL can't be in any of them; a message ends in a newline.
    form = "%(refname)%00%(objectname)%00%(parent)%00%(committerdate:unix)%00%(contents:body)%00"
    fields = run_git(place, "for-each-ref", f"--format={form}", LANDINGS).output.split(b"\0")
    records = [
        LandingRecord(
            landing,
            msgspec.json.decode(body, type=Facts),
            int(seconds),
            ObjectId(before.decode()),
            ObjectId(after.decode()),
        )
        for ref, after, before, seconds, body in zip(*(fields[field::5] for field in range(5)), strict=False)
        if (landing := os.fsdecode(ref.strip()).removeprefix(LANDINGS)).isdecimal()
    ]
    return tuple(sorted(records, key=lambda record: int(record.landing)))
