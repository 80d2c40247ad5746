"""The folder beside a repository that holds the checkouts of its children: made for the first, gone with the last.

Knows nothing of what is in a checkout.
"""

import os
from pathlib import Path

from merge.files.hidden_place import hide, leave
from merge.files.removal import remove_tree
from merge.store.repository import Repository, children_folder


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
                continue  # it was removed, and perhaps made again, between the two looks of mkdir
            raise NoPlace(f"{children} is no folder; move it away, checkouts go there.") from error
        try:
            hide(children)
            (children / name).mkdir()
        except FileNotFoundError:
            continue  # the last checkout in there was just removed, and the folder with it
        except FileExistsError as error:
            raise NoPlace(f"{children / name} is there already; give the checkout another name.") from error
        except OSError:
            leave(children)
            raise
        return children / name


def forget_folder(repository: Repository, folder: Path) -> None:
    """Remove the folder of a checkout, and with the last of them the folder that they were in.

    Raises:
        OSError: when something in it can't be removed.
    """
    remove_tree(folder)
    leave(children_folder(repository))
