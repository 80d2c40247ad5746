"""Files of a checkout that are there only as the repository stores them: the program of their filter could not run.

For git-lfs that is a pointer in the place of a large file. A filter that could not run is written off in the twin's
configuration when the checkout is made; from there it is read. Knows nothing of who is told.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace

from merge.checkouts.checkout_site import Site, all_sites, told_inside
from merge.store.filters import filters_of
from merge.store.git import GitPlace, run_git
from merge.store.scratch import open_scratch
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
        with _with_index(site) as place:
            paths = [RepoPath(path) for path in run_git(place, "ls-files", "-z").fields()]
            found = filters_of(place, paths)
        for path, name in found.items():
            if name in names:
                why = f"only what the repository stores of it is there; its filter {name} could not run"
                left = LeftOut(show_path(path), why)
                within = bytes(site.folder.relative_to(outermost.folder))
                yield left if site is outermost else told_inside(RepoPath(within), left)


@contextmanager
def _with_index(site: Site) -> Generator[GitPlace]:
    """The place of a site with an index that has all its files: in one of layers nothing else is there to be seen."""
    if (site.twin / "index").exists():
        yield site.place
        return
    with open_scratch(site.repository.common_dir) as scratch:
        place = replace(site.place, index=scratch / "index")
        run_git(place, "read-tree", site.commit)
        yield place
