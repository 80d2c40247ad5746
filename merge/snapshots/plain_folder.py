"""A folder in no repository: its record is a repository of covey's own, outside the folder, which stays as it is.

To the rest of this room it is a repository like any other, whose git directory happens to stand elsewhere. Like
`merge.store.repository` this runs no git and imports no library. Where records are kept is told by the caller.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from merge.store.repository import Repository, looks_like_git_dir

_MARK = "covey/folder"
"""In the git directory: the folder that it is the record of, for a person who finds it."""


class PlainFolderRefused(Exception):
    """Raised when a folder can't have a record. `str()` tells a person what to do."""


def make_plain_repository(folder: Path, records: Path, *, person: Path) -> Repository:
    """The record of `folder`, kept below `records` and made if it is not there yet. `person` is the person's home.

    `folder` must be in no repository; nothing is written in it.

    Raises:
        PlainFolderRefused: when the folder holds the home of a person, or the record can't be written.
    """
    folder, records, person = folder.resolve(), records.resolve(), person.resolve()
    if person.is_relative_to(folder):
        what = "is your home" if folder == person else "holds your home"
        raise PlainFolderRefused(
            f"{folder} {what}, not one project; go to the folder that you mean to work in."
        )
    if records.is_relative_to(folder):
        raise PlainFolderRefused(
            f"{folder} holds covey's own records ({records}); go to another folder, or run `git init` here."
        )
    repository = _record_of(folder, records)
    if not looks_like_git_dir(repository.git_dir):
        try:
            _lay_out(folder, repository.git_dir)
        except OSError as error:
            raise PlainFolderRefused(
                f"{folder} is in no git repository, and covey can't write its own record of it in "
                f"{repository.git_dir} ({error.strerror}); make that writable, or run `git init` here."
            ) from error
    return repository


def find_plain_repository(folder: Path, records: Path) -> Repository | None:
    """The record of `folder`, or of the nearest folder above it that has one."""
    folder, records = folder.resolve(), records.resolve()
    for candidate in (folder, *folder.parents):
        repository = _record_of(candidate, records)
        if looks_like_git_dir(repository.git_dir):
            return repository
    return None


def is_plain(repository: Repository) -> bool:
    """Whether it is the record of a plain folder: then its index is covey's own as well."""
    return (repository.git_dir / _MARK).is_file()


def _record_of(folder: Path, records: Path) -> Repository:
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    git_dir = records / name / "git"
    return Repository(folder, git_dir, git_dir)


def _lay_out(folder: Path, git_dir: Path) -> None:
    """Make the git directory (gitrepository-layout(5)), all of it or none."""
    # What is in the folder may be for its owner alone, and all of it will be in here.
    git_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=git_dir.parent, ignore_cleanup_errors=True) as made:
        new = Path(made, "git")
        for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "covey"):
            (new / name).mkdir(parents=True)
        (new / "HEAD").write_text("ref: refs/heads/main\n")
        (new / "config").write_bytes(_config(folder))
        (new / _MARK).write_bytes(os.fsencode(folder) + b"\n")
        try:
            new.rename(git_dir)
        except OSError:
            if not looks_like_git_dir(git_dir):  # otherwise another session was faster
                raise


def _config(folder: Path) -> bytes:
    path = os.fsencode(folder).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return (
        b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
        b'\tworktree = "' + path.replace(b"\t", b"\\t") + b'"\n'
    )
