"""The folder beside a repository that holds the checkouts of its children: made for the first, gone with the last.

Where it lies in the working tree of another repository (a submodule's parent, a home that is one), git there is told to
pass it over: nobody's `git add --all` takes a child's checkout for work. Knows nothing of what is in a checkout.
"""

import contextlib
import errno
import os
from pathlib import Path

from merge.files.removal import remove_tree
from merge.store.repository import Repository, children_folder

_RULES = ".gitignore"
_NO_PART = "# Checkouts of covey's children, which are no part of the repository around them.\n*\n"


class NoPlace(Exception):
    """Raised when a checkout can't have its folder. `str()` says why and what to do."""


def claim_folder(repository: Repository, name: str) -> Path:
    """Make the empty folder `<repo>-children/<name>`.

    Raises:
        NoPlace: when there can be none of that name.
        OSError: when the system refuses it.
    """
    try:
        children = children_folder(repository)
    except ValueError as error:
        raise NoPlace(f"{repository.root} has no place beside it for checkouts.") from error
    while True:
        try:
            children.mkdir(exist_ok=True)
        except FileExistsError as error:
            if children.is_dir() or not os.path.lexists(children):
                continue  # it was removed, and perhaps made again, between two looks
            raise NoPlace(f"{children} is no folder; move it away, checkouts go there.") from error
        try:
            _hide(children)
            (children / name).mkdir()
        except FileNotFoundError:
            continue  # the last checkout in there was just removed, and the folder with it
        except FileExistsError as error:
            raise NoPlace(f"{children / name} is there already; give the checkout another name.") from error
        except OSError:
            forget_empty(repository)
            raise
        return children / name


def forget_folder(repository: Repository, folder: Path) -> None:
    """Remove the folder of a checkout, and with the last of them the folder that they were in.

    Raises:
        OSError: when something in it can't be removed.
    """
    remove_tree(folder)
    forget_empty(repository)


def forget_empty(repository: Repository) -> None:
    """Remove the folder of all checkouts when there is none in it."""
    children = children_folder(repository)
    rules = children / _RULES
    with contextlib.suppress(OSError):
        # Others come and go meanwhile: whoever has changed something looks once more.
        while not _holds_more_than(rules):
            rules.unlink(missing_ok=True)
            try:
                children.rmdir()
                return
            except OSError as error:
                _hide(children)
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    return


def _holds_more_than(rules: Path) -> bool:
    """Whether something is beside our own rules, or instead of them."""
    there = [*rules.parent.iterdir()]
    return there not in ([], [rules]) or (there == [rules] and rules.read_text() not in ("", _NO_PART))


def _hide(children: Path) -> None:
    """Keep the folder out of the repository that it lies in, where it lies in one."""
    if not any((above / ".git").exists() for above in children.parents):
        return
    rules = children / _RULES
    try:
        with rules.open("x") as file:
            file.write(_NO_PART)
    except FileExistsError:
        pass
    except OSError:
        rules.unlink(missing_ok=True)
        raise
