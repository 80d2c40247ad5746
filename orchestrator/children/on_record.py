"""What the records of landings tell of one child. Brings git's libraries with it."""

from merge.landings.landing import Landed
from merge.landings.undo import list_landings
from merge.store.git import GitFailed
from merge.store.repository import Repository
from worker.protocol import ChildId

_NOT_ON_RECORD = "which files those were is not on record any more"


def landing_in_force(home: Repository, child: ChildId, since: float) -> Landed | None:
    """The last landing of the child in this working tree that nobody has taken back, from `since` (epoch) on.

    Raises:
        GitFailed: when git can't read the records.
    """
    found = [
        Landed(each.landing, each.paths)
        for each in list_landings(home, child)
        if each.seconds >= int(since) and not (each.undoes or each.undone_by)
    ]
    return found[-1] if found else None


def landing_called(home: Repository, child: ChildId, landing: str) -> Landed:
    """The landing of that id with its paths, or with a note where it is not on record any more."""
    try:
        known = {each.landing: each.paths for each in list_landings(home, child)}
    except GitFailed:
        known = dict[str, tuple[str, ...]]()
    if landing not in known:
        return Landed(landing, (), (_NOT_ON_RECORD,))
    return Landed(landing, known[landing])
