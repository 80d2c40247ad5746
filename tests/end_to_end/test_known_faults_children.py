"""End to end. Ways in which children were orphaned, forgotten or told of twice elsewhere, and that must not be here."""

from contextlib import ExitStack
from pathlib import Path

import pytest
import trio
import trio.testing

from merge.files.lock import landing_lock
from merge.landings.landing import Held, Landed
from merge.store.repository import find_repository
from orchestrator.events import ChildFinished, Died, Replied, Stopped, TurnFinished
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import Journal
from orchestrator.parent.opening import open_session
from orchestrator.scripted.scenario import Hang, Reply, Status
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, shell
from tests.end_to_end.covey import REQUEST, breaks, call, journal_of, run_covey, says, serving, talk, task
from tests.end_to_end.test_delegation import endings
from tests.orchestrator.children import test_child, test_children
from worker.model import ContextOverflow
from worker.pipe.frames import encode_frame
from worker.protocol import Answered, ChildId, ModelGaveUp, ToolFinished


def asked_by_the_parent(server: ScriptedServer) -> list[str]:
    """The parent's requests, each with the whole conversation until then."""
    return [body for request in server.requests if REQUEST in (body := request.body.decode())]


def turn_endings(repository: Path) -> list[str]:
    events = [entry.event for entry in journal_of(repository)]
    return [type(event.ending).__name__ for event in events if isinstance(event, TurnFinished)]


# Told exactly once


async def test_children_in_the_background_that_end_at_the_same_moment_are_each_told_once(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    names = [f"scout {letter}" for letter in "abcdefgh"]
    async with serving(
        talk(
            REQUEST,
            says("", *(task("research", name, f"Go, {name}.", background=True) for name in names)),
            Reply(text="I wait.", repeat=True),
        ),
        *(talk(f"Go, {name}.", says(f"word of {name}", delay_ms=400)) for name in names),
    ) as server:
        done = await run_covey(repository, server=server)
        last = asked_by_the_parent(server)[-1]
    assert done.status == 0, done
    assert {name: last.count(f"word of {name}") for name in names} == dict.fromkeys(names, 1)
    assert turn_endings(repository) == ["Answered"]


async def test_a_child_that_ended_while_the_model_said_its_last_word_is_told_in_the_same_turn(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("research", "quick", "Be quick.", background=True)),
            says("I have nothing else to do.", delay_ms=900),
            says("Now I know."),
        ),
        talk("Be quick.", says("the quick one's word")),
    ) as server:
        done = await run_covey(repository, server=server)
        asked = asked_by_the_parent(server)
    assert "Now I know." in done.output
    assert [body.count("the quick one's word") for body in asked] == [0, 0, 1]


async def test_a_report_that_was_asked_for_is_not_told_again(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("research", "quick", "Be quick.", background=True)),
            says("", call("task", child="{id}", wait_secs=30)),
            says("I have read it."),
            id=r"started child (\S+) ",
        ),
        talk("Be quick.", says("the quick one's word")),
    ) as server:
        done = await run_covey(repository, server=server)
        asked = asked_by_the_parent(server)
    assert done.status == 0, done
    assert [body.count("the quick one's word") for body in asked] == [0, 0, 1]


@pytest.mark.parametrize("background", [True, False])
async def test_what_a_research_child_found_before_esc_is_read_in_the_next_turn(
    repository_of: RepositoryOf, background: bool
) -> None:
    place = find_repository(repository_of("python_package"))
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("research", "quick", "Be quick.", background=background),
                task("research", "slow", "Be slow.", background=background),
            ),
            *([breaks(Hang())] if background else []),
            says("I have read it."),
        ),
        talk("Be quick.", says("the quick one's word")),
        talk("Be slow.", breaks(Hang())),
    ) as server:
        with trio.fail_after(30):
            async with (
                open_session(place, Endpoint("openai", server.url, "scripted")) as session,
                trio.open_nursery() as nursery,
            ):
                nursery.start_soon(session.run_turn, REQUEST)
                await _until(session.journal, ChildFinished)
                session.interrupt()
                await _until(session.journal, TurnFinished)
                finished = await session.run_turn("And now?")
        last = asked_by_the_parent(server)[-1]
    assert finished.ending == Answered("I have read it.")
    assert last.count("the quick one's word") == 1
    assert last.count("stopped by the person") == 1
    assert last.index("the quick one's word") < last.index("And now?") or background


async def _until(journal: Journal, kind: type[ChildFinished] | type[TurnFinished] | type[Replied]) -> None:
    with trio.CancelScope() as scope:
        async for entry in journal.follow():
            if isinstance(entry.event, kind):
                scope.cancel()


# One among others


async def test_a_child_that_fails_takes_no_sibling_along(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    refusal = breaks(Status(401, body='{"error": {"message": "no"}}'))
    kills_its_worker = shell("kill -9 $(awk '/^PPid/ {print $2}' /proc/$PPID/status)")
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("implement", "good", "Be good."),
                task("implement", "refused", "Be refused."),
                task("implement", "dead", "Die.", background=True),
            ),
            Reply(text="I see.", repeat=True),
        ),
        talk("Be good.", says("", call("write", path="new.txt", content="x\n"), delay_ms=600), says("done")),
        talk("Be refused.", refusal),
        talk("Die.", says("", kills_its_worker)),
    ) as server:
        done = await run_covey(repository, server=server)
        last = asked_by_the_parent(server)[-1]
    assert done.status == 0, done
    ended = endings(repository)
    assert isinstance(ended["good"].landing, Landed)
    assert isinstance(ended["refused"].ending, ModelGaveUp)
    assert isinstance(ended["dead"].ending, Died)
    assert "SIGKILL" in ended["dead"].ending.detail
    assert last.count("died: signal 9 (SIGKILL)") == 1
    assert turn_endings(repository) == ["Answered"]


@pytest.mark.keeps_checkouts
async def test_what_a_child_did_before_its_conversation_grew_too_long_is_kept_and_told(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    full = '{"error": {"code": "context_length_exceeded", "message": "maximum context length is 8 tokens"}}'
    async with serving(
        talk(REQUEST, says("", task("implement", "full", "Grow.")), says("I see.")),
        talk(
            "Grow.",
            says("half of it is done", call("write", path="half.txt", content="half\n")),
            Reply(fault=Status(400, body=full), repeat=True),
        ),
    ) as server:
        await run_covey(repository, server=server)
        last = asked_by_the_parent(server)[-1]
    full_child = endings(repository)["full"]
    assert isinstance(full_child.ending, ModelGaveUp)
    assert isinstance(full_child.ending.failure, ContextOverflow)
    assert isinstance(full_child.landing, Held)
    assert (Path(full_child.landing.checkout) / "half.txt").read_text() == "half\n"
    assert "half of it is done" in last
    assert full_child.landing.checkout in last


async def test_a_child_that_prints_a_hundred_megabytes_goes_on(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(REQUEST, says("", task("implement", "loud", "Be loud.")), says("done")),
        talk(
            "Be loud.",
            says("", shell("head -c 100000000 /dev/zero | tr '\\0' x; echo x > new.txt")),
            says("I was loud."),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert isinstance(endings(repository)["loud"].landing, Landed)
    (path,) = (repository / ".covey/sessions").glob("*/journal.jsonl")
    assert path.stat().st_size < 1_000_000


# Stopped means stopped


@pytest.mark.keeps_checkouts
async def test_nothing_writes_into_a_checkout_once_the_model_reads_that_its_child_was_killed(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    writer = "echo $BASHPID >> pids; while :; do echo tick >> ticks; sleep 0.01; done"
    aside = f"setsid bash -c '{writer}'"
    # What it writes while it works may be seen by its own processes alone.
    it_writes = "for each in /proc/[0-9]*/cwd; do [ $(wc -l < $each/pids) -ge 3 ] && exit; done 2>/dev/null"
    # It is kept, and its folder is filled in the background.
    here = f"../{repository.name}-children/*"
    look = (
        f"until [ -e {here}/ticks ]; do sleep 0.02; done; cd {here};"
        " for pid in $(cat pids); do grep -qs 'State:.[^ZX]' /proc/$pid/status && echo alive $pid; done;"
        " before=$(wc -c < ticks); sleep 0.2; echo grew by $(($(wc -c < ticks) - before))"
    )
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "writer", "Write on.", background=True)),
            says("", shell(f"while :; do {it_writes}; sleep 0.02; done")),
            says("", call("task", child="{id}", kill=True)),
            says("", shell(look)),
            says("It is dead."),
            id=r"started child (\S+) ",
        ),
        talk(
            "Write on.",
            says("", shell(f"trap '' TERM HUP; touch pids; ({writer}) & {aside} & nohup bash -c '{writer}'")),
        ),
    ) as server:
        await run_covey(repository, server=server)
    commands = [
        entry.event.text
        for entry in journal_of(repository)
        if not entry.who and isinstance(entry.event, ToolFinished) and entry.event.name == "run_command"
    ]
    assert commands[-1].strip() == "grew by 0"
    assert isinstance(endings(repository)["writer"].ending, Stopped)


async def test_a_child_that_is_killed_while_it_lands_has_landed_whole(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    writes = talk("Write", says("", shell(f"{AT_WORK}; echo x > new.txt")), says("written"))
    async with test_children.bench(repository, writes) as it:
        answers: list[str] = []

        async def kill(child: ChildId) -> None:
            answers.append((await it.kill(child)).text)

        async with trio.open_nursery() as nursery:
            with ExitStack() as held:
                child = await it.start("Write it.", "implement")
                async with at_work(repository):
                    held.enter_context(landing_lock(it.grounds.repository))
                while it.row(child).state != "landing":  # noqa: ASYNC110
                    await trio.sleep(0.01)
                nursery.start_soon(kill, child)
                await trio.testing.wait_all_tasks_blocked(0.05)
                assert answers == []
        (answer,) = answers
        assert "landed 1 file: new.txt" in answer
        assert it.row(child).state == "landed"
        assert it.children.take() == [], "the answer to the kill was the report"
    assert (repository / "new.txt").read_text() == "x\n"


async def test_a_worker_that_reads_no_more_is_ended_when_it_is_stopped(repository_of: RepositoryOf) -> None:
    asks = encode_frame({"type": "ModelAsked", "ask": 1, "kept": 1, "messages": []})
    deaf = test_child.sends(
        test_child.READY, f"sys.stdin.buffer.read(1); os.write(1, {asks!r}); time.sleep(300)"
    )
    async with (
        test_child.bench(repository_of("python_package"), says("long " * 200_000), worker=deaf) as it,
        trio.open_nursery() as nursery,
    ):

        async def stop() -> None:
            await _until(it.grounds.journal, Replied)
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert await it.child.steer("Are you there?"), "nobody is held up by it"
            it.child.stop("the model")

        nursery.start_soon(stop)
        finished = await it.live()
        assert finished.ending == Stopped("the model")
        assert it.state() == "ended"


async def test_a_worker_that_floods_its_standard_error_is_heard_to_its_last_words(
    repository_of: RepositoryOf,
) -> None:
    flood = (
        "[os.write(2, b'x' * 65536) for _ in range(1600)]; os.write(2, b'\\nthe last words\\n'); os._exit(3)"
    )
    async with test_child.bench(
        repository_of("python_package"), worker=test_child.sends(test_child.READY, flood)
    ) as it:
        finished = await it.live()
        assert isinstance(finished.ending, Died)
        assert finished.ending.detail == "exit status 3"
        assert finished.ending.last_words.endswith("the last words")
        assert len(finished.ending.last_words) <= 4096
