"""End to end. A kept child is told of at once; its folder is filled in the background, whatever happens meanwhile."""

import json
import os
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from merge.checkouts.unwritten import unwritten_checkouts
from merge.files.file_locks import alone
from merge.store.repository import children_folder, find_repository
from orchestrator.children.first_message import STILL_EMPTY
from orchestrator.events import ChildFinished, ToolStarted
from orchestrator.journal import PARENT
from orchestrator.scripted.scenario import Reply
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, shell
from tests.end_to_end.covey import (
    REQUEST,
    call,
    journal_of,
    open_covey,
    read_all,
    run_covey,
    says,
    serving,
    talk,
    task,
)

pytestmark = [
    pytest.mark.keeps_checkouts,
    pytest.mark.skipif(os.geteuid() != 0, reason="an overlay, by default, needs root"),
]

FILE = "tally/defaults.py"
AGAIN = "a new session begins"
MEANWHILE = f"{AT_WORK}; sed -i 's/DAYS = 30/DAYS = 60/' {FILE}"


@dataclass(frozen=True)
class Kept:
    """A session that has kept a child, whose folder is not filled: somebody else holds the place where that is done."""

    repository: Path
    server: ScriptedServer
    process: trio.Process
    let_go: Callable[[], None]

    @property
    def folder(self) -> Path:
        (folder,) = children_folder(find_repository(self.repository)).iterdir()
        return folder

    async def end_input(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    def check_whole(self) -> None:
        """The folder stands, with what the child did in it, and nothing else is left of the writing."""
        assert "DAYS = 60" in (self.folder / FILE).read_text()
        assert (self.folder / "README.md").is_file()
        assert not unwritten_checkouts(find_repository(self.repository))


@asynccontextmanager
async def session_that_keeps(
    repository: Path, *more: Reply, words: Sequence[str] = ()
) -> AsyncGenerator[Kept]:
    """Its model is told of the kept child, and answers `more`. `words` are those of the command line."""
    async with (
        serving(
            talk(
                REQUEST,
                says("", task("implement", "sixty", "Make it 60.")),
                *(more or [says("It is kept.")]),
                id=r"child (sixty-\w+) \(implement\)",
            ),
            talk("Make it 60.", says("", shell(MEANWHILE)), says("60"), says("still 60")),
            talk(AGAIN, says("Welcome.")),
        ) as server,
        open_covey(repository, *words, server=server) as process,
    ):
        held = ExitStack()
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        async with at_work(repository):
            (twin,) = (repository / ".git/covey/checkouts").iterdir()
            held.enter_context(alone(twin / "keeping"))
            file = repository / FILE
            file.write_text(file.read_text().replace("DAYS = 30", "DAYS = 14"))
        try:
            await wait_until(lambda: any(isinstance(e.event, ChildFinished) for e in journal_of(repository)))
            yield Kept(repository, server, process, held.close)
        finally:
            held.close()


async def wait_until(holds: Callable[[], bool]) -> None:
    with trio.fail_after(30):
        while not holds():  # noqa: ASYNC110 (a file tells nobody that it grew)
            await trio.sleep(0.01)


async def ask(repository: Path, *words: str) -> str:
    done = await run_covey(repository, *words, requests=())
    assert done.status == 0, done
    return done.output


async def test_it_is_told_and_reviewed_before_its_folder_is_filled_and_a_kill_loses_nothing(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with session_that_keeps(repository) as kept:
        await wait_until(lambda: "conflicts with the parent" in kept.server.requests[-1].body.decode())
        assert STILL_EMPTY in kept.server.requests[-1].body.decode()
        shown = await ask(repository, "review", "sixty", "--terminal")
        assert "DAYS = 60" in shown, shown
        assert STILL_EMPTY in shown
        assert not os.listdir(kept.folder)
        (data,) = json.loads(await ask(repository, "review", "--json"))
        assert data["changed"] == [FILE]
        assert data["checkout_written"] is False
        assert str(kept.folder) in await ask(repository, "children", "--json")
        assert "is empty" not in await ask(repository, "gc")
        kept.process.send_signal(signal.SIGKILL)
        await kept.process.wait()
        kept.let_go()
        assert not os.listdir(kept.folder)
        done = await run_covey(repository, server=kept.server, requests=[AGAIN])
        assert done.status == 0, done
        kept.check_whole()


@pytest.mark.parametrize("told", [signal.SIGINT, None])
async def test_the_end_of_a_session_waits_for_it_unless_it_is_told_not_to(
    repository_of: RepositoryOf, told: signal.Signals | None
) -> None:
    repository = repository_of("python_package")
    async with session_that_keeps(repository) as kept:
        await kept.end_input()
        assert kept.process.stderr is not None
        said = b""
        with trio.fail_after(30):
            while b"Ctrl-C" not in said:
                said += await kept.process.stderr.receive_some()
        assert b"writing out the files of what is kept (sixty-" in said
        if told is not None:
            kept.process.send_signal(told)
        else:
            kept.let_go()
        with trio.fail_after(30):
            said += (await read_all(kept.process.stderr)).encode()
            assert await kept.process.wait() == 0
        if told is not None:
            assert b"what was done is safe" in said
            kept.let_go()
            assert "goes there\n" in await ask(repository, "review", "sixty", "--terminal")
        kept.check_whole()


async def test_a_child_that_is_told_to_go_on_does_so_in_a_folder_with_files(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    more = says("", call("task", child="{id}", prompt="Go on.")), says("It went on.")
    async with session_that_keeps(repository, *more) as kept:
        await wait_until(lambda: sum(_is_task(entry) for entry in journal_of(repository)) == 2)
        (child,) = json.loads(await ask(repository, "children", "--json"))
        assert (child["state"], child["steps"]) == ("kept", 2), "it waits for its folder"
        kept.let_go()
        await kept.end_input()
        with trio.fail_after(30):
            assert await kept.process.wait() == 0
        assert len([entry for entry in journal_of(repository) if isinstance(entry.event, ChildFinished)]) == 2
        kept.check_whole()


def _is_task(entry: object) -> bool:
    event, who = getattr(entry, "event", None), getattr(entry, "who", None)
    return who == PARENT and isinstance(event, ToolStarted) and event.name == "task"


async def test_a_run_that_a_signal_ends_says_in_its_receipt_that_the_folder_is_empty(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    words = ("-p", REQUEST, "--children", "--json", "--quiet")
    async with session_that_keeps(repository, words=words) as kept:
        kept.process.send_signal(signal.SIGINT)
        with trio.fail_after(30):
            (line,) = (await read_all(kept.process.stdout)).splitlines()
            assert await kept.process.wait() == 128 + signal.SIGINT
        (child,) = json.loads(line)["receipt"]["children"]
        assert (child["checkout"], child["checkout_written"]) == (str(kept.folder), False)
        assert not os.listdir(kept.folder)


async def test_the_receipt_of_a_run_names_a_folder_that_is_filled(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    (repository / "README.md").write_text("the person's\n")
    back = "git show HEAD~1:README.md > README.md; echo new > new.txt"
    async with serving(
        talk(REQUEST, says("", task("implement", "back", "Take it back.")), says("It is kept.")),
        talk("Take it back.", says("", shell(back)), says("done")),
    ) as server:
        words = ("-p", REQUEST, "--children", "--json", "--quiet")
        done = await run_covey(repository, *words, server=server, requests=())
    (child,) = json.loads(done.output)["receipt"]["children"]
    assert child["checkout_written"] is True
    assert (Path(child["checkout"]) / "new.txt").read_text() == "new\n"
    (finished,) = (e.event for e in journal_of(repository) if isinstance(e.event, ChildFinished))
    assert finished.unwritten, "it was told before"
