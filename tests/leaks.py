"""What a test may leave behind without noticing: processes, open files, mounts, checkouts.

Reads /proc alone and looks closely only at what is new, so that a clean test pays about half a millisecond.
A process is this run's when it descends from the test process, or when its environment or its folder names
the run's temporary folder: so an orphan is found, and another run on the machine is left alone. Elsewhere
than on Linux it sees only checkouts.
"""

import gc
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

# A process that was told to end may need a moment to be gone; a leaked one is there for good.
_PARTING_SECONDS = 2.0

_HAS_PROC = Path("/proc/self/fd").is_dir()


@dataclass(frozen=True)
class World:
    """The machine's processes and this process's open files, at one moment."""

    processes: frozenset[int]
    files: frozenset[tuple[int, str]]
    mounts: frozenset[str]


def look(temporary: Path) -> World:
    """The world as it is now; of the mounts only those below `temporary`."""
    if not _HAS_PROC:
        return World(frozenset(), frozenset(), frozenset())
    return World(_all_processes(), _open_files(), _mounts_below(temporary))


def leaks_since(before: World, temporary: Path, *, parting_seconds: float = _PARTING_SECONDS) -> list[str]:
    """What has appeared since `before` and belongs to this run, one line each; leaked processes are killed.

    A process that goes within `parting_seconds` is no leak.
    """
    if not _HAS_PROC:
        return []
    now = look(temporary)
    found = [
        line
        for process in sorted(now.processes - before.processes)
        if _belongs(process, temporary) and (line := _outstaying(process, parting_seconds))
    ]
    if now.files - before.files:
        gc.collect()  # what only a reference cycle holds is closed by now, and was not leaked
        for number, target in sorted(_open_files() - before.files):
            found.append(f"file descriptor {number} is still open: {target}")
    found += [f"{place} is still mounted" for place in sorted(now.mounts - before.mounts)]
    return found


def checkouts_left(folder: Path) -> list[str]:
    """The `<repo>-children` folders in `folder` or one level below it, one line each."""
    places = [folder, *(Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))]
    return [
        f"{entry.path} is still there, with {sorted(os.listdir(entry.path)) or 'nothing in it'}"
        for place in places
        for entry in os.scandir(place)
        if entry.name.endswith("-children") and entry.is_dir(follow_symlinks=False)
    ]


def _all_processes() -> frozenset[int]:
    return frozenset(int(name) for name in os.listdir("/proc") if name.isdecimal())


def _open_files() -> frozenset[tuple[int, str]]:
    pairs: list[tuple[int, str]] = []
    for name in os.listdir("/proc/self/fd"):
        try:
            pairs.append((int(name), os.readlink(f"/proc/self/fd/{name}")))
        except FileNotFoundError:  # the descriptor that listed the folder
            continue
    return frozenset(pairs)


def _mounts_below(temporary: Path) -> frozenset[str]:
    prefix = f"{temporary}/"
    text = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
    if prefix not in text:
        return frozenset()
    places = [line.split(" ")[4] for line in text.splitlines()]
    return frozenset(place for place in places if place.startswith(prefix))


def _belongs(process: int, temporary: Path) -> bool:
    if _descends(process):
        return True
    proof = f"{temporary}/".encode()
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
        folder = os.readlink(f"/proc/{process}/cwd")
    except OSError:  # gone, a zombie, or another user's
        return False
    return proof in environment or f"{folder}/".startswith(f"{temporary}/")


def _descends(process: int) -> bool:
    while process > 1:
        parent = _state_and_parent(process)[1]
        if parent == os.getpid():
            return True
        process = parent
    return False


def _state_and_parent(process: int) -> tuple[str, int]:
    """The state letter and the parent's id of a process; of one that is gone, `X` and 0 (see proc(5))."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return "X", 0
    # The second field is the program's name in parentheses and may hold anything, parentheses too.
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state, int(parent)


def _outstaying(process: int, parting_seconds: float) -> str | None:
    """Wait for `process` to go. If it stays, kill it and say what it was."""
    command = _command(process)
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return None
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if poll.poll(parting_seconds * 1000):
            if _state_and_parent(process) == ("Z", os.getpid()):
                os.waitpid(process, 0)
                return f"process {process} ended but was never waited for: {command}"
            return None
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll.poll(_PARTING_SECONDS * 1000)
        if _state_and_parent(process) == ("Z", os.getpid()):
            os.waitpid(process, 0)
        return f"process {process} was still running: {command}"
    finally:
        os.close(handle)


def _command(process: int) -> str:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        return os.fsdecode(b" ".join(words)).strip() or Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return "(gone)"
