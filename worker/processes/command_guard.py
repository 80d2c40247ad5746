"""The process between covey and one shell command: what a command starts ends with it, also when covey dies.

A program of its own (arguments: DRAIN TERMINATE KILL SHELL ARGUMENT…), because only a process can own
processes. On Linux it is a subreaper: a descendant that loses its parent (a double fork, a daemon that
overwrote its environment) becomes its child. It ends when it has no child left, and that is the proof that
nothing of the command is alive.

Standard input is a pipe from the owner. Its end means stop, and comes by itself when the owner is killed. The bytes
in it: `k`, keep: when the shell has ended, what it left running is waited for instead of ended (see
`worker.jobs.job_keeper`); `s`, stop, and there may be more to say; `!`, kill at once. Standard error is the command's
output. Standard output tells the owner, a line each:

    started PID         the shell runs
    exited STATUS       the shell ended, or
    signalled NUMBER    was killed
    clean               nothing is alive; or
    left PID…           these could not be ended; or
    unsure              no subreapers here: what left the shell's process group may be alive

Only direct children are signalled, with their process groups: their ids can't be reused before this process
has waited for them, and whoever forks while it is being killed is handed over here and is next. It imports
little and nothing of ours, so that it starts in ten milliseconds. It knows no tool, and not what the command
is for.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum

_CONTROL, _REPORT, _OUTPUT = 0, 1, 2

# What a terminal, a dying session or an owner's own clean-up may send to everything in reach.
_DEAF_TO = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)

# Ignored by every Python; a shell must not inherit that.
_PYTHON_IS_DEAF_TO = (signal.SIGPIPE, signal.SIGXFSZ)

# Where there are no subreapers, nobody tells of the end of a process group.
_LOOK_AGAIN_SECONDS = 0.05


class Rung(IntEnum):
    """How far the command is on its way to its end."""

    WORKING = 0
    DRAINING = 1
    TERMINATING = 2
    KILLING = 3
    GIVEN_UP = 4


def become_subreaper() -> bool:
    """Make this process the next parent of descendants that lose theirs; whether the system can do that."""
    if sys.platform != "linux":
        return False
    import ctypes

    set_child_subreaper = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)
    return ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0


def list_children() -> list[int]:
    """The ids of this process's children, zombies included; one that comes or goes may be missing."""
    # The kernel lists children by the thread that has them; this program has one thread.
    own = os.getpid()
    try:
        return [int(word) for word in _read(f"/proc/{own}/task/{own}/children").split()]
    except FileNotFoundError:  # a kernel built without this list
        return list_children_by_looking_at_all()


def list_children_by_looking_at_all() -> list[int]:
    """Like `list_children`, at the price of a look at every process."""
    own = os.getpid()
    found: list[int] = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdecimal():
            with suppress(OSError):  # gone meanwhile
                # The program's name, in parentheses, may hold anything (proc(5)); after it: state, parent, …
                if int(_read(f"/proc/{name}/stat").rpartition(b")")[2].split()[1]) == own:
                    found.append(int(name))
    return found


class Guard:
    """One shell and everything below it, from its start to the proof that it is gone."""

    def __init__(self, seconds: Sequence[float], *, adopts: bool) -> None:
        drain, terminate, kill = seconds
        self._seconds = {Rung.DRAINING: drain, Rung.TERMINATING: terminate, Rung.KILLING: kill}
        self._adopts = adopts
        self._shell = 0
        self._shell_ended = False
        self._keeps = False
        self._rung = Rung.WORKING
        self._deadline: float | None = None
        # What has the signal of this rung already: groups when terminating, processes when killing.
        self._told: set[int] = set()

    def run(self, shell: list[str]) -> None:
        """Start `shell` and stay until nothing of it is alive, or until patience is at its end."""
        wake, waker = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._shell = _start(shell)
        _report("started", self._shell)
        _let_go_of_output()

        news = select.poll()
        news.register(_CONTROL, select.POLLIN)
        news.register(wake, select.POLLIN)
        while self._reap():
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self._climb(Rung(self._rung + 1))
            if self._rung is Rung.GIVEN_UP and self._adopts:
                return _report("left", *list_children())
            if self._rung is Rung.GIVEN_UP:
                break
            self._signal()
            for file, _ in news.poll(self._patience_milliseconds()):
                if file == wake:
                    os.read(wake, 4096)
                else:
                    self._obey(word := os.read(_CONTROL, 1))
                    if not word:
                        news.unregister(_CONTROL)
        return _report("clean" if self._adopts else "unsure")

    def _reap(self) -> bool:
        """Wait for every child that has ended; whether anything is still alive."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return not self._adopts and _group_lives(self._shell)
            if child == 0:
                return True
            if self._rung is Rung.KILLING:
                self._told.discard(child)
            if child == self._shell and not self._shell_ended:
                self._shell_ended = True
                code = os.waitstatus_to_exitcode(status)
                _report(*(("exited", code) if code >= 0 else ("signalled", -code)))
                if not self._keeps:
                    self._climb(max(self._rung, Rung.DRAINING))

    def _obey(self, word: bytes) -> None:
        if word == b"k":
            self._keep()
        else:
            self._climb(max(self._rung, Rung.KILLING if word == b"!" else Rung.TERMINATING))

    def _keep(self) -> None:
        """From now on the shell's end is not the end of what it started."""
        self._keeps = True
        if self._rung is Rung.DRAINING:  # the word came when the shell had just ended
            self._rung, self._deadline = Rung.WORKING, None

    def _climb(self, rung: Rung) -> None:
        if rung is not self._rung:
            self._rung = rung
            self._told.clear()
            self._deadline = time.monotonic() + self._seconds.get(rung, 0)

    def _patience_milliseconds(self) -> float | None:
        waits: list[float] = []
        if self._deadline is not None:
            waits.append(max(0.0, self._deadline - time.monotonic()))
        if not self._adopts and self._shell_ended:
            waits.append(_LOOK_AGAIN_SECONDS)
        return min(waits) * 1000 + 1 if waits else None

    def _signal(self) -> None:
        """Send the signal of this rung to every child and its group, once to each."""
        if self._rung is Rung.TERMINATING:
            for group in self._groups() - self._told:
                self._told.add(group)
                _send(os.killpg, group, signal.SIGTERM)
                _send(os.killpg, group, signal.SIGCONT)  # a stopped process must hear it too
        elif self._rung is Rung.KILLING:
            # Groups are killed each time: they may hold what was forked since, and a group can't run away.
            for child in set(list_children()) - self._told:
                self._told.add(child)
                _send(os.kill, child, signal.SIGKILL)
            for group in self._groups():
                _send(os.killpg, group, signal.SIGKILL)

    def _groups(self) -> set[int]:
        """The process groups of the children."""
        # The shell has a session of its own, so no group of its descendants holds a process from outside.
        groups = set[int]() if self._adopts else {self._shell}
        for child in list_children():
            with suppress(ProcessLookupError):
                groups.add(os.getpgid(child))
        return groups


def _start(shell: list[str]) -> int:
    """Start the shell, in a session of its own; returns when it has begun or failed to."""
    # Both ends close by themselves in a program that begins. Until then the child is deaf to the same signals as this
    # process and in its group: what is sent too early would be lost.
    begun, beginning = os.pipe()
    child = os.fork()
    if child:
        os.close(beginning)
        os.read(begun, 1)
        os.close(begun)
        return child
    try:
        os.setsid()
        for number in (*_DEAF_TO, *_PYTHON_IS_DEAF_TO, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(_OUTPUT, 1)
        os.execv(shell[0], shell)
    except BaseException as error:
        os.write(_OUTPUT, f"{shell[0]} could not be started: {error}\n".encode())
    finally:
        os._exit(127)  # a fork of this program must never go on as a second guard


def _let_go_of_output() -> None:
    """The output ends when the last process of the command has closed it, not when this one does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)


def _report(*words: object) -> None:
    with suppress(OSError):  # the owner is dead
        os.write(_REPORT, " ".join(map(str, words)).encode() + b"\n")


def _send(send: Callable[[int, int], None], target: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or another user's
        send(target, number)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):  # the second is what macOS says of a group of zombies
        return False
    return True


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        pieces: list[bytes] = []
        while piece := os.read(file, 65536):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(file)


def main() -> None:
    for number in _DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    seconds, shell = [float(word) for word in sys.argv[1:4]], sys.argv[4:]
    Guard(seconds, adopts=become_subreaper()).run(shell)


if __name__ == "__main__":
    main()
