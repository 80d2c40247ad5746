"""A kept child goes on: its checkout, its conversation and its row are put together again.

Reads the journal of the session that the child belonged to; starts nothing.
"""

from pathlib import Path

from orchestrator.child import Ground, TakenUp
from orchestrator.grounds import Grounds
from orchestrator.history import conversation_of
from orchestrator.journal import JournalBroken, read_entries
from orchestrator.ledger import LedgerRow
from orchestrator.orphans import began_of, checkout_of
from worker.conversation import AnyMessage


class CantGoOn(Exception):
    """Raised when a kept child can't be taken up again. `str()` tells the model why."""


def take_up(grounds: Grounds, row: LedgerRow) -> TakenUp:
    """What the child of a row that is kept goes on with. Blocks.

    Raises:
        CantGoOn: when its checkout or its conversation is gone.
    """
    checkout = checkout_of(row)
    if checkout is None or not Path(checkout.path).is_dir():
        raise CantGoOn(f"The checkout of {row.child} is gone; start a new child.")
    conversation, journaled = _conversation(grounds, row)
    if not conversation:
        raise CantGoOn(
            f"The conversation of {row.child} is gone; start a new child and name its checkout's changes."
        )
    ground = Ground(checkout, began_of(row))
    # In the journal of another session its conversation is written down anew, whole.
    held = journaled if row.session == grounds.session else 0
    return TakenUp(row, ground, tuple(conversation), held)


def _conversation(grounds: Grounds, row: LedgerRow) -> tuple[list[AnyMessage], int]:
    path = grounds.repository.root / ".covey" / "sessions" / row.session / "journal.jsonl"
    try:
        return conversation_of(read_entries(path), row.child) if path.exists() else ([], 0)
    except JournalBroken as error:
        raise CantGoOn(
            f"The conversation of {row.child} can't be read ({error}); start a new child."
        ) from error
