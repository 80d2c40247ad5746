"""Children as a session leaves them: a checkout with edits in it, a row in the ledger, and no session any more."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from merge.checkouts.checkout import Checkout, make_checkout, twin_folder
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.result import take_result
from merge.checkouts.ways import Way
from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, land
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import Repository, find_repository
from orchestrator.children.ledger import LedgerRow, Process, open_ledger
from tests.real_git import commit_all, git, init_repository
from worker.path_text import quote_path
from worker.processes.process_table import look_up
from worker.protocol import ChildId

GONE = Process(2**22 + 1, 1.0)
"""A process that can't be: a session that is over."""

LINES = [f"line {number}\n" for number in range(1, 21)]


def text(**changes: str) -> str:
    """Twenty lines, some of them changed: `text(l5="mine")`."""
    numbered = {int(name.removeprefix("l")): line for name, line in changes.items()}
    return "".join(
        f"{numbered[number]}\n" if number in numbered else LINES[number - 1] for number in range(1, 21)
    )


def this_process() -> Process:
    entry = look_up(os.getpid())
    assert entry is not None
    return Process(*entry.key)


@dataclass(frozen=True)
class Place:
    """A repository whose session has delegated."""

    root: Path

    @property
    def repository(self) -> Repository:
        return find_repository(self.root)

    def write(self, path: str, content: str | bytes) -> Path:
        return write(self.root, path, content)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def row(self, child: str) -> LedgerRow | None:
        with open_ledger(self.repository) as ledger:
            return ledger.read(ChildId(child))

    def put(self, row: LedgerRow) -> LedgerRow:
        with open_ledger(self.repository) as ledger:
            ledger.write(row)
        return row

    def change(self, child: str, **fields: object) -> LedgerRow:
        row = self.row(child)
        assert row is not None
        return self.put(msgspec.structs.replace(row, **fields))

    def checkout(self, child: str) -> Path:
        return self.root.with_name(f"{self.root.name}-children") / child

    def state(self) -> dict[str, str]:
        """Every file of the working tree, and all of git that a review may not touch."""
        files = {
            str(path.relative_to(self.root)): path.read_bytes().hex()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.root).parts
        }
        refs = [
            line for line in git(self.root, "for-each-ref").decode().splitlines() if "refs/covey" not in line
        ]
        index = (self.root / ".git/index").read_bytes().hex()
        return {
            **files,
            "refs": "\n".join(refs),
            "HEAD": (self.root / ".git/HEAD").read_text(),
            "index": index,
        }


def write(folder: Path, path: str, content: str | bytes) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def make_place(root: Path, files: Mapping[str, str | bytes] | None = None) -> Place:
    """A repository with one commit."""
    init_repository(root)
    for path, content in (files or {"src/app.py": text(), "README.md": "read me\n"}).items():
        write(root, path, content)
    write(root, ".gitignore", "*.log\n")
    commit_all(root)
    return Place(root)


def begin(
    place: Place,
    child: str,
    files: Mapping[str, str | bytes | None],
    *,
    owner: Process = GONE,
    title: str = "",
    way: Way | None = None,
) -> tuple[Checkout, LedgerRow]:
    """A child at work: its checkout holds these edits, and its row says that it works."""
    snapshot = take_snapshot(place.repository)
    checkout = make_checkout(place.repository, child, snapshot, ways=[way or PlainWay()])
    layer = twin_folder(place.repository, child) / "upper"
    for path, content in files.items():
        if content is None:
            Path(checkout.path, path).unlink()
        else:
            write(layer if layer.exists() else Path(checkout.path), path, content)
    now = time.time()
    row = LedgerRow(
        ChildId(child),
        "20240501-120000-aaaa",
        owner,
        "implement",
        title or f"the work of {child}",
        "Do it.",
        "working",
        now - 60,
        now - 30,
        checkout=quote_path(checkout.path),
        base=checkout.base,
        commit=checkout.commit,
        shared=checkout.shared,
        head=snapshot.head,
        branch=snapshot.branch,
    )
    return checkout, place.put(row)


def end(place: Place, checkout: Checkout, row: LedgerRow) -> AnyLanding:
    """What its session does when the child has finished: lands it, or keeps it."""
    result = take_result(place.repository, checkout)
    landing = land(
        place.repository, child=row.child, checkout=checkout.path, base=checkout.base, result=result.tree
    )
    match landing:
        case Landed(landing=number):
            place.change(row.child, state="landed", landing=number)
        case Conflicted(conflicts=conflicts):
            place.change(row.child, state="kept", reason="conflicts with the parent", conflicts=conflicts)
        case Held(reason=reason):
            place.change(row.child, state="kept", reason=reason)
        case _:
            place.change(row.child, state="ended", reason="finished")
    return landing


def keep(
    place: Place,
    child: str,
    files: Mapping[str, str | bytes | None],
    here: Mapping[str, str | bytes] | None = None,
    *,
    title: str = "",
    owner: Process = GONE,
    way: Way | None = None,
) -> Path:
    """A child that conflicted: it made `files` while the person made `here` of theirs. Its folder."""
    checkout, row = begin(place, child, files, title=title, owner=owner, way=way)
    for path, content in (here or {}).items():
        place.write(path, content)
    landing = end(place, checkout, row)
    assert isinstance(landing, Conflicted | Held), landing
    return Path(checkout.path)
