"""Real processes. The table of processes says the same whether it is read from /proc or by psutil."""

import os
import subprocess
import sys

import psutil
import pytest

from worker import process_table
from worker.process_table import Entry, carries, list_processes, look_up

READERS = pytest.mark.parametrize("has_proc", [True, False], ids=["/proc", "psutil"])


def as_psutil_has_it(entry: Entry) -> Entry:
    """The same entry with the start that psutil reckons, from the moment when the clock says that the system began."""
    return entry._replace(key=entry.key._replace(start_time=entry.key.start_time + psutil.boot_time()))


def test_both_readers_say_the_same_of_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["bash", "-c", "exec -a '(odd) name' sleep 999"]) as process:
        entries = [as_psutil_has_it(entry) for entry in list_processes()]
        monkeypatch.setattr(process_table, "HAS_PROC", False)
        steady = [entry for entry in entries if look_up(entry.key.pid) is not None and not entry.ended]
        assert process.pid in {entry.key.pid for entry in steady}
        for entry in steady:
            if entry.parent in (
                1,
                2,
                os.getpid(),
            ):  # others may end, or lose their parent, while this test runs
                assert look_up(entry.key.pid) in (entry, None)
        process.kill()


@READERS
def test_a_process_has_a_parent_a_session_and_a_start(
    monkeypatch: pytest.MonkeyPatch, has_proc: bool
) -> None:
    monkeypatch.setattr(process_table, "HAS_PROC", has_proc)
    with subprocess.Popen(["sleep", "999"], start_new_session=True) as process:
        entry = look_up(process.pid)
        assert entry is not None
        assert (entry.parent, entry.session, entry.ended) == (os.getpid(), process.pid, False)
        assert look_up(process.pid) == entry
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        zombie = look_up(process.pid)
        assert zombie is not None
        assert zombie.ended
        assert zombie.key == entry.key
    assert look_up(process.pid) is None
    own = look_up(os.getpid())
    assert own is not None
    assert own.key.start_time <= entry.key.start_time


@READERS
def test_an_environment_is_asked_for_a_whole_variable(
    monkeypatch: pytest.MonkeyPatch, has_proc: bool
) -> None:
    monkeypatch.setattr(process_table, "HAS_PROC", has_proc)
    with subprocess.Popen(
        ["sleep", "999"], env={"PATH": os.environ["PATH"], "NAME": "välue 1", "LAST": "x"}
    ) as process:
        # Until the program is there, the process still has this one's environment.
        while not carries(process.pid, "NAME", "välue 1"):
            pass
        assert carries(process.pid, "LAST", "x")
        assert not carries(process.pid, "NAME", "välue")
        assert not carries(process.pid, "AME", "välue 1")
        assert not carries(process.pid, "HOME", os.environ["HOME"])
        process.kill()
    assert not carries(process.pid, "LAST", "x")


def test_a_process_whose_first_thread_has_ended_is_not_dead() -> None:
    script = """
import ctypes, os, threading
def stay():
    print("up", flush=True)
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        entry = look_up(process.pid)
        assert entry is not None
        assert not entry.ended
        process.stdin.close()
