"""What this system can hold a child to: tried out, not guessed. `shortfalls` puts into words what it can't.

A version number tells what Landlock knows; whether a process may have mounts and a network of its own is decided by so
many switches that only trying tells. `python -m worker.confinement.enforced` prints it.
"""

import os
import sys
from collections.abc import Callable

import msgspec

from worker.confinement.confinement import LANDLOCK, Confinement, Enforced
from worker.confinement.landlock import landlock_version


def what_is_enforced() -> Enforced:
    """What a child of this process would be held to. Forks, so call it where there is one thread."""
    if sys.platform != "linux":
        return Enforced()
    version = landlock_version()
    if version < LANDLOCK.moves:
        return Enforced(version)
    from worker.confinement.confining import enter_own_mounts
    from worker.confinement.own_network import enter_own_network
    from worker.confinement.sealing import seal_mounts

    def have_mounts() -> None:
        enter_own_mounts()
        seal_mounts(Confinement())

    def have_network() -> None:
        enter_own_mounts()
        enter_own_network()

    return Enforced(version, _works(have_mounts), _works(have_network))


def _works(step: Callable[[], None]) -> bool:
    """Whether `step` succeeds, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            step()
            status = 0
        except OSError:
            pass
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return status == 0


if __name__ == "__main__":
    print(msgspec.json.encode(what_is_enforced()).decode())
