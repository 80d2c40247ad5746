"""Real processes. One landing at a time, among threads and processes, and no lock outlives its holder."""

import os
import signal
import threading

from merge.files.lock import landing_lock
from merge.store.repository import Repository


def test_threads_take_turns(repository: Repository) -> None:
    inside: list[int] = []
    most = 0

    def work(number: int) -> None:
        nonlocal most
        for _ in range(20):
            with landing_lock(repository):
                inside.append(number)
                most = max(most, len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_processes_take_turns(repository: Repository) -> None:
    """Each adds one to a number in a file, which loses some where two do so at once."""
    counter = repository.common_dir / "counter"
    counter.write_text("0")
    children: list[int] = []
    for _ in range(4):
        process = os.fork()
        if process == 0:
            for _ in range(25):
                with landing_lock(repository):
                    counter.write_text(str(int(counter.read_text()) + 1))
            os._exit(0)
        children.append(process)
    for process in children:
        os.waitpid(process, 0)
    assert counter.read_text() == "100"


def test_a_killed_holder_lets_go(repository: Repository) -> None:
    readable, writable = os.pipe()
    process = os.fork()
    if process == 0:
        with landing_lock(repository):
            os.write(writable, b"held")
            signal.pause()
    os.close(writable)
    assert os.read(readable, 4) == b"held"
    os.close(readable)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with landing_lock(repository):
        pass


def test_a_process_forked_meanwhile_does_not_hold_it(repository: Repository) -> None:
    readable, writable = os.pipe()
    with landing_lock(repository):
        process = os.fork()
        if process == 0:
            os.close(writable)
            os.read(readable, 1)
            os._exit(0)
    with landing_lock(repository):
        os.close(writable)
        os.close(readable)
    os.waitpid(process, 0)
