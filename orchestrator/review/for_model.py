"""What the model is told of a child that its process did not start: where it stands, why it is kept, what conflicts."""

import time

from merge.store.repository import Repository
from merge.store.trees import show_path
from orchestrator.children.first_message import STILL_EMPTY, listed
from orchestrator.children.ledger import LedgerRow
from orchestrator.children.standing import Known, stand
from orchestrator.drawing.figures import ago
from orchestrator.review.listing import holds, why
from orchestrator.review.outlook import Conflicts, Weighed, in_words, weigh_child


def tell_model(repository: Repository, row: LedgerRow, session: str) -> str:
    """The child of `row`, in a few lines, for the model of `session`. Looks at its checkout, so it blocks."""
    known = stand(repository, row)
    whose = "from before this session was resumed" if row.session == session else "of another session"
    head = f"child {row.child} ({row.kind}), {whose}: {row.title}"
    when = ago(time.time() - row.changed_at)
    if known.standing == "at work":
        return f"{head}\nat work: {row.state}; only its own session can steer or stop it"
    if not known.is_for_review:
        return f"{head}\n{_over(known)}, {when}"
    weighed = weigh_child(repository, known)
    return "\n".join([head, f"kept, {when}: {why(known)}", *_kept(weighed)])


def _over(known: Known) -> str:
    row = known.row
    if known.standing == "interrupted":
        return "its session ended before it did, and nothing of it is left"
    if row.state == "landed":
        return f"landed as {row.landing}" + (f", {row.reason}" if row.reason else "")
    if row.state == "kept":
        return "it was kept, and its checkout was removed since"
    return f"{row.state}: {row.reason}" if row.reason else row.state


def _kept(weighed: Weighed) -> list[str]:
    row, folder = weighed.known.row, weighed.known.row.checkout
    lines = [f"checkout: {folder}"]
    if not weighed.known.is_written:
        lines.append(STILL_EMPTY)
    lines += [f"it changed: {listed(weighed.files) or 'nothing'}"]
    if weighed.result is not None:
        new = [change for change in weighed.result.changes if change.before is None]
        gone = [change for change in weighed.result.changes if change.after is None]
        lines += [
            f"of these {what}: {listed([show_path(change.path) for change in changes])}"
            for what, changes in (("new", new), ("deleted", gone))
            if changes
        ]
    lines.append(f"if it were landed now: {in_words(weighed.outlook)}")
    if isinstance(weighed.outlook, Conflicts):
        lines += [f"  {conflict.says}" for conflict in weighed.outlook.conflicts]
    lines += [f"it holds what can't land: {left}" for left in holds(weighed)]
    return [
        *lines,
        f"The person lands or drops it with `covey review {row.child}`; you can read its checkout.",
    ]
