"""How a file tool ends when it can't do what was asked: one sentence that names the thing and the remedy.

The blocking work of a tool runs in a thread, through `answer_from_thread`; whatever refuses inside raises, and
becomes a failed answer there, once. What the operating system refuses is put into words here and nowhere else.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import trio

from worker.tools.tool import ToolAnswer, failed
from worker.workspace import PathRefused, Workspace


class ToolRefused(Exception):
    """Raised when a call can't do what was asked. `str()` is the text for the model."""


_WORDS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "can't be reached: a part of the path is a file, not a folder",
    errno.EISDIR: "is a folder",
    errno.EACCES: "is closed to covey: permission denied; ask the person to open it",
    errno.EPERM: "is closed to covey: the system does not permit it; ask the person",
    errno.ENAMETOOLONG: "has a longer name than the file system takes; give a shorter one",
    errno.ELOOP: "can't be followed: its symbolic links lead in a circle",
    errno.ENOSPC: "could not be written: the disk is full; nothing was changed",
    errno.EDQUOT: "could not be written: the disk quota is used up; nothing was changed",
    errno.EROFS: "could not be written: the file system is read-only",
    errno.EAGAIN: "has nothing to read now",
    errno.EFBIG: "would be larger than the file system takes",
    errno.EMFILE: "could not be opened: too many files are open; try again",
    errno.ENFILE: "could not be opened: too many files are open on this machine; try again",
}


def system_refusal(error: OSError, shown: str) -> ToolRefused:
    """What the system said of the file that is shown as `shown`, as a sentence."""
    words = _WORDS.get(error.errno or 0) or f"could not be used: {error.strerror or error}"
    return ToolRefused(f"{short(shown)} {words}.")


async def answer_from_thread(work: Callable[[], ToolAnswer], *, writes: bool = False) -> ToolAnswer:
    """Run `work` in a thread and answer with what it gives, or with its refusal.

    A read that is cancelled is left behind, for a disk may never answer it; a write is waited for, so that it is
    done or undone when its turn ends.
    """
    try:
        answer = await trio.to_thread.run_sync(work, abandon_on_cancel=not writes)
    except (ToolRefused, PathRefused) as refusal:
        return failed(plain(str(refusal)))
    except OSError as error:
        return failed(plain(str(system_refusal(error, os.fsdecode(error.filename or "The file")))))
    except MemoryError:
        return failed("There is not enough memory for this file; use run_command on a part of it.")
    return answer if answer.text.isascii() else ToolAnswer(plain(answer.text), answer.images, answer.failed)


def resolve_real(workspace: Workspace, path: str) -> Path:
    """The file that `path` names for writing, symbolic links followed; refused outside the workspace."""
    return workspace.resolve_to_write(path).resolve()


def title_path(workspace: Workspace, path: str) -> str:
    """`path` as a title shows it; what the model wrote where it names nothing."""
    try:
        return short(workspace.show(workspace.resolve(path)))
    except PathRefused:
        return short(plain(path.replace("\0", "␀")))


def counted(number: int, one: str, many: str = "") -> str:
    """`1 line`, `2,000 lines`: a number and what it counts."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def short(text: str) -> str:
    """`text`, cut in its middle where it is too long to be told back."""
    return text if len(text) <= 300 else f"{text[:150]}…{text[-100:]}"


def plain(text: str) -> str:
    """`text` without halves of surrogate pairs, which no encoding can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
