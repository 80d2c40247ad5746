"""End to end. A parent is killed in the middle of a turn; the next start finds its children and loses nothing."""

import random
import signal
from pathlib import Path

import pytest
import trio

from merge.repository import find_repository
from orchestrator.events import ChildFinished, TurnFinished
from orchestrator.journal import Entry, read_entries
from orchestrator.ledger import OPEN_STATES, open_ledger
from orchestrator.scripted.scenario import Conversation
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, open_covey, run_covey, says, serving, talk, task
from tests.end_to_end.test_delegation import git_state, read_tree

DONE = "Both are done, as I was told."

EVENTS = 21
"""How many events the turn below has, at least; a kill at every other one is a test, more is for `make soak`."""


def script() -> list[Conversation]:
    """One implement child, one research child, both told to the model; then a second request of the same session."""
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
        ),
        talk(
            "Write the file.",
            says("", call("write", path="new.txt", content="new\n")),
            says("It is written."),
        ),
        talk("Read the file.", says("", call("read", path="README.md")), says("It says tally.")),
        talk("a new session begins", says("Welcome.")),
    ]


def journals(repository: Path) -> list[Path]:
    return sorted((repository / ".covey" / "sessions").glob("*/journal.jsonl"))


async def kill_at(repository: Path, server: ScriptedServer, event: int) -> bool:
    """Run the turn and kill the parent as soon as its journal has so many lines; False when it ended before."""
    async with open_covey(repository, server=server) as process:
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        with trio.fail_after(30):
            while True:
                found = journals(repository)
                lines = found[0].read_bytes().count(b"\n") if found else 0
                if lines >= event:
                    process.send_signal(signal.SIGKILL)
                    await process.wait()
                    return True
                if any(
                    isinstance(entry.event, TurnFinished)
                    for entry in (read_entries(found[0]) if found else ())
                ):
                    return False
                await trio.sleep(0.001)  # a file tells nobody that it grew


def ends_of(entries: list[Entry]) -> list[str]:
    return [entry.who for entry in entries if isinstance(entry.event, ChildFinished)]


class Aftermath:
    """A repository before a session is killed in it, and what must hold once the next session has begun there."""

    def __init__(self, repository: Path) -> None:
        (repository / "NOTES.txt").write_text("the person's own\n")
        self.repository = repository
        self._files, self._git = read_tree(repository), git_state(repository)

    async def check(self, server: ScriptedServer) -> None:
        done = await run_covey(self.repository, server=server, requests=["a new session begins"])
        assert done.status == 0, done
        # What is in the tree is what was there, and the child's file whole or not at all.
        after = read_tree(self.repository)
        landed = after.pop("new.txt", None)
        assert landed in (None, b"new\n")
        assert after == self._files
        assert git_state(self.repository) == self._git
        with open_ledger(find_repository(self.repository)) as ledger:
            rows = {row.title: row for row in ledger.rows()}
        assert not [row for row in rows.values() if row.state in OPEN_STATES]
        # Its work is in exactly one place: in the tree, or in a checkout that is kept, or it was never done.
        children = self.repository.with_name(f"{self.repository.name}-children")
        folders = list(children.iterdir()) if children.exists() else []
        writer = rows.get("writer")
        is_kept = writer is not None and writer.state == "kept"
        assert [folder.name for folder in folders] == (
            [writer.child] if writer is not None and is_kept else []
        )
        assert (landed is not None) == (writer is not None and writer.state == "landed")
        if is_kept:
            assert (folders[0] / "new.txt").read_text() == "new\n"
            assert f"kept {folders[0]}" in done.output
        # The story of the session that died is complete: one end for each child that had begun.
        story = list(read_entries(journals(self.repository)[0]))
        assert sorted(ends_of(story)) == sorted({entry.who for entry in story if entry.who})


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("event", range(1, EVENTS + 1, 2))
async def test_after_a_kill_at_any_event_the_next_start_puts_everything_right(
    repository_of: RepositoryOf, event: int
) -> None:
    aftermath = Aftermath(repository_of("python_package"))
    async with serving(*script()) as server:
        killed = await kill_at(aftermath.repository, server, event)
        await aftermath.check(server)
    assert killed or event > 10


@pytest.mark.soak
@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("seed", range(200))
async def test_after_a_kill_at_any_moment_the_next_start_puts_everything_right(
    repository_of: RepositoryOf, seed: int
) -> None:
    aftermath = Aftermath(repository_of("python_package"))
    moment = random.Random(seed).uniform(0.1, 2.0)
    async with serving(*script()) as server:
        async with open_covey(aftermath.repository, server=server) as process:
            assert process.stdin is not None
            await process.stdin.send_all(f"{REQUEST}\n".encode())
            await trio.sleep(moment)
            process.send_signal(signal.SIGKILL)
            await process.wait()
        if journals(aftermath.repository):
            await aftermath.check(server)


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("event", [3, 9, 15, 20])
async def test_a_resumed_session_tells_each_report_exactly_once(
    repository_of: RepositoryOf, event: int
) -> None:
    repository = repository_of("python_package")
    async with serving(*script()) as server:
        await kill_at(repository, server, event)
        server.requests.clear()
        done = await run_covey(repository, "resume", server=server, requests=["go on"])
        assert done.status == 0, done
        done = await run_covey(repository, "resume", server=server, requests=["and on"])
        assert done.status == 0, done
        last = server.requests[-1].body.decode()
    story = list(read_entries(journals(repository)[0]))
    assert len(journals(repository)) == 1, "it is the same session"
    for child in {entry.who for entry in story if entry.who}:
        kind = "implement" if child.startswith("writer") else "research"
        assert last.count(f"child {child} ({kind})") == 1
    assert last.count("go on") == 1
    assert last.count("and on") == 1


async def test_a_session_that_runs_elsewhere_cant_be_resumed(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with (
        serving(talk(REQUEST, says("hello", delay_ms=600))) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        await server.recording.wait_for(1)
        done = await run_covey(repository, "resume", server=server)
        await process.stdin.aclose()
        await process.wait()
    assert done.status == 1
    assert "runs in another process; end it there first." in done.errors


@pytest.mark.parametrize(
    ("words", "says_so"), [((), "No session was held in"), (("2020",), "No session was held in")]
)
async def test_nothing_to_resume(repository_of: RepositoryOf, words: tuple[str, ...], says_so: str) -> None:
    done = await run_covey(
        repository_of("python_package"), "resume", *words, "--endpoint", "http://127.0.0.1:9", "--model", "m"
    )
    assert done.status == 1
    assert says_so in done.errors
