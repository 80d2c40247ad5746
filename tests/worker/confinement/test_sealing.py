"""Contract. Which sockets in the file system are somebody's, to be covered."""

import socket
import sys
from pathlib import Path

import pytest

from worker.confinement.sealing import bound_sockets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists them")


def test_a_socket_that_is_listened_at_is_found_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a name with spaces"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        one.listen()
        assert bytes(path) in bound_sockets()
    assert bytes(path) not in bound_sockets(), "nobody listens any more"


def test_a_socket_of_messages_is_found_too(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(str(tmp_path / "messages"))
        assert bytes(tmp_path / "messages") in bound_sockets()
