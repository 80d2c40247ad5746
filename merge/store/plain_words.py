"""What git and the system say of a failure, as words for a person: why, and what to do about it."""

import errno
import os
from pathlib import Path

from merge.store.git import GitFailed

_SPACE = "free some space and try again"
_RIGHTS = "make it writable and try again"

_REMEDIES = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}

# Below this a file that git could not write did not find the room for it.
_FULL_BYTES = 64 << 20


def plain_words(error: GitFailed | OSError, folder: Path) -> str:
    """`why; remedy.`, to stand after a colon; `folder` is where something was to be written."""
    text = error.error if isinstance(error, GitFailed) else error.strerror or str(error)
    for number, remedy in _REMEDIES.items():
        if os.strerror(number) in text or (number == errno.ENOSPC and _ran_out_of_space(text, folder)):
            return f"{os.strerror(number).lower()}; {remedy}."
    # Git's last line says what it gave up on; what came before led there.
    lines = [line for line in text.strip().splitlines() if not line.startswith("hint: ")]
    why = lines[-1].removeprefix("fatal: ").removeprefix("error: ").rstrip(".") if lines else str(error)
    return f"{why}; see to that and try again."


def _ran_out_of_space(text: str, folder: Path) -> bool:
    # Writing out a file, git says only that it was unable to, not why.
    if "unable to write" not in text:
        return False
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < _FULL_BYTES
