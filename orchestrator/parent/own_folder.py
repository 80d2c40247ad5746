"""`.covey/` in a workspace: where sessions are kept, and how git is told to leave it out.

The exclusion goes to the repository's own `info/exclude`, never to the person's `.gitignore`. `check.toml` and
`policy.toml` stay visible to git: a team may commit them.
"""

from pathlib import Path

from merge.store.repository import Repository
from orchestrator.faults import UserError

NAME = ".covey"

_PATTERNS = (f"{NAME}/*", f"!{NAME}/check.toml", f"!{NAME}/policy.toml")


class FolderRefused(UserError):
    """Raised when `.covey/` or git's `info/exclude` can't be written. `str()` names the path and the remedy."""


def own_folder(repository: Repository) -> Path:
    """The workspace's `.covey/`, made and excluded from git if it was not yet.

    Raises:
        FolderRefused: when the workspace or its git directory can't be written.
    """
    folder = repository.root / NAME
    exclude = repository.common_dir / "info" / "exclude"
    try:
        folder.mkdir(exist_ok=True)
        _exclude(exclude)
    except OSError as error:
        path = error.filename or folder
        raise FolderRefused(
            f"covey keeps its sessions in {folder} and can't write {path} ({error.strerror});"
            " make it writable or work in a copy."
        ) from error
    return folder


def _exclude(exclude: Path) -> None:
    text = exclude.read_text(errors="surrogateescape") if exclude.exists() else ""
    missing = [pattern for pattern in _PATTERNS if pattern not in text.splitlines()]
    if not missing:
        return
    exclude.parent.mkdir(exist_ok=True)
    with exclude.open("a", errors="surrogateescape") as file:
        file.write("" if not text or text.endswith("\n") else "\n")
        file.write("".join(f"{pattern}\n" for pattern in missing))
