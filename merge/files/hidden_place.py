"""A folder beside a repository: there while something is in it, and no part of a repository around it.

Where it lies in the working tree of another repository (a submodule's parent, a home that is one), git there is told to
pass it over: nobody's `git add --all` takes what is in it for work. Knows nothing of what that is.
"""

import contextlib
import errno
from pathlib import Path

_RULES = ".gitignore"
_NO_PART = "# What covey keeps here is no part of the repository around it.\n*\n"


def hide(place: Path) -> None:
    """Keep the folder, which is there, out of the repository that it lies in, where it lies in one.

    Raises:
        OSError: when that can't be written; then nothing of it is there.
    """
    if not any((above / ".git").exists() for above in place.parents):
        return
    rules = place / _RULES
    try:
        with rules.open("x") as file:
            file.write(_NO_PART)
    except FileExistsError:
        pass
    except OSError:
        rules.unlink(missing_ok=True)
        raise


def leave(place: Path) -> None:
    """Remove the folder when nothing is in it any more."""
    rules = place / _RULES
    with contextlib.suppress(OSError):
        # Others come and go meanwhile: whoever has changed something looks once more.
        while not _holds_more_than(rules):
            rules.unlink(missing_ok=True)
            try:
                place.rmdir()
                return
            except OSError as error:
                hide(place)
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    return


def _holds_more_than(rules: Path) -> bool:
    """Whether something is beside our own rules, or instead of them."""
    there = [*rules.parent.iterdir()]
    return there not in ([], [rules]) or (there == [rules] and rules.read_text() not in ("", _NO_PART))
