"""Real processes. Ways in which a worker that went wrong held its parent up elsewhere, and that must not be here."""

import os
import shutil
import signal

import pytest
import trio

from merge.landings.landing import Held
from orchestrator.children import dialogue, spawning
from orchestrator.children.spawning import WarmSpawner, can_fork_warm
from orchestrator.events import ChildFinished, Died, Stopped
from orchestrator.scripted.scenario import Hang, Status
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, shell
from tests.end_to_end.covey import breaks, says, talk
from tests.end_to_end.test_delegation import children_of, read_tree
from tests.orchestrator.children import test_child, test_children, test_spawning
from worker.protocol import Answered, ModelGaveUp, Ready
from worker.tools.task import TaskArguments


async def test_a_worker_that_never_says_a_word_is_given_up(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogue, "READY_SECONDS", 0.2)
    async with test_child.bench(
        repository_of("python_package"), worker=test_child.python("import time; time.sleep(60)")
    ) as it:
        finished = await it.live()
        assert isinstance(finished.ending, Died)
        assert finished.ending.detail == "it did not begin within 0.2 s"
        assert it.state() == "ended"


async def test_a_worker_that_closes_its_pipe_and_stays_is_ended(repository_of: RepositoryOf) -> None:
    stays = test_child.sends(test_child.READY, "os.close(1); time.sleep(60)")
    async with test_child.bench(repository_of("python_package"), worker=stays) as it:
        finished = await it.live()
        assert isinstance(finished.ending, Died)
        assert finished.ending.detail == "it ended its pipe and not itself"
        assert it.state() == "ended"


@pytest.mark.skipif(not can_fork_warm(), reason="a fork server needs Linux")
async def test_a_fork_server_that_stands_still_holds_up_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        first = await spawner.spawn(test_spawning.ENVIRONMENT)
        async with test_spawning.owned(first) as wire:
            assert isinstance(await wire.receive(), Ready)
            os.kill(test_spawning.server_of(first.pid), signal.SIGSTOP)
            monkeypatch.setattr(spawning, "PATIENCE_SECONDS", 0.2)
            second = await spawner.spawn(test_spawning.ENVIRONMENT)
            monkeypatch.undo()
            async with test_spawning.owned(second) as another:
                assert await another.receive() == Ready(second.pid)
            third = await spawner.spawn(test_spawning.ENVIRONMENT)
            async with test_spawning.owned(third) as another:
                assert await another.receive() == Ready(third.pid)
            assert spawner.way == "forked", "by another server"
        nursery.cancel_scope.cancel()


async def test_however_a_child_ends_its_slot_is_the_next_ones(repository_of: RepositoryOf) -> None:
    kills_its_worker = shell("kill -9 $(awk '/^PPid/ {print $2}' /proc/$PPID/status)")
    talks = (
        talk("Answer", says("done")),
        talk("Hang", breaks(Hang())),
        talk("Die", says("", kills_its_worker)),
        talk("Be refused", breaks(Status(401, body='{"error": {"message": "no"}}'))),
    )
    kinds: list[type] = []
    async with test_children.bench(repository_of("python_package"), *talks, limit=1) as it:
        for word in ("Die", "Be refused", "Hang", "Answer"):
            child = await it.start(f"{word}.", "implement")
            if word == "Hang":
                await it.kill(child)
            await it.until(child, ChildFinished)
            (finished,) = (fact for fact in it.facts(child) if isinstance(fact, ChildFinished))
            kinds.append(type(finished.ending))
        listed = (await it.task(TaskArguments())).text
    assert kinds == [Died, ModelGaveUp, Stopped, Answered]
    assert listed.startswith("running 0 of 1, queued 0, ended 4\n")


async def test_a_child_whose_checkout_somebody_removes_works_nowhere_else(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    before = read_tree(repository)
    replies = (
        says("", shell(f"{AT_WORK}; true")),
        says("", shell("echo lost > lost.txt; pwd")),
        says("done"),
    )
    async with test_child.bench(repository, *replies) as it, trio.open_nursery() as nursery:
        landings: list[object] = []

        async def live() -> None:
            landings.append((await it.live()).landing)

        nursery.start_soon(live)
        with trio.fail_after(30):
            while not (found := list(children_of(repository).glob("*/go"))):  # noqa: ASYNC110
                await trio.sleep(0.01)
            (pipe,) = found
            go = os.open(pipe, os.O_RDWR)
            shutil.rmtree(pipe.parent)
            os.write(go, b"on\n")
            await it.child.ended.wait()
        os.close(go)
    (landing,) = landings
    assert isinstance(landing, Held)
    assert "is gone, so what the child did can't be told; nothing lands" in landing.reason
    assert read_tree(repository) == before
    assert not list(repository.parent.rglob("lost.txt"))
    children_of(repository).rmdir()
