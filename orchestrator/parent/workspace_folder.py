"""Which repository a command works in: the one that holds the folder, or covey's own record of a plain folder.

Nothing is written until a session begins. A command that only looks finds a record that is there and makes none.
"""

from collections.abc import Mapping
from pathlib import Path

from merge.snapshots.plain_folder import PlainFolderRefused, find_plain_repository, make_plain_repository
from merge.store.repository import InNoRepository, NotARepository, Repository, find_repository
from orchestrator.config.home import covey_home
from orchestrator.faults import UserError


def find_workspace(folder: Path) -> Repository | None:
    """The repository that holds `folder`, or None where there is none.

    Raises:
        UserError: when there is one that can't be worked in: a bare one, or one that is broken.
    """
    try:
        return find_repository(folder)
    except InNoRepository:
        return None
    except NotARepository as error:
        raise UserError(str(error)) from error


def make_workspace(folder: Path, environment: Mapping[str, str]) -> Repository:
    """The record of a folder in no repository, made if it is not there yet.

    Raises:
        UserError: when it can't have one.
    """
    try:
        return make_plain_repository(folder, _records(environment), person=Path.home())
    except PlainFolderRefused as error:
        raise UserError(str(error)) from error


def find_known_workspace(folder: Path, environment: Mapping[str, str]) -> Repository:
    """The repository that holds `folder`, or else the record of it or of the nearest folder above that has one.

    Raises:
        UserError: when there is neither.
    """
    try:
        return find_repository(folder)
    except InNoRepository as error:
        repository = find_plain_repository(folder, _records(environment))
        if repository is None:
            raise UserError(str(error)) from error
        return repository
    except NotARepository as error:
        raise UserError(str(error)) from error


def is_workspace(folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether `folder` is the root of a repository, or has a record."""
    if (folder / ".git").exists():
        return True
    known = find_plain_repository(folder, _records(environment))
    return known is not None and known.root == folder.resolve()


def _records(environment: Mapping[str, str]) -> Path:
    return covey_home(environment) / "folders"
