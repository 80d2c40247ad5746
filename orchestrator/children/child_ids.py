"""The names of children: safe as a folder's, telling the task, and never given twice in a repository."""

import os
import re
import secrets
from collections.abc import Container

from merge.store.repository import Repository, children_folder
from orchestrator.children.ledger import Ledger
from worker.protocol import ChildId


def new_id(title: str, repository: Repository, ledger: Ledger, roster: Container[ChildId]) -> ChildId:
    """A name for a child with that title which no other child of the repository has or had."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:24].strip("-") or "child"
    while True:
        new = ChildId(f"{slug}-{secrets.token_hex(2)}")
        # A leftover folder of that name is somebody's work, and a row of it what became of that: never reused.
        if (
            new not in roster
            and not os.path.lexists(children_folder(repository) / new)
            and not ledger.holds(new)
        ):
            return new
