"""The index of a plain folder's record, brought up to what a snapshot found: what is in it need not be read again.

Nobody but covey uses that index, and it says nothing that the files don't: it saves time, and may be missing or old.
"""

import contextlib
import dataclasses
import shutil
import tempfile
from pathlib import Path

from merge.store.git import GitFailed, GitPlace, ask_git, run_git
from merge.store.repository import Repository
from merge.store.trees import ObjectId


def keep_in_index(repository: Repository, place: GitPlace, tree: ObjectId) -> None:
    """Let the index hold `tree`, and the dates of the files that are so on the disk. If it can't be had, it can't."""
    index = repository.git_dir / "index"
    with (
        contextlib.suppress(GitFailed, OSError),
        tempfile.TemporaryDirectory(prefix="index-", dir=repository.git_dir) as folder,
    ):
        # Another session may do the same: neither waits for a lock, and neither can leave one behind.
        new = Path(folder, "index")
        if index.is_file():
            shutil.copy2(index, new)
        private = dataclasses.replace(place, index=new)
        # With -m, entries that stay as they are keep what is known of their files.
        run_git(private, "read-tree", "-m", tree)
        ask_git(
            private, "update-index", "-q", "--refresh"
        )  # it fails when a file has just changed, and goes on
        new.replace(index)
