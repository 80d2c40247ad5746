"""Real processes. What a process that held itself to a confinement can still do, and what it can't."""

import ctypes
import json
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from worker.confinement import Confinement, Enforced
from worker.enforced import what_is_enforced
from worker.first_steps import Confine, encode_steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what holds a process back")

DEVICES = tuple(b"/dev/" + name for name in (b"null", b"zero", b"urandom", b"tty", b"ptmx"))

WITHOUT_MOUNTS = Enforced(landlock=what_is_enforced().landlock) if sys.platform == "linux" else Enforced()

_BEGIN = """
import sys
from worker.confinement import Enforced
from worker.first_steps import decode_steps, take_steps
import msgspec
take_steps(decode_steps(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Enforced | None))
"""


def confined(
    confinement: Confinement, code: str, *words: object, enforced: Enforced | None = None, begin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python code, with `words` as its arguments, in a process that is held to `confinement`."""
    steps = encode_steps((Confine(confinement),))
    command = [sys.executable, "-P", "-c", f"{begin}\n{_BEGIN}\nargs = sys.argv[3:]\n{code}"]
    found = msgspec.json.encode(enforced).decode()
    return subprocess.run(
        [*command, steps, found, *map(str, words)], capture_output=True, text=True, check=False, timeout=30
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file.txt").write_text("safe\n")
    return tmp_path


@pytest.fixture
def own(place: Path) -> Confinement:
    return Confinement(writable=(bytes(place / "own"),), devices=DEVICES)


def test_a_process_that_may_write_nothing_writes_nothing(place: Path) -> None:
    code = """
import os, tempfile
for folder in (args[0], args[1], "/dev/shm", "/tmp", "/var/tmp", os.path.expanduser("~")):
    try:
        open(os.path.join(folder, "made-by-a-test"), "w").close()
        print("wrote into", folder)
    except OSError:
        pass
open("/dev/null", "w").write("this is fine")
"""
    for enforced in (None, WITHOUT_MOUNTS):
        done = confined(
            Confinement(devices=DEVICES), code, place / "own", place / "outside", enforced=enforced
        )
        assert (done.returncode, done.stdout) == (0, ""), done
    assert not list(place.rglob("made-by-a-test"))
    assert not Path("/dev/shm/made-by-a-test").exists()


def test_what_is_ones_own_may_be_changed_in_every_way(place: Path, own: Confinement) -> None:
    code = """
import os, shutil
os.chdir(args[0])
os.makedirs("a/b"); open("a/f", "w").write("x"); os.rename("a/f", "a/b/f"); os.link("a/b/f", "g")
os.symlink("g", "h"); os.chmod("g", 0o600); os.utime("g", (1, 1)); os.truncate("g", 0); os.mkfifo("p")
os.rename("a", "c"); os.unlink("c/b/f"); os.rmdir("c/b"); os.setxattr("g", "user.x", b"y")
"""
    for enforced in (None, WITHOUT_MOUNTS):
        done = confined(own, code, place / "own", enforced=enforced)
        assert done.returncode == 0, done.stderr
        assert sorted(os.listdir(place / "own")) == ["c", "g", "h", "p"]
        for path in (place / "own").iterdir():
            path.rmdir() if path.is_dir() else path.unlink()


def test_what_is_fixed_stays_though_it_is_in_a_writable_folder(place: Path, own: Confinement) -> None:
    (place / "own/bin").mkdir()
    (place / "own/bin/tool").write_text("safe\n")
    held = msgspec.structs.replace(own, fixed=(bytes(place / "own/bin"),))
    code = """
import os
for way in (lambda: open("bin/tool", "w"), lambda: open("bin/new", "w"), lambda: os.rename("bin", "nib")):
    try:
        os.chdir(args[0]); way(); print("out")
    except OSError:
        pass
"""
    for enforced in (None, WITHOUT_MOUNTS):
        assert confined(held, code, place / "own", enforced=enforced).stdout == ""
    assert (place / "own/bin/tool").read_text() == "safe\n"
    assert os.listdir(place / "own/bin") == ["tool"]


def test_what_is_readable_in_an_unreadable_folder_is_all_that_can_be_read_there(
    place: Path, own: Confinement
) -> None:
    (place / "outside/open").mkdir()
    (place / "outside/open/file.txt").write_text("open\n")
    held = msgspec.structs.replace(
        own, unreadable=(bytes(place / "outside"),), readable=(bytes(place / "outside/open"),)
    )
    code = """
from pathlib import Path
print(Path(args[0], "open/file.txt").read_text())
try:
    print(Path(args[0], "file.txt").read_text())
except OSError:
    pass
"""
    for enforced in (None, WITHOUT_MOUNTS):
        assert confined(held, code, place / "outside", enforced=enforced).stdout.split() == ["open"]


def test_what_is_shut_in_what_is_open_in_what_is_shut_is_shut(place: Path, own: Confinement) -> None:
    (place / "outside/open/shut").mkdir(parents=True)
    (place / "outside/open/shut/file.txt").write_text("secret\n")
    shut, opened = bytes(place / "outside"), bytes(place / "outside/open")
    held = msgspec.structs.replace(own, unreadable=(shut, opened + b"/shut"), readable=(opened,))
    code = "import os; print(os.listdir(args[0])); open(args[0] + '/shut/file.txt').read()"
    for enforced in (None, WITHOUT_MOUNTS):
        done = confined(held, code, place / "outside/open", enforced=enforced)
        assert done.stdout == "['shut']\n"
        assert "PermissionError" in done.stderr or "FileNotFoundError" in done.stderr


def test_what_appears_at_a_shut_place_later_cant_be_read(place: Path, own: Confinement) -> None:
    held = msgspec.structs.replace(own, appearing=(bytes(place / "later"),))
    code = """
from pathlib import Path
print("ready", flush=True)
sys.stdin.readline()
try:
    print(Path(args[0], "file.txt").read_text())
except OSError as error:
    print(type(error).__name__)
"""
    steps = encode_steps((Confine(held),))
    command = [
        sys.executable,
        "-P",
        "-c",
        f"{_BEGIN}\nargs = sys.argv[3:]\n{code}",
        steps,
        "null",
        place / "later",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (place / "later").mkdir()
        (place / "later/file.txt").write_text("secret\n")
        told, _ = process.communicate("go\n", timeout=20)
    assert told == "PermissionError\n"


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads disks")
def test_root_reads_no_disk_and_makes_no_device(place: Path, own: Confinement) -> None:
    device = place.stat().st_dev
    code = """
import os, stat
try:
    os.mknod(os.path.join(args[0], "disk"), 0o600 | stat.S_IFBLK, int(args[1]))
except OSError:
    pass
for name in os.listdir("/dev"):
    if os.path.exists(f"/dev/{name}") and stat.S_ISBLK(os.stat(f"/dev/{name}").st_mode):
        try:
            os.open(f"/dev/{name}", os.O_RDONLY); print("opened", name)
        except OSError:
            pass
print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd"))])
"""
    done = confined(own, code, place / "own", device)
    assert done.stdout == "['00000000000404fb', '00000000000404fb']\n", done
    assert not (place / "own/disk").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a program another user's")
def test_a_program_that_belongs_to_another_user_gains_nothing_by_that(place: Path, own: Confinement) -> None:
    program, public = place / "own/program", place / "own/public"
    shutil.copy("/usr/bin/touch", program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    public.mkdir()
    public.chmod(0o777)
    code = "import os, subprocess; os.chdir(args[0]); subprocess.run(['../program', args[1]], check=True)"
    for name, enforced in (("held", None), ("without-mounts", WITHOUT_MOUNTS), ("free", Enforced())):
        assert confined(own, code, public, name, enforced=enforced).returncode == 0
    owners = {path.name: path.stat().st_uid for path in public.iterdir()}
    assert owners == {"held": 0, "without-mounts": 0, "free": 65534}


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


def test_a_process_sees_and_sets_its_own_limits(own: Confinement) -> None:
    code = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
print(resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE), resource.prlimit(os.getppid(), resource.RLIMIT_CORE))
"""
    assert confined(own, code).stdout == f"(100, 100) {resource.getrlimit(resource.RLIMIT_CORE)}\n"


def test_a_process_that_cant_be_held_as_was_promised_never_goes_on(place: Path, own: Confinement) -> None:
    """Here the promise is broken by an earlier confinement, in which nothing can be mounted."""
    first = encode_steps((Confine(own),))
    begin = f"from worker.first_steps import *; take_steps(decode_steps({first!r}))"
    done = confined(own, "print('went on')", begin=begin, enforced=what_is_enforced())
    assert done.returncode != 0
    assert done.stdout == ""
    assert "Error" in done.stderr


def test_a_system_without_landlock_lets_everything_go_on(place: Path, own: Confinement) -> None:
    done = confined(
        own, "open(args[0], 'w').write('told at the start')", place / "new.txt", enforced=Enforced()
    )
    assert done.returncode == 0
    assert (place / "new.txt").exists()


def test_what_this_system_can_do_is_told_as_data_too() -> None:
    done = subprocess.run([sys.executable, "-m", "worker.enforced"], capture_output=True, check=True)
    assert json.loads(done.stdout) == msgspec.to_builtins(what_is_enforced())
