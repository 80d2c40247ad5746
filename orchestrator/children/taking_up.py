"""A kept child goes on: its checkout, its conversation and its row are put together again.

Reads the journal of the session that the child belonged to; starts nothing.
"""

import trio

from orchestrator.children.child_record import ChildRecord
from orchestrator.children.grounds import Grounds
from orchestrator.children.kept_folders import KeptFolders
from orchestrator.children.ledger import LedgerRow
from orchestrator.children.orphans import began_of, checkout_of
from orchestrator.children.workplace import TakenUp, Workplace
from orchestrator.journal import JournalBroken, read_entries
from orchestrator.parent.history import conversation_of
from worker.conversation import AnyMessage


class CantGoOn(Exception):
    """Raised when a kept child can't be taken up again. `str()` tells the model why."""


async def take_up(grounds: Grounds, kept: KeptFolders, row: LedgerRow) -> TakenUp:
    """What the child of a row that is kept goes on with; from here on it is this session's.

    Raises:
        CantGoOn: when its checkout or its conversation is gone, or somebody else is at it.
    """
    checkout = checkout_of(row)
    if checkout is not None:
        fault = await kept.make_whole(grounds.repository, checkout)
        if fault:
            raise CantGoOn(f"{row.child} can't go on now: {fault}")
    if checkout is None or not await trio.Path(checkout.path).is_dir():
        raise CantGoOn(f"The checkout of {row.child} is gone; start a new child.")
    conversation, journaled = await trio.to_thread.run_sync(_conversation, grounds, row)
    if not conversation:
        raise CantGoOn(
            f"The conversation of {row.child} is gone; start a new child and name its checkout's changes."
        )
    record = ChildRecord.go_on(grounds.ledger, grounds.session, row)
    if record is None:
        raise CantGoOn(f"{row.child} was landed, dropped or taken up meanwhile; ask for it again.")
    # In the journal of another session its conversation is written down anew, whole.
    held = journaled if row.session == grounds.session else 0
    return TakenUp(record, Workplace(checkout, began_of(row)), tuple(conversation), held)


def _conversation(grounds: Grounds, row: LedgerRow) -> tuple[list[AnyMessage], int]:
    path = grounds.repository.root / ".covey" / "sessions" / row.session / "journal.jsonl"
    try:
        return conversation_of(read_entries(path), row.child) if path.exists() else ([], 0)
    except JournalBroken as error:
        raise CantGoOn(
            f"The conversation of {row.child} can't be read ({error}); start a new child."
        ) from error
