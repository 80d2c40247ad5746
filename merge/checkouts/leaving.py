"""What becomes of a checkout when its child is done with: it is removed, or kept as a real folder.

Knows no landing: whoever calls has made sure that nothing is lost.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

from merge.checkouts.checkout import (
    Checkout,
    CheckoutFailed,
    side_ref,
    site_of,
    told_of,
    twin_folder,
)
from merge.checkouts.checkout_site import (
    all_sites,
    is_folder,
)
from merge.checkouts.children_place import forget_folder
from merge.checkouts.half_removed import put_aside
from merge.checkouts.keeping import forget_place, keep, laid_aside, stands_whole
from merge.checkouts.pool import give_back
from merge.checkouts.unwritten import is_layered
from merge.files.removal import remove_tree
from merge.snapshots.submodule_pins import unpin
from merge.store.git import GitFailed, GitPlace, run_git
from merge.store.plain_words import plain_words
from merge.store.repository import Repository


def keep_checkout(
    repository: Repository, checkout: Checkout, go_on: Callable[[], None] = lambda: None
) -> None:
    """Make a real folder of a checkout that stays, with all that its child saw in it. No process may show it still.

    Meanwhile its result can be taken, and it can be removed. `go_on` is called between two files: what it raises ends
    the writing, with nothing lost.

    Raises:
        CheckoutFailed: when it can't be made; nothing is lost then, and `str()` says where the child's work is.
    """
    twin = twin_folder(repository, checkout.name)
    try:
        with told_of(checkout):
            keep(repository, twin, Path(checkout.path), checkout.commit, go_on)
    except (GitFailed, OSError) as error:
        words = plain_words(error, Path(checkout.path).parent)
        raise CheckoutFailed(
            f"{checkout.path} could not be written out, and what its child did is in {twin / 'upper'}: {words}"
        ) from error


def remove_checkout(repository: Repository, checkout: Checkout, *, keep_refs: bool = False) -> None:
    """Remove the folder and what is kept about it; what its links point to stays. Gone already is fine.

    With `keep_refs`, base and result stay readable as `refs/covey/children/<name>/…` until somebody deletes those;
    without, git may collect what nothing else refers to.

    Raises:
        OSError: when something can't be removed.
    """
    inner = [site.repository for site in all_sites(site_of(repository, checkout))][1:]
    folder, twin = Path(checkout.path), twin_folder(repository, checkout.name)
    with laid_aside(twin):
        if is_layered(twin) and not stands_whole(twin, folder):
            forget_place(folder)
        # The folder first: a twin without one is forgotten, a folder without a twin would be nobody's work.
        files, known = put_aside(folder), put_aside(twin)
        if is_folder(files):
            with contextlib.suppress(OSError):  # what can't be moved can be removed
                give_back(repository, files, known)
        forget_folder(repository, files)
        remove_tree(known)
    if not keep_refs:
        refs = [side_ref(checkout.name, side) for side in ("base", "result")]
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        run_git(place, "update-ref", "--stdin", "-z", feed=b"".join(_delete(ref) for ref in refs))
        for submodule in inner:
            unpin(submodule, children=[checkout.name])


def _delete(ref: str) -> bytes:
    return f"delete {ref}\0\0".encode()
