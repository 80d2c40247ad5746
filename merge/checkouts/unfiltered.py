"""Files of a checkout that are there only as the repository stores them: the program of their filter could not run.

For git-lfs that is a pointer in the place of a large file. A filter that could not run is written off in the twin's
configuration when the checkout is made; from there it is read. Knows nothing of who is told.
"""

import re
from collections.abc import Iterator

from merge.checkouts.checkout_site import Site, all_sites, told_inside
from merge.store.filters import filters_of
from merge.store.git import run_git
from merge.store.trees import LeftOut, RepoPath, show_path

# As `merge.store.private_git` writes a setting that is written off.
_WRITTEN_OFF = re.compile(rb'^\[filter "(.*)"\]\n\tsmudge = ""$', re.MULTILINE)


def unfiltered_files(outermost: Site) -> Iterator[LeftOut]:
    """Each such file of a checkout that was just made, submodules included. Costs nothing where every filter ran.

    Raises:
        GitFailed: when git can't tell.
    """
    for site in all_sites(outermost):
        names = {
            re.sub(r"\\(.)", r"\1", name.decode(errors="surrogateescape"))
            for name in _WRITTEN_OFF.findall((site.twin / "config").read_bytes())
        }
        if not names:
            continue
        paths = [RepoPath(path) for path in run_git(site.place, "ls-files", "-z").fields()]
        for path, name in filters_of(site.place, paths).items():
            if name in names:
                why = f"only what the repository stores of it is there; its filter {name} could not run"
                left = LeftOut(show_path(path), why)
                within = bytes(site.folder.relative_to(outermost.folder))
                yield left if site is outermost else told_inside(RepoPath(within), left)
