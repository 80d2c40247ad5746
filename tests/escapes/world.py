"""What escapes are tried on: files outside, processes to get at, secrets to read; and one real child.

Nothing is believed that a child prints: the victims are looked at.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from merge.store.repository import find_repository
from orchestrator.children.child import Child
from orchestrator.children.grounds import Grounds, SharedSnapshot
from orchestrator.children.landing_turn import PlainTurn
from orchestrator.children.ledger import open_ledger
from orchestrator.children.new_child import NewChild
from orchestrator.children.spawning import FreshSpawner
from orchestrator.config.tables import Configuration, SandboxTable
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import open_gateway
from orchestrator.journal import Journal
from orchestrator.scripted.scenario import Reply
from tests.end_to_end.covey import says, serving, talk
from tests.real_git import commit_all, init_repository
from worker.protocol import Answered, ChildId, Kind

SECRET = "the-persons-secret"

_VICTIM = """
import ctypes, os, resource, signal, sys
os.chdir(sys.argv[1])
os.dup2(os.open(sys.argv[2], os.O_RDWR), 9)
text = ctypes.create_string_buffer(b"safe")
print(ctypes.addressof(text), flush=True)
sys.stdin.readline()
print(text.value, resource.getrlimit(resource.RLIMIT_CORE), open("/proc/self/oom_score_adj").read(), flush=True)
"""


class Victim:
    """A process of the person's, in `folder`, with `opened` as its descriptor 9."""

    def __init__(self, folder: Path, opened: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _VICTIM, folder, opened],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "A_SECRET": SECRET},
            start_new_session=True,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def fate(self) -> str:
        """What it tells when it is asked, or how it fared instead. It is gone afterwards."""
        if Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            self.end()
            return "stopped"
        try:
            told, _ = self.process.communicate("tell\n", timeout=20)
        except BrokenPipeError:
            self.end()
            told = ""
        return f"{told.strip()} {self.process.returncode}"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


def fingerprint(folder: Path) -> dict[str, object]:
    """All that can be changed about the files in a folder."""
    return {str(path.relative_to(folder)): _look(path) for path in sorted(folder.rglob("*"))} | {
        ".": _look(folder)
    }


def _look(path: Path) -> object:
    found = path.lstat()
    names = os.listxattr(path, follow_symlinks=False)
    attributes = {name: os.getxattr(path, name, follow_symlinks=False) for name in names}
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    times = (found.st_mtime_ns,) if not path.is_dir() else ()
    return (
        found.st_mode,
        found.st_uid,
        found.st_gid,
        found.st_nlink if times else 0,
        times,
        attributes,
        content,
    )


@dataclass
class World:
    """A person's home, repository and other things, and a script for each way that is tried."""

    folder: Path
    repository: Path
    scripts: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, name: str, script: str, **variables: object) -> None:
        """A script to be run in the child's checkout, under `name`."""
        setting = "".join(f"export {key}={str(value)!r}\n" for key, value in variables.items())
        self.scripts[name] = f"{setting}export PYTHON={sys.executable}\n{script}\n"

    def commit(self) -> None:
        """Put the scripts where the child finds them. What each prints comes to be in `got/`."""
        ways = self.repository / "ways"
        ways.mkdir()
        for number, script in enumerate(self.scripts.values()):
            (ways / f"{number}.sh").write_text(script)
        commit_all(self.repository)

    @property
    def run_all(self) -> str:
        """One command that runs every script, each in a folder of its own, whatever becomes of the others."""
        run = 'timeout --kill-after=1 60 bash "$top/ways/$n.sh" > "$top/got/$n" 2> "$top/said/$n" < /dev/null'
        return (
            f"top=$PWD; mkdir got said; for n in $(seq 0 {len(self.scripts) - 1}); do mkdir at-$n; "
            f"cp -r README.md at-$n; (cd at-$n && {run}); done; true"
        )

    def got(self, name: str) -> str:
        """What a script printed, as it landed."""
        return self._landed("got", name)

    def said(self, name: str) -> str:
        """What it wrote on its standard error."""
        return self._landed("said", name)

    def _landed(self, folder: str, name: str) -> str:
        return (self.repository / folder / str(list(self.scripts).index(name))).read_text(errors="replace")


def make_victim_folder(folder: Path) -> Path:
    """Files and a repository outside, for one way to be tried on."""
    (folder / "sub").mkdir(parents=True)
    (folder / "file.txt").write_text("safe\n")
    (folder / "sub/inner.txt").write_text("safe\n")
    return folder


def make_victim_repository(repository: Path) -> Path:
    """A repository with a history and with work that is not committed, to be copied for each way."""
    init_repository(repository)
    (repository / "a.txt").write_text("before\n")
    commit_all(repository)
    (repository / "a.txt").write_text("committed\n")
    commit_all(repository)
    (repository / "a.txt").write_text("in work\n")
    return repository


async def live(
    repository: Path,
    *replies: Reply,
    table: SandboxTable | None = None,
    kind: Kind = "implement",
    worker: Sequence[str] = (),
) -> None:
    """Let one real child answer with `replies`, and end. `worker` starts its process another way than usual."""
    place = find_repository(repository)
    script = talk("Try it.", *replies, says("done"))
    async with (
        serving(script) as server,
        open_gateway(Endpoint("openai", server.url, "m"), "", ()) as gateway,
    ):
        with closing(Journal(repository / ".git/journal.jsonl")) as journal, open_ledger(place) as ledger:
            grounds = Grounds(
                "s-1",
                place,
                gateway,
                journal,
                ledger,
                FreshSpawner(worker) if worker else FreshSpawner(),
                repository / ".git/logs",
                PlainTurn(place),
                configuration=Configuration(sandbox=table or SandboxTable()),
            )
            child = Child(
                NewChild(ChildId(f"escapes-{os.getpid()}"), kind, "try it", "Try it.", False), grounds
            )
            with trio.fail_after(100):
                await child.live(SharedSnapshot(place))
            assert child.report is not None
            assert isinstance(child.report.ending, Answered), child.report
