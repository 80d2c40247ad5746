"""Real processes. Sockets, networks, terminals, memory and keyrings that a confined process can't reach."""

import ctypes
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.escapes.confined import WITHOUT_MOUNTS, confined, make_place, own_of
from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from worker.confinement.confinement import Confinement, Enforced
from worker.confinement.enforced import what_is_enforced

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what holds a process back")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return make_place(tmp_path)


@pytest.fixture
def own(place: Path) -> Confinement:
    return own_of(place)


CONNECT = """
import socket
for kind, address in ((socket.AF_UNIX, args[0]), (socket.AF_UNIX, "\\0" + args[1])):
    try:
        with socket.socket(kind) as one:
            one.connect(address)
    except OSError:
        pass
"""


@pytest.fixture
def listening(place: Path) -> Iterator[tuple[socket.socket, socket.socket]]:
    """An agent of the person's at a path, and one at a name without a path."""
    with socket.socket(socket.AF_UNIX) as at_path, socket.socket(socket.AF_UNIX) as abstract:
        at_path.bind(str(place / "agent"))
        abstract.bind(f"\0{place}")
        for one in (at_path, abstract):
            one.listen()
            one.setblocking(False)
        yield at_path, abstract


def reached(one: socket.socket) -> bool:
    try:
        connection, _ = one.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True


def test_sockets_of_others_are_out_of_reach_and_one_that_is_opened_is_not(
    place: Path, own: Confinement, listening: tuple[socket.socket, socket.socket]
) -> None:
    assert confined(own, CONNECT, place / "agent", place).returncode == 0
    assert [reached(one) for one in listening] == [False, False]
    opened = msgspec.structs.replace(own, readable=(bytes(place / "agent"),))
    confined(opened, CONNECT, place / "agent", place)
    assert [reached(one) for one in listening] == [True, False]
    confined(own, CONNECT, place / "agent", place, enforced=WITHOUT_MOUNTS)
    assert [reached(one) for one in listening] == [True, False], "and that is told at the start"


NETWORK = """
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    with socket.socket(socket.AF_INET, kind) as one:
        try:
            one.connect(("127.0.0.1", int(args[0]))); one.send(b"out")
        except OSError:
            pass
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
    print("reaches itself")
"""


def test_a_denied_network_leads_nowhere_but_to_oneself(place: Path, own: Confinement) -> None:
    denied = msgspec.structs.replace(own, network="deny")
    with socket.create_server(("127.0.0.1", 0)) as stream, socket.socket(type=socket.SOCK_DGRAM) as packets:
        port = stream.getsockname()[1]
        packets.bind(("127.0.0.1", port))
        for one in (stream, packets):
            one.setblocking(False)
        assert confined(denied, NETWORK, port).stdout == "reaches itself\n"
        assert not reached(stream)
        with pytest.raises(BlockingIOError):
            packets.recv(3)
        assert confined(own, NETWORK, port).stdout == "reaches itself\n"
        assert reached(stream)
        assert packets.recv(3) == b"out"
        without_mounts = msgspec.structs.replace(what_is_enforced(), mounts=False)
        assert confined(denied, NETWORK, port, enforced=without_mounts).stdout == "reaches itself\n"
        assert not reached(stream)
        without_network = msgspec.structs.replace(what_is_enforced(), network=False)
        assert confined(denied, NETWORK, port, enforced=without_network).stdout == "", "no TCP, by Landlock"
        assert not reached(stream)


TERMINAL = """
import fcntl, os, termios
for flags in (os.O_RDWR | os.O_NOCTTY, os.O_RDONLY | os.O_NOCTTY):
    try:
        terminal = os.open(args[0], flags)
        for letter in b"out\\n":
            fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))
        os.write(terminal, b"out\\n")
    except OSError:
        pass
master, slave = os.openpty() if args[1:] else (0, 0)
print("has a terminal of its own" if slave else "", flush=True)
"""


def test_the_persons_terminal_is_neither_typed_at_nor_written_to(place: Path, own: Confinement) -> None:
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        os.set_blocking(slave, False)
        path = os.ttyname(slave)
        done = confined(own, TERMINAL, path, "own")
        assert done.stdout == "has a terminal of its own\n", done
        confined(own, TERMINAL, path, enforced=WITHOUT_MOUNTS)
        for end in (master, slave):
            with pytest.raises(BlockingIOError):
                os.read(end, 10)
    finally:
        os.close(master)
        os.close(slave)


SHARED = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(int(args[0]), None, 0)
if address not in (None, ctypes.c_void_p(-1).value):
    ctypes.memmove(address, b"out!", 4)
"""


def test_memory_that_others_share_is_not_there(own: Confinement) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    shared = libc.shmget(0, 4096, 0o1600)
    address = libc.shmat(shared, None, 0)
    try:
        ctypes.memmove(address, b"safe", 4)
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            confined(own, SHARED + f"open({file.name!r}, 'w').write('out')", shared)
            assert file.read() == b""
        assert ctypes.string_at(address, 4) == b"safe"
    finally:
        libc.shmdt(ctypes.c_void_p(address))
        libc.shmctl(shared, 0, None)


KEYRING = """
import ctypes
libc = ctypes.CDLL(None)
held = ctypes.create_string_buffer(100)
length = libc.syscall(int(args[0]), 11, int(args[1]), held, 100)  # KEYCTL_READ
print(held.value.decode() if length > 0 else "none")
"""


def test_the_kernels_keyring_of_the_person_is_not_there(own: Confinement) -> None:
    add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))
    if not add_key:
        pytest.skip(f"this test does not know the system calls of {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    user_keyring = -4
    key = libc.syscall(add_key, b"user", b"covey-test", b"secret", 6, user_keyring)
    assert key > 0, os.strerror(ctypes.get_errno())
    try:
        # Held to nothing, it is there: this is what is kept from a child.
        assert confined(own, KEYRING, keyctl, key, enforced=Enforced()).stdout == "secret\n"
        for enforced in (None, WITHOUT_MOUNTS):
            assert confined(own, KEYRING, keyctl, key, enforced=enforced).stdout == "none\n"
    finally:
        libc.syscall(keyctl, 9, key, user_keyring)  # KEYCTL_UNLINK
