"""End to end. Children of the real program stay in their part, whichever tool they use, also when they go on later."""

import signal
import socket
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Landed
from orchestrator.config.tables import SandboxTable
from orchestrator.events import Noticed
from orchestrator.journal import Journal, read_entries
from orchestrator.parent.opening import tell_what_is_not_enforced
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, seen, shell
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
from tests.end_to_end.test_delegation import endings
from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.escapes.world import SECRET, fingerprint, make_victim_folder
from worker.confinement.confinement import Enforced


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key in it."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id").write_text(f"{SECRET}\n")
    monkeypatch.setenv("HOME", str(home))
    return home


async def wait_for(path: Path) -> None:
    with trio.fail_after(40):
        while not path.exists():  # noqa: ASYNC110
            await trio.sleep(0.01)


async def test_children_write_and_read_nothing_of_each_other_nor_of_the_person(
    repository_of: RepositoryOf, home: Path, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    outside = make_victim_folder(tmp_path / "outside")
    before, flag = fingerprint(outside), tmp_path / "keeper-is-at-work"
    (repository / "node_modules").mkdir()
    children = repository.with_name(f"{repository.name}-children")
    secret = f"find {children} {repository}/.git/covey -name kept.txt -exec cat {{}} + >> got.txt"
    dig = (
        f"until [ -e {flag} ]; do sleep 0.02; done; ln -s {outside} link; {secret}; cat ~/.ssh/id >> got.txt;"
        f" echo out > {outside}/file.txt; chmod 700 {outside}/file.txt; rm -rf {outside}/sub;"
        f" echo out > {repository}/README.md; echo built > node_modules/built.txt;"
        " cp node_modules/built.txt cache.txt; touch got.txt"
    )
    async with (
        serving(
            talk(
                REQUEST,
                says(
                    "",
                    task("implement", "keeper", "Keep it to yourself."),
                    task("implement", "digger", "Dig."),
                    task("research", "reader", "Read."),
                ),
                says("done"),
            ),
            talk(
                "Keep it to yourself.",
                says("", shell(f"echo {SECRET} > kept.txt; {AT_WORK}; rm kept.txt")),
                says("kept"),
            ),
            talk(
                "Dig.",
                says("", shell(dig)),
                says(
                    "",
                    call("write", path=str(outside / "new.txt"), content="out\n"),
                    call("write", path="link/file.txt", content="out\n"),
                    call("edit", path="link/file.txt", old="safe", new="out"),
                ),
                says("dug"),
            ),
            talk("Read.", says("", call("read", path=str(home / ".ssh/id"))), says("read")),
        ) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        await process.stdin.aclose()
        async with at_work(repository) as checkout:
            assert (checkout / "kept.txt").read_text() == f"{SECRET}\n"
            flag.touch()
            await wait_for(repository / "got.txt")
        await read_all(process.stdout)
        assert await process.wait() == 0
    assert (repository / "got.txt").read_text() == ""
    assert fingerprint(outside) == before
    assert (repository / "cache.txt").read_text() == "built\n", "a cache is there to be written"
    assert "out" not in (repository / "README.md").read_text().split()
    told = [entry for entry in journal_of(repository) if entry.who.startswith("reader")]
    assert told
    assert SECRET not in str(told)


@pytest.mark.keeps_checkouts
async def test_a_child_that_goes_on_later_is_held_back_as_before(
    repository_of: RepositoryOf, home: Path, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    outside = make_victim_folder(tmp_path / "outside")
    before = fingerprint(outside)
    first = talk(
        "Begin.", says("", call("write", path="half.txt", content="half\n")), says("", shell(AT_WORK))
    )
    async with (
        serving(talk(REQUEST, says("", task("implement", "goes-on", "Begin."))), first) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        with trio.fail_after(30):
            while not any((folder / "go").exists() for folder in seen(repository)):  # noqa: ASYNC110
                await trio.sleep(0.01)
        process.send_signal(signal.SIGINT)
        await read_all(process.stdout)
        await process.wait()
    (checkout,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (checkout / "half.txt").read_text() == "half\n"
    tries = f"rm -f go; cat ~/.ssh/id > got.txt; echo out > {outside}/file.txt; chmod 700 {outside}/file.txt; true"
    async with serving(
        talk("Now go on.", says("", call("task", child=checkout.name, prompt="Go on.")), says("all done")),
        # Its conversation begins as before: two replies are said already, the third follows what was told now.
        talk("Begin.", says(""), says(""), says("", shell(tries)), says("went on")),
    ) as server:
        done = await run_covey(repository, requests=["Now go on."], server=server)
    assert done.status == 0, done
    assert (repository / "half.txt").read_text() == "half\n"
    assert (repository / "got.txt").read_text() == ""
    assert fingerprint(outside) == before


async def test_a_network_that_is_denied_to_children_is_the_parents_all_the_same(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text('[sandbox]\nnetwork = "deny"\n')
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        async with serving(
            talk(REQUEST, says("", task("implement", "caller", "Call out.")), says("done")),
            talk(
                "Call out.",
                says("", shell(f"(echo out > /dev/tcp/127.0.0.1/{port}) && echo > reached.txt; true")),
                says("called"),
            ),
        ) as server:
            done = await run_covey(repository, server=server)
        assert done.status == 0, done
        assert not isinstance(endings(repository)["caller"].landing, Landed), "it made no file"
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_a_workspace_cant_open_what_the_person_has_not(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    (repository / ".covey").mkdir()
    for line, word in (
        ("enabled = false", "enabled"),
        ('writable = ["/"]', "writable"),
        ('readable = ["~"]', "readable"),
    ):
        (repository / ".covey/config.toml").write_text(f"[sandbox]\n{line}\n")
        async with serving(talk(REQUEST, says("never said"))) as server:
            done = await run_covey(repository, server=server)
        assert done.status == 1
        assert f"sandbox.{word}" in done.errors
        assert "config.toml, line 2" in done.errors


async def test_a_session_says_once_when_its_children_are_held_to_nothing(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, says("hello"))) as server:
        off = {"COVEY_SANDBOX_ENABLED": "false"}
        done = await run_covey(repository, requests=[REQUEST, REQUEST], server=server, environment=off)
        assert done.output.count("not held back") == 1
    (repository / ".covey").rename(repository / "elsewhere")
    async with serving(talk(REQUEST, says("hello"))) as server:
        assert "held back" not in (await run_covey(repository, server=server)).output


class OldSystem:
    """A spawner on a system that has nothing to hold a child with."""

    async def spawn(self, *_: object) -> object:
        raise OSError("no worker is wanted")

    async def enforced(self) -> Enforced:
        return Enforced()


async def test_what_a_system_cant_enforce_is_in_the_journal_of_the_session(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    await tell_what_is_not_enforced(OldSystem(), SandboxTable(), journal)  # pyright: ignore[reportArgumentType]
    journal.close()
    (entry,) = read_entries(journal.path)
    assert isinstance(entry.event, Noticed)
    assert "without Landlock" in entry.event.text
