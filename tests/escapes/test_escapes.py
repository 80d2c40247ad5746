"""Real processes. Every way out that we know, tried by a real child in its real shell, and looked at from outside.

Where the system can hold a child back, none leads out; where nothing holds it back, each does, so each is a way. A
machine that should have what this needs, and has not, fails here.
"""

import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.config.tables import SandboxTable
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import shell
from tests.end_to_end.covey import says
from tests.escapes import acting, reading, writing
from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.escapes.world import (
    SECRET,
    Victim,
    World,
    fingerprint,
    live,
    make_victim_folder,
    make_victim_repository,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what holds a child back")

FREE = SandboxTable(enabled=False)

AS_ROOT = os.geteuid() == 0

# A worker that has no rights of root's, and so needs a user namespace; and one on a system without namespaces.
BEGIN = (
    "import sys; from worker.confinement.first_steps import decode_steps, take_steps;"
    " from worker.__main__ import main; "
)
UNPRIVILEGED = (
    sys.executable,
    "-P",
    "-c",
    "from worker.confinement.system_calls import keep_capabilities as keep; keep(1 << 31); "
    + BEGIN
    + "main(sys.argv[1])",
)
WITHOUT_MOUNTS = (
    sys.executable,
    "-P",
    "-c",
    "from worker.confinement.enforced import *; " + BEGIN + "found = Enforced(what_is_enforced().landlock);"
    "take_steps(decode_steps(sys.argv[1]), found); main()",
)
WAYS_TO_START = {"as it is": (), "unprivileged": UNPRIVILEGED, "without mounts": WITHOUT_MOUNTS}


@dataclass
class Tried:
    """Which ways led out: the names of those after which a victim was not what it had been."""

    files: list[str] = field(default_factory=list[str])
    processes: list[str] = field(default_factory=list[str])
    secrets: list[str] = field(default_factory=list[str])


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository_of: RepositoryOf) -> World:
    """A person with a home, a repository, keys, and another child's checkout."""
    home = tmp_path / "home"
    for place in (".ssh", ".aws", ".gnupg", ".cache"):
        (home / place).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    monkeypatch.setenv("AWS_PROFILE", SECRET)
    monkeypatch.setenv("SSH_AUTH_SOCK", SECRET)
    return World(tmp_path, repository_of("python_package"))


def secrets_of(person: World, covey_home: Path) -> list[Path]:
    """Files with a secret in each, where nobody is to read it."""
    home = person.folder / "home"
    other = person.repository.with_name("python_package-children") / "other-1"
    found = [home / ".ssh/id", home / ".aws/credentials", home / ".gnupg/key", home / ".netrc"]
    found += [covey_home / "config.toml", other / "file.txt"]
    found += [person.repository / ".git/covey/checkouts/other-1/upper/file.txt"]
    for path in found:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{SECRET}\n")
    return found


async def try_all(
    person: World, covey_home: Path, *, table: SandboxTable | None = None, worker: tuple[str, ...] = ()
) -> Tried:
    """Let a child try every way, and look what came of it."""
    writes = {**writing.SHELL, **writing.METADATA}
    writes |= {name: f"exec $PYTHON -I -S - <<'EOF'\n{code}\nEOF" for name, code in writing.PYTHON.items()}
    if AS_ROOT:
        writes |= writing.METADATA_AS_ROOT | writing.AS_ROOT
    acts = {name: f"exec $PYTHON -I -S - <<'EOF'\n{code}\nEOF" for name, code in acting.PYTHON.items()}
    acts |= acting.SHELL
    secrets = secrets_of(person, covey_home)
    folders: dict[str, Path] = {}
    template = make_victim_repository(person.folder / "template")
    tried = Tried()
    with ExitStack() as stack:
        for number, (name, script) in enumerate(writes.items()):
            folder = folders[name] = make_victim_folder(person.folder / "outside" / str(number))
            if "git" in name.lower() or "tree" in name:
                shutil.copytree(template, folder / "repo")
            pid: object = ""
            if "PID" in script:
                victim = Victim(folder, folder / "file.txt")
                stack.callback(victim.end)
                pid = victim.process.pid
            person.add(f"write: {name}", script, V=folder, PID=pid)
        processes: dict[str, Victim] = {}
        for name, script in acts.items():
            victim = processes[name] = Victim(person.folder, secrets[0])
            stack.callback(victim.end)
            person.add(f"act: {name}", script, PID=victim.process.pid, ADDRESS=victim.address)
        holder = Victim(person.folder, secrets[0])
        stack.callback(holder.end)
        for number, secret in enumerate(secrets):
            ways = reading.SHELL if number == 0 else {f"by its path: {secret.parent.name}": "cat $SECRET"}
            for name, script in ways.items():
                person.add(f"read: {name}", script, SECRET=secret, PID=holder.process.pid)
        person.commit()
        before = {name: fingerprint(folder) for name, folder in folders.items()}
        untouched = Victim(person.folder, secrets[0]).fate()
        await live(person.repository, says("", shell(person.run_all)), table=table, worker=worker)
        tried.files = [name for name, folder in folders.items() if fingerprint(folder) != before[name]]
        tried.processes = [name for name, victim in processes.items() if victim.fate() != untouched]
        named = [name for name in person.scripts if name.startswith("read: ")]
        tried.secrets = [name.removeprefix("read: ") for name in named if SECRET in person.got(name)]
    return tried


@pytest.mark.keeps_checkouts
async def test_where_nothing_holds_a_child_back_every_way_leads_out(person: World, covey_home: Path) -> None:
    tried = await try_all(person, covey_home, table=FREE)
    reads = [name.removeprefix("read: ") for name in person.scripts if name.startswith("read: ")]
    every_read = set(reads) - {"its own environment"}  # which is clean in any case
    every_act = [*acting.PYTHON, *acting.SHELL]
    every_write = [name.removeprefix("write: ") for name in person.scripts if name.startswith("write: ")]
    assert sorted(set(every_write) - set(tried.files)) == []
    assert sorted(set(every_act) - set(tried.processes)) == []
    assert sorted(every_read - set(tried.secrets)) == []


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("way", WAYS_TO_START)
async def test_no_way_leads_out_of_a_child(person: World, covey_home: Path, way: str) -> None:
    tried = await try_all(person, covey_home, worker=WAYS_TO_START[way])
    if way == "without mounts":  # docs/sandbox.md tells of these
        known = {*writing.METADATA, *writing.METADATA_AS_ROOT}
        tried.files = [name for name in tried.files if name not in known]
    assert tried == Tried()
