"""End to end. Conversations that outgrow their model: a session and a child go on, and nothing is told twice."""

import re
from pathlib import Path

from msgspec.structs import replace

from orchestrator.events import ChildFinished, Compacted, Noticed
from orchestrator.scripted.scenario import Conversation, Reply, Status, Usage
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, breaks, call, journal_of, run_covey, says, serving, talk, task
from worker.protocol import Answered

FULL = breaks(Status(400, body='{"error": {"code": "context_length_exceeded", "message": "too long"}}'))

READ = call("read", path="README.md")


def summarised(
    marker: str, number_before: int, *after: Reply, summary: str = "SUMMARY"
) -> list[Conversation]:
    """What the model says when it is asked for a summary, and once it has one; `after` comes after one exchange."""
    waits = tuple(says("-") for _ in range(number_before))
    return [
        Conversation(marker, (*waits, says(summary)), told="is about to be made shorter"),
        Conversation(marker, (says("-"), *after), told=summary),
    ]


def prefixes(server: ScriptedServer) -> set[bytes]:
    return {request.body.partition(b'{"role":"user"')[0] for request in server.requests}


async def test_a_session_near_the_limit_goes_on_with_a_summary_and_is_resumed_with_it(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[endpoint]\ncontext_tokens = 100_000\n")
    after = says("All done."), says("Here I am again.")
    script = [
        *summarised(REQUEST, 2, *after),
        talk(
            REQUEST,
            says("", task("research", "reader", "Read the file.")),
            Reply(calls=(READ,), usage=Usage(90_000, 10)),
        ),
        talk("Read the file.", says("It says tally. " * 200)),
    ]
    async with serving(*script) as server:
        done = await run_covey(repository, server=server)
        assert done.status == 0, done
        assert "conversation made shorter: about " in done.output
        compacted = server.requests[-1].body.decode()
        assert len(prefixes(server)) == 1
        server.requests.clear()
        done = await run_covey(repository, "resume", server=server, requests=["go on"])
        assert done.status == 0, done
        resumed = server.requests[-1].body.decode()
    (child,) = {entry.who for entry in journal_of(repository) if entry.who}
    told = f"child {child} (research) finished after"
    for body in (compacted, resumed):
        assert body.count(REQUEST) == 1
        assert body.count("SUMMARY") == 1
        assert f"child {child} (research) finished: reader" in body, "the roster"
        assert "- README.md" in body, "the files in play"
        assert told not in body, "its report was read before, and is not told again"
        assert len(re.findall(r"\d:[0-9a-z]+\|# tally", body)) == 1, "what was not read yet is kept as it was"
    assert resumed.count("go on") == 1
    assert resumed.count("All done.") == 1


async def test_a_child_at_work_is_not_lost_sight_of_and_its_end_is_told_once(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[endpoint]\ncontext_tokens = 100_000\n")
    summary, after = summarised(
        REQUEST, 2, says("", call("task", child="{id}", wait_secs=20)), says("I have its report.")
    )
    after = replace(after, captures={"id": r"child (watcher-\w+) \(research\) running: watcher"})
    script = [
        summary,
        after,
        talk(
            REQUEST,
            says("I think. " * 500, task("research", "watcher", "Watch the file.", background=True)),
            Reply(calls=(READ,), usage=Usage(90_000, 10)),
        ),
        talk("Watch the file.", says("Nothing moved.", delay_ms=1_500)),
    ]
    async with serving(*script) as server:
        done = await run_covey(repository, server=server)
        assert done.status == 0, done
        last = server.requests[-1].body.decode()
    assert "I have its report." in done.output
    (child,) = {entry.who for entry in journal_of(repository) if entry.who}
    assert len(re.findall(rf"child {child} \(research\) finished after", last)) == 1
    assert last.count("Nothing moved.") == 1


async def test_a_child_that_overflows_goes_on_and_all_of_its_work_lands(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    written = [call("write", path=f"new-{number}.txt", content="a line\n" * 500) for number in range(3)]
    script = [
        *summarised("Write the files.", 2, says("", written[2]), says("All three are written.")),
        talk(REQUEST, says("", task("implement", "writer", "Write the files.")), says("Done.")),
        talk("Write the files.", says("", written[0]), says("", written[1]), FULL),
    ]
    async with serving(*script) as server:
        done = await run_covey(repository, server=server)
        assert done.status == 0, done
        assert len(prefixes(server)) == 1
    assert all((repository / f"new-{number}.txt").exists() for number in range(3))
    entries = journal_of(repository)
    (finished,) = (entry.event for entry in entries if isinstance(entry.event, ChildFinished))
    (fact,) = (entry.event for entry in entries if isinstance(entry.event, Compacted))
    assert finished.ending == Answered("All three are written.")
    assert finished.usage.total_tokens > fact.usage.total_tokens > 0


async def test_a_child_that_can_not_be_made_to_fit_keeps_what_it_did(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    always = Reply(fault=FULL.fault, repeat=True)
    script = [
        talk(REQUEST, says("", task("implement", "writer", "Write the files.")), says("Done.")),
        talk("Write the files.", says("", call("write", path="new.txt", content="x\n")), always),
    ]
    async with serving(*script) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    (kept,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (kept / "new.txt").read_text() == "x\n"
    assert "The conversation is too long for the model" in done.output
    for each in sorted(kept.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() and not each.is_symlink() else each.unlink()
    kept.rmdir()
    kept.parent.rmdir()


async def test_slash_compact_makes_the_conversation_shorter_or_says_why_not(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    big = call("read", path="big.txt")
    (repository / "big.txt").write_text("a long line of words\n" * 200)
    script = [
        *summarised(REQUEST, 3, says("I know.")),
        talk(REQUEST, says("", big), says("", READ), says("It is long.")),
    ]
    async with serving(*script) as server:
        done = await run_covey(
            repository, server=server, requests=["/compact", REQUEST, "/compact", "what do you know?"]
        )
        assert done.status == 0, done
        last = server.requests[-1].body.decode()
    assert "is as it was: there is nothing before its last exchange." in done.output
    assert "conversation made shorter: about " in done.output
    assert "I know." in done.output
    assert "a long line of words" not in last
    assert last.count("SUMMARY") == last.count(REQUEST) == last.count("It is long.") == 1


async def test_a_summary_that_fails_leaves_the_conversation_as_it_was(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    refused = breaks(Status(400, body='{"error": {"message": "not today"}}'))
    script = talk(REQUEST, says("", READ), says("", READ), says("Read."), refused, says("And on."))
    async with serving(script) as server:
        done = await run_covey(repository, server=server, requests=[REQUEST, "/compact", "go on"])
        assert done.status == 0, done
        before, _, after = (request.body for request in server.requests[-3:])
    assert after.startswith(before.rpartition(b"]}")[0]), "nothing of it is missing"
    (notice,) = (entry.event for entry in journal_of(repository) if isinstance(entry.event, Noticed))
    assert "not today" in notice.text
