"""Real processes. Namespaces of a process's own, and what is said where the system gives none."""

import os
import sys
from pathlib import Path

import pytest

from tests.machine import lacks
from worker.confinement.namespaces import enter_mount_namespace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces")


def test_a_limit_that_is_reached_is_not_said_to_be_a_full_disk() -> None:
    """As where `sysctl user.max_user_namespaces=0` is set, which is common on hardened machines."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = ""
        try:
            enter_mount_namespace(with_user_namespace=True)
            Path("/proc/sys/user/max_user_namespaces").write_text("0")
            said = "it could be entered"
            enter_mount_namespace(with_user_namespace=True)
        except OSError as error:
            said = said and str(error)
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    said = os.read(read, 1_000).decode()
    os.close(read)
    if not said:
        lacks("no user namespace can be had")
    assert said == "[Errno 28] no further namespace is allowed; see /proc/sys/user/max_user_namespaces"
