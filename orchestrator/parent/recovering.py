"""What a session finds of landings that were cut short, put right before it lands anything of its own.

Costs one look where there is nothing, and imports nothing of the merge then: a session must start at once.
"""

from typing import TYPE_CHECKING

from merge.landings.unfinished import has_unfinished
from merge.store.repository import Repository
from orchestrator.children.first_message import listed

if TYPE_CHECKING:
    from merge.landings.recovery import Recovered


def put_right(repository: Repository) -> list[str]:
    """Complete or take back every landing that was interrupted; a sentence about each, for the person.

    Waits for a landing that is going on elsewhere.
    """
    if not has_unfinished(repository):
        return []
    from merge.landings.landing_journal import JournalUnreadable
    from merge.landings.recovery import recover_landings
    from merge.store.git import GitFailed

    try:
        return [tell(each) for each in recover_landings(repository)]
    except (JournalUnreadable, GitFailed, OSError) as error:
        return [f"A landing that was interrupted could not be put right: {error}"]


def tell(recovered: "Recovered") -> str:
    """What became of one landing, in a sentence or three."""
    head = f"Landing {recovered.landing} of child {recovered.child} was interrupted"
    files = listed(recovered.paths)
    if recovered.completed:
        said = [f"{head} and is completed now: {files}."]
    else:
        said = [
            f"{head} and is taken back: {files}. Its edits are in its checkout: covey review {recovered.child}."
        ]
    if recovered.edited:
        said.append(f"Left as you have them: {listed(recovered.edited)}.")
    if recovered.kept:
        said.append(f"Written to at the last moment, and kept: {listed(recovered.kept)}.")
    return " ".join(said)
