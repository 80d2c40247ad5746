"""`covey review ID --send-back [TEXT]`: what a kept child is told, so that it can change its edits until they merge.

The words of the person, and the reason: what conflicts, and what the parent has changed there since the child began,
which it can't see by itself. Looks only; a session lets the child go on.
"""

from merge.merging.line_diff import unified_diff
from merge.store.objects import edit_tree
from merge.store.repository import Repository
from orchestrator.children.standing import Known, own_repository
from orchestrator.faults import UserError
from orchestrator.review.listing import why
from orchestrator.review.outlook import Conflicts, in_words, weigh_child

_LONGEST_DIFF_BYTES = 20_000

_BY_ITSELF = "Change your edits so that they can be merged, keep what you were asked to do, and report."


def message_for(repository: Repository, known: Known, text: str) -> str:
    """What the child is told; `text` are the person's own words, and may be none.

    Raises:
        UserError: when it can't go on: it has landed already, or nothing was done in its folder.
    """
    row = known.row
    if known.standing == "left over":
        raise UserError(f"{row.child} has {row.state} already; begin a new child for what is left to do.")
    if not known.is_whole:
        raise UserError(f"The checkout of {row.child} was never finished, so it can't go on; drop it.")
    weighed = weigh_child(repository, known)
    lines = [text.strip() or _BY_ITSELF, ""]
    lines += [f"Your edits are not merged yet: {why(known)}. Merged now: {in_words(weighed.outlook)}."]
    if isinstance(weighed.outlook, Conflicts) and weighed.clashed is not None:
        lines += [f"- {conflict.says}" for conflict in weighed.outlook.conflicts]
        here = [
            (conflict.path, conflict.ours) for conflict in weighed.clashed.conflicts if conflict.path != b"."
        ]
        home = own_repository(repository, row)
        diff = unified_diff(home, known.base, edit_tree(home, known.base, here))
        shown = diff[:_LONGEST_DIFF_BYTES].decode(errors="replace")
        cut = "\n(cut here)" if len(diff) > _LONGEST_DIFF_BYTES else ""
        lines += [
            "",
            "Since you began, the parent's files have changed there as follows; your checkout does not have that."
            " Lines that both of you changed merge only where you leave them as the parent has them now.",
            "",
            f"{shown}{cut}".rstrip(),
        ]
    return "\n".join(lines)
