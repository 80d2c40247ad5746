"""`covey children`: every child of the repository as a table, from any terminal, also while sessions run.

The ledger says where each child stands. What a running one is at comes from its session's journal, and from a glance
into its checkout: children whose edits would conflict already are named before either lands.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from merge.checkouts.checkout import CheckoutFailed
from merge.checkouts.result import glance
from merge.merging.overlaps import AtWork, find_overlap
from merge.store.git import GitFailed
from merge.store.repository import Repository, working_trees
from merge.store.trees import show_path
from orchestrator.children.ledger import Ledger, LedgerRow, State
from orchestrator.children.lost_rows import folders_of_nobody
from orchestrator.children.mounting import seen_at
from orchestrator.children.standing import Known, home_of
from orchestrator.drawing.figures import ago, clock, count, short_tokens
from orchestrator.drawing.lines import Line, Span, Tone, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.journal import JournalBroken, read_entries
from orchestrator.printing.once import look_here, show_json, show_lines, width_here
from orchestrator.review.finding import list_children
from orchestrator.review.listing import of_nobody
from orchestrator.review.outlook import checkout_of
from orchestrator.roster import ChildRow, Picture
from orchestrator.seeing import see
from worker.path_text import quote_path, unquote_path
from worker.protocol import ChildId, Kind


class RollEntry(msgspec.Struct, frozen=True):
    """One child as data. `state` is the ledger's, or `interrupted` when its session died under way.

    `at_work` says whether its session lives; `overlaps` names running children, each with the paths at which the two
    would conflict now. `checkout` is where its files can be looked at: of a running child perhaps through its process.
    Times are seconds since the epoch.
    """

    id: str
    kind: Kind
    title: str
    session: str
    state: str
    at_work: bool
    pid: int | None
    began_at: float
    changed_at: float
    steps: int
    tokens: int
    last_action: str
    checkout: str | None
    reason: str
    conflicts: tuple[str, ...]
    landing: str | None
    overlaps: Mapping[str, tuple[str, ...]]


_NARROWER = (
    ("checkout", 0),
    ("doing", 14),
    ("title", 8),
    ("kind", 0),
    ("calls", 0),
    ("title", 0),
    ("tokens", 0),
    ("pid", 0),
    ("doing", 0),
    ("id", 8),
)
"""What a narrow terminal does without, in this order; the id tells the task in short."""

_TONES: Mapping[State | str, Tone] = {
    "working": "accent",
    "landing": "accent",
    "landed": "good",
    "ended": "good",
    "kept": "warn",
    "interrupted": "warn",
}


def list_roll(repository: Repository, ledger: Ledger | None, *, as_json: bool) -> int:
    """Print every child; the exit code."""
    entries = read_roll(repository, ledger)
    if as_json:
        show_json(entries)
    else:
        look = look_here()
        damaged = ledger.damaged() if ledger is not None else []
        show_lines(
            [
                *roll(entries, look, time.time(), width_here(look)),
                *(dim(f"{tame_line(child)}: its row is damaged; its session runs") for child in damaged),
                *map(of_nobody, folders_of_nobody(repository, ledger)),
            ]
        )
    return 0


def read_roll(repository: Repository, ledger: Ledger | None) -> list[RollEntry]:
    """Every child of the ledger, oldest first."""
    children = list_children(repository, ledger)
    working = [child for child in children if child.standing == "at work"]
    live = _live_rows(repository, {child.row.session for child in working})
    overlaps = _overlaps(repository, working)
    return [_entry(child, live.get(child.row.child), overlaps.get(child.row.child, {})) for child in children]


def roll(entries: Sequence[RollEntry], look: Look, now: float, width: int | None) -> list[Line]:
    """The table; below a row, what it overlaps with."""
    if not entries:
        return [dim("No session has delegated in this repository yet.")]
    rows: list[list[Span]] = []
    for each in entries:
        lasting = clock(now - each.began_at) if each.at_work else ago(now - each.changed_at)
        action = each.last_action if each.at_work else each.reason or each.last_action
        cells = (
            Span(each.state, _TONES.get(each.state, "dim")),
            Span(each.id, "strong"),
            Span(each.kind, "dim"),
            Span(tame_line(each.title)),
            Span(str(each.pid) if each.pid is not None else "", "dim"),
            Span(lasting, "dim"),
            Span(str(each.steps), "dim"),
            Span(short_tokens(each.tokens), "dim"),
            Span(tame_line(action), "dim"),
            Span(tame_line(each.checkout or ""), "dim"),
        )
        rows.append(list(cells))
    head = ("state", "id", "kind", "title", "pid", "time", "calls", "tokens", "doing", "checkout")
    first, *lines = table(head, rows, look, width, _NARROWER)
    whole = [first]
    for drawn, each in zip(lines, entries, strict=True):
        whole.append(drawn)
        for other, paths in each.overlaps.items():
            whole.append(line(Span(f"    overlaps with {other}: {tame_line(', '.join(paths))}", "warn")))
    kept = sum(each.state in ("kept", "interrupted") for each in entries)
    return [*whole, *([dim(f"{count(kept, 'child')} to review: covey review")] if kept else [])]


def _entry(child: Known, live: ChildRow | None, overlaps: Mapping[str, tuple[str, ...]]) -> RollEntry:
    row = child.row
    at_work = child.standing == "at work"
    process = row.worker or row.owner
    return RollEntry(
        row.child,
        row.kind,
        row.title,
        row.session,
        "interrupted" if child.standing == "interrupted" else row.state,
        at_work,
        process.pid if at_work else None,
        row.began_at,
        row.changed_at,
        max(row.steps, live.steps) if live is not None else row.steps,
        max(row.tokens, live.usage.total_tokens) if live is not None else row.tokens,
        live.last_action if live is not None else row.last_action,
        _place(row, at_work=at_work) if child.folder is not None or at_work else None,
        row.reason,
        row.conflicts,
        row.landing,
        overlaps,
    )


def _place(row: LedgerRow, *, at_work: bool) -> str | None:
    """Where its files can be looked at, as paths are told."""
    if row.checkout is None or row.worker is None or not at_work:
        return row.checkout
    return quote_path(str(seen_at(Path(unquote_path(row.checkout)), row.worker.pid)))


def _live_rows(repository: Repository, sessions: set[str]) -> dict[ChildId, ChildRow]:
    """What the journals of running sessions tell of their children."""
    rows: dict[ChildId, ChildRow] = {}
    for session in sessions:
        for root in working_trees(repository):
            journal = root / ".covey" / "sessions" / session / "journal.jsonl"
            if not journal.is_file():
                continue
            picture = Picture()
            try:
                for entry in read_entries(journal):
                    picture = see(picture, entry)
            except (JournalBroken, OSError):
                continue  # what it told until there is told all the same
            finally:
                rows |= picture.all_children()
    return rows


def _overlaps(repository: Repository, working: Sequence[Known]) -> dict[ChildId, dict[str, tuple[str, ...]]]:
    """By child, the running siblings with which it would conflict now, and where."""
    found: dict[ChildId, dict[str, tuple[str, ...]]] = {}
    editing = [child for child in working if child.is_whole]
    if len(editing) < 2:
        return found
    at_work: list[tuple[LedgerRow, AtWork]] = []
    for child in editing:
        try:
            tree, changes = glance(repository, checkout_of(child))
        except (CheckoutFailed, GitFailed, OSError):
            continue  # it has just ended
        at_work.append((child.row, AtWork(child.base, tree, changes)))
    for (one, first), (other, second) in combinations(at_work, 2):
        if home_of(one) != home_of(other):
            continue  # they land in two working trees
        try:
            paths = tuple(map(show_path, find_overlap(repository, first, second)))
        except GitFailed:
            continue
        if paths:
            found.setdefault(one.child, {})[other.child] = paths
            found.setdefault(other.child, {})[one.child] = paths
    return found
