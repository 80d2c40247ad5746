"""The files of a workspace as completion offers them: what git knows or would add, listed now and then.

Listing happens in a thread and only where somebody waits for it; completion takes what was found last.
"""

import os
from pathlib import Path

import trio

from merge.store.git import GitFailed, GitPlace, run_git

_MOST = 50_000
"""Files that are offered: in a larger workspace the rest is typed by hand."""

_AGAIN_SECONDS = 10.0


class FileList:
    """The files below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: tuple[str, ...] = ()
        self._wanted = True

    def now(self) -> tuple[str, ...]:
        """What was found last."""
        self._wanted = True
        return self._files

    async def refresh(self) -> None:
        """List the files, and again after somebody asked for them; until cancelled."""
        while True:
            if self._wanted:
                self._wanted = False
                self._files = await trio.to_thread.run_sync(list_files, self._root)
            await trio.sleep(_AGAIN_SECONDS)


def list_files(root: Path) -> tuple[str, ...]:
    """Files that git tracks or would add, and what is untracked and not ignored; none where git can't tell."""
    try:
        listed = run_git(
            GitPlace(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
        )
    except (GitFailed, OSError):
        return ()
    names = listed.output.split(b"\0")[:_MOST]
    return tuple(os.fsdecode(name) for name in names if name and _can_be_typed(name))


def _can_be_typed(name: bytes) -> bool:
    try:
        return " " not in name.decode() and name.decode().isprintable()
    except UnicodeDecodeError:
        return False
