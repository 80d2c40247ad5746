"""What must hold after a fault, whatever it was: nothing alive, nothing lost, nothing told twice.

`Aftermath` knows a repository as it was before; `check` lets the next session begin there and looks at what it found.
"""

from dataclasses import dataclass
from pathlib import Path

import trio

from merge.store.repository import children_folder, find_repository
from orchestrator.children.ledger import OPEN_STATES, open_ledger
from orchestrator.events import ChildFinished
from orchestrator.journal import JournalBroken, read_entries
from orchestrator.sandbox.environment import child_marker
from orchestrator.scripted.scenario import Conversation
from orchestrator.scripted.server import ScriptedServer
from tests.end_to_end.covey import REQUEST, call, open_covey, run_covey, says, talk, task
from tests.end_to_end.faults import Fault, Sufferer, landing_journals, length_of
from tests.end_to_end.test_delegation import git_state, read_tree
from worker.processes.process_tree import marked_processes
from worker.protocol import ChildId, ToolFinished

DONE = "Both are done, as I was told."
FRESH = "a new session begins"
WRITTEN = b"new\n"


def script(*, keeps: bool = False) -> list[Conversation]:
    """One implement child, one research child, both told to the model; then more requests, of it and of another.

    The implement child lands; where the session `keeps` it, it has taken back what the person had not committed.
    """
    takes_back = [says("", call("run_command", command="rm NOTES.txt"))] if keeps else []
    return [
        talk(
            REQUEST,
            says(
                "",
                task("implement", "writer", "Write the file."),
                task("research", "reader", "Read the file."),
            ),
            says(DONE),
            says("Here I am again."),
            says("And again."),
            says("And once more."),
        ),
        talk(
            "Write the file.",
            says("", call("write", path="new.txt", content=WRITTEN.decode())),
            *takes_back,
            says("It is written."),
        ),
        talk("Read the file.", says("", call("read", path="README.md")), says("It says tally.")),
        talk("go on", says("Going on."), says("Going on.")),  # a session that died before it asked anything
        talk(FRESH, says("Welcome.")),
    ]


@dataclass
class Spared:
    """What a fault spares; what it damages by itself can't be asked for."""

    journal: bool = True
    ledger: bool = True
    landing: bool = True


class Aftermath:
    """A repository before the harm, and the laws after it."""

    def __init__(self, repository: Path) -> None:
        (repository / "NOTES.txt").write_text("the person's own\n")
        self.repository = repository
        self._files, self._git = read_tree(repository), git_state(repository)

    async def check(self, server: ScriptedServer, spared: Spared | None = None) -> None:
        """Let the next session begin, and hold every law against what is there then."""
        spared = spared or Spared()
        server.requests.clear()
        if spared.journal and self._journals():
            done = await run_covey(self.repository, "resume", server=server, requests=["go on", "and on"])
        else:
            done = await run_covey(self.repository, server=server, requests=[FRESH])
        assert done.status == 0, done
        assert "Traceback" not in done.output + done.errors, done
        self._check_processes()
        self._check_work(spared)
        if spared.journal:
            self._check_story(server.requests[-1].body.decode())

    def _journals(self) -> list[Path]:
        return sorted((self.repository / ".covey" / "sessions").glob("*/journal.jsonl"))

    def _check_processes(self) -> None:
        place = find_repository(self.repository)
        with open_ledger(place) as ledger:
            children = [*(row.child for row in ledger.rows()), *ledger.damaged()]
        for child in children:
            assert marked_processes(child_marker(place.common_dir, ChildId(child))) == ()

    def _check_work(self, spared: Spared) -> None:
        """What is in the tree is what was there; the child's file is whole, or not there, and nowhere twice."""
        after = read_tree(self.repository)
        landed = after.pop("new.txt", None)
        assert landed in (None, WRITTEN)
        assert after == self._files
        assert git_state(self.repository) == self._git
        place = find_repository(self.repository)
        children = children_folder(place)
        folders = [each for each in children.iterdir() if each.is_dir()] if children.exists() else []
        kept = [folder for folder in folders if (folder / "new.txt").exists()]
        assert all((folder / "new.txt").read_bytes() == WRITTEN for folder in kept)
        if self._has_written():
            assert landed is not None or kept, "what the child did is nowhere"
        with open_ledger(place) as ledger:
            assert not ledger.damaged()
            rows = {row.title: row for row in ledger.rows()}
        assert not [row for row in rows.values() if row.state in OPEN_STATES]
        if not spared.landing:
            return
        writer = rows.get("writer")
        is_kept = writer is not None and writer.state == "kept"
        names = [folder.name for folder in folders]
        assert names == ([writer.child] if writer and is_kept else []), f"{names}, {writer}"
        if spared.ledger:
            assert (landed is not None) == (writer is not None and writer.state == "landed")
        assert is_kept == bool(kept) or not self._has_written()

    def _has_written(self) -> bool:
        """Whether the child was told that its file is written."""
        for path in self._journals():
            try:
                entries = list(read_entries(path))
            except JournalBroken:
                return False
            for entry in entries:
                if isinstance(entry.event, ToolFinished) and entry.event.name == "write":
                    return not entry.event.failed
        return False

    def _check_story(self, last: str) -> None:
        """The story of the session is complete, and its model was told each child's end once."""
        (path,) = self._journals()
        story = list(read_entries(path))
        began = {entry.who for entry in story if entry.who}
        ends = [entry.who for entry in story if isinstance(entry.event, ChildFinished)]
        assert sorted(ends) == sorted(began)
        for child in began:
            kind = "implement" if child.startswith("writer") else "research"
            assert last.count(f"child {child} ({kind})") == 1, last
        assert last.count("go on") == last.count("and on") == 1


async def go_through(
    aftermath: Aftermath, server: ScriptedServer, fault: Fault, spared: Spared, event: int
) -> None:
    """Run the turn, harm it at `event`, let it come to its end, and hold the laws against what is left.

    Event 0 is the moment at which a landing is under way.
    """
    repository = aftermath.repository
    async with open_covey(repository, server=server) as process:
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        session = Sufferer(repository, process)
        with trio.fail_after(30):
            await _wait_for(repository, event, process)
            await fault.inflict(session)
            if not fault.is_deadly:
                await trio.sleep(0.2)  # long enough for a session that does not notice to come to its end
        await fault.mend(session)
        await process.stdin.aclose()
        with trio.move_on_after(20):
            async with trio.open_nursery() as nursery:
                for stream in (process.stdout, process.stderr):
                    assert stream is not None
                    nursery.start_soon(_drain, stream)
                await process.wait()
        assert process.returncode is not None, "the session did not come to its end"
    await aftermath.check(server, spared)


async def _wait_for(repository: Path, event: int, process: trio.Process) -> None:
    while True:
        count, is_over = length_of(repository)
        is_here = count >= event if event else bool(landing_journals(repository))
        if is_here or is_over or process.returncode is not None:
            return
        await trio.sleep(0.001)  # a file tells nobody that it grew


async def _drain(stream: trio.abc.ReceiveStream) -> None:
    async for _ in stream:
        pass
