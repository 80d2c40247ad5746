"""The ledger row of one child as its life goes on: each step of it is one method, called before the step is taken.

Knows the ledger and the words for where a child stands; nothing of how a child lives.
"""

import os
import time
from pathlib import Path

import msgspec

from merge.checkouts.checkout import Checkout
from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from merge.snapshots.snapshot import Snapshot
from orchestrator.children.ledger import Ledger, LedgerRow, Process
from worker.path_text import quote_path
from worker.protocol import ChildId, Kind


def process_of(pid: int) -> Process | None:
    """What the ledger calls the process with this id, or None when it is gone already."""
    # Imported where it is used: a session that never delegates does not pay for it.
    from worker.processes.process_tree import find_process

    key = find_process(pid)
    return Process(key.pid, key.start_time) if key is not None else None


class ChildRecord:
    """One child's row, which stands in the ledger already, written anew at each step."""

    def __init__(self, ledger: Ledger, row: LedgerRow) -> None:
        self._ledger = ledger
        self._row = row

    @classmethod
    def begin(
        cls,
        ledger: Ledger,
        session: str,
        child: ChildId,
        kind: Kind,
        title: str,
        task: str,
        *,
        agent: str = "",
        queued: bool = False,
    ) -> "ChildRecord":
        """Put a new child into the ledger; `session` and this process own it."""
        now, owner = time.time(), process_of(os.getpid())
        assert owner is not None, "a process finds itself"
        state = "queued" if queued else "starting"
        row = LedgerRow(child, session, owner, kind, title, task, state, now, now, agent=agent)
        ledger.write(row)
        return cls(ledger, row)

    @classmethod
    def go_on(cls, ledger: Ledger, session: str, row: LedgerRow) -> "ChildRecord | None":
        """A kept child is taken up again, by `session` and this process; None when somebody else was faster."""
        owner = process_of(os.getpid())
        assert owner is not None, "a process finds itself"
        taken = msgspec.structs.replace(
            row, session=session, owner=owner, state="starting", reason="", conflicts=(), worker=None
        )
        return cls(ledger, taken) if ledger.swap(row, taken) else None

    def waits(self) -> None:
        """Others are at work: it waits for its turn."""
        self._row = self._ledger.change(self._row, state="queued")

    def starts(self) -> None:
        """It has waited long enough: its folder is about to be made."""
        self._row = self._ledger.change(self._row, state="starting")

    def gets_checkout(self, path: Path, snapshot: Snapshot) -> None:
        """Its folder is about to be made; what it starts from can be told from the row alone."""
        self._row = self._ledger.change(
            self._row,
            checkout=quote_path(str(path)),
            base=snapshot.tree,
            head=snapshot.head,
            branch=snapshot.branch,
        )

    def has_checkout(self, checkout: Checkout) -> None:
        """Its folder is whole."""
        self._row = self._ledger.change(self._row, commit=checkout.commit, shared=checkout.shared)

    def works(self, pid: int) -> None:
        """Its worker runs."""
        self._row = self._ledger.change(self._row, state="working", worker=process_of(pid))

    def has_come_to(self, steps: int, tokens: int, last_action: str) -> None:
        """How far it has come, written with the next step."""
        self._row = self._ledger.change(self._row, steps=steps, tokens=tokens, last_action=last_action)

    def has_finished(self) -> None:
        """Its worker answered and is gone; its edits are in its checkout."""
        self._row = self._ledger.change(self._row, state="finished")

    def is_landing(self) -> None:
        """Its edits are being merged."""
        self._row = self._ledger.change(self._row, state="landing")

    def has_ended(self, landing: AnyLanding | None, how: str) -> None:
        """Everything is done that its session does with it; `how` is its ending in words."""
        match landing:
            case Landed(landing=landing_id):
                self._row = self._ledger.change(self._row, state="landed", landing=landing_id)
            case Conflicted(conflicts=conflicts):
                self._row = self._ledger.change(
                    self._row, state="kept", reason="conflicts with the parent", conflicts=conflicts
                )
            case Held(reason=reason):
                self._row = self._ledger.change(self._row, state="kept", reason=reason)
            case NothingToLand() | None:
                self._row = self._ledger.change(self._row, state="ended", reason=how)
