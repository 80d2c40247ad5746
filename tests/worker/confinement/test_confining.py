"""Real processes. What a process that held itself to a confinement can still do, and what it can't."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.escapes.confined import BEGIN, DEVICES, WITHOUT_MOUNTS, confined, make_place, own_of
from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from worker.confinement.confinement import Confinement, Enforced
from worker.confinement.enforced import what_is_enforced
from worker.confinement.first_steps import Confine, encode_steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what holds a process back")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return make_place(tmp_path)


@pytest.fixture
def own(place: Path) -> Confinement:
    return own_of(place)


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
        f"{BEGIN}\nargs = sys.argv[3:]\n{code}",
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
    begin = f"from worker.confinement.first_steps import *; take_steps(decode_steps({first!r}))"
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
    done = subprocess.run(
        [sys.executable, "-m", "worker.confinement.enforced"], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == msgspec.to_builtins(what_is_enforced())
