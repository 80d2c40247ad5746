"""End to end. What one session may use: children at once, tokens, time, money; and the agent files it finds."""

from pathlib import Path

import msgspec
import pytest

from merge.landings.landing import Held
from orchestrator.events import (
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Noticed,
    Replied,
    TurnFinished,
)
from orchestrator.scripted.scenario import Conversation, Reply, Usage
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from worker.model import OutOfBudget
from worker.protocol import ModelGaveUp, ToolFinished


def configure(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text)


def costing(reply: Reply, tokens: int) -> Reply:
    """The same reply, said to have used so many tokens."""
    return msgspec.structs.replace(reply, usage=Usage(input_tokens=tokens - 1, output_tokens=1))


async def test_a_fan_out_over_the_limit_is_queued_and_every_edit_lands(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    configure(covey_home, "[children]\nmax = 2\n")
    names = [f"part-{n}" for n in range(6)]
    async with serving(
        talk(
            REQUEST,
            says("", *(task("implement", name, f"Write {name}.") for name in names)),
            says("all done"),
        ),
        *(
            talk(f"Write {name}.", says("", call("write", path=f"{name}.txt", content="x\n")), says("ok"))
            for name in names
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    entries = journal_of(repository)
    assert sum(isinstance(entry.event, ChildQueued) for entry in entries) == 4
    asked = [entry.who for entry in entries if isinstance(entry.event, ChildStarted)]
    assert [child.rsplit("-", 1)[0] for child in asked] == names
    began = [entry.who for entry in entries if isinstance(entry.event, ChildWorking)]
    assert sorted(began[:2]) == sorted(asked[:2]), "the first two of the calls are the first two at work"
    assert all((repository / f"{name}.txt").exists() for name in names)
    assert "queued, waiting: 2 at work, 0 ahead of it" in done.output


def spending(*, child_tokens: int) -> list[Conversation]:
    """A parent whose two children use so many tokens a call; the one that writes would go on for long."""
    pages = [costing(says("", call("read", path=f"page-{n}")), child_tokens) for n in range(50)]
    return [
        talk(
            REQUEST,
            costing(
                says("", task("research", "first", "Read a."), task("implement", "second", "Read b.")), 100
            ),
            says("never said"),
        ),
        talk("Read a.", *pages[:4], costing(says("read it"), child_tokens)),
        talk(
            "Read b.",
            costing(says("", call("write", path="half.txt", content="half\n")), child_tokens),
            *pages,
        ),
    ]


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize(
    ("words", "configuration"),
    [
        (("--max-tokens", "5000"), ""),
        ((), "[budget]\ntokens = 5000\n"),
        (("--max-tokens", "5000"), "[budget]\ntokens = 9000000\n"),
        (
            ("--max-cost", "0.05"),
            '[prices."scripted"]\ninput = 10.0\noutput = 10.0\n',
        ),
    ],
    ids=["flag", "configuration", "flag before configuration", "money"],
)
async def test_a_budget_is_one_pool_for_the_parent_and_its_children(
    repository_of: RepositoryOf, covey_home: Path, words: tuple[str, ...], configuration: str
) -> None:
    repository = repository_of("python_package")
    configure(covey_home, configuration)
    async with serving(*spending(child_tokens=500)) as server:
        done = await run_covey(repository, *words, server=server)
    assert done.status == 1
    assert "The turn ended early. The session's budget is spent" in done.output
    entries = [entry.event for entry in journal_of(repository)]
    ends = [event for event in entries if isinstance(event, ChildFinished)]
    (writer,) = (end for end in ends if isinstance(end.landing, Held))
    (turn,) = (event for event in entries if isinstance(event, TurnFinished))
    for ending in (writer.ending, turn.ending):
        assert isinstance(ending, ModelGaveUp)
        assert isinstance(ending.failure, OutOfBudget)
    spent = [event.reply.usage.total_tokens for event in entries if isinstance(event, Replied)]
    assert 5_000 <= sum(spent) < 5_000 + 500, "one call over it at most, whoever makes the calls"
    assert sum(end.usage.total_tokens for end in ends) == sum(spent) - 100
    assert f"{sum(spent):,} tokens (parent 100, children {sum(spent) - 100:,})" in done.output
    assert isinstance(writer.landing, Held)
    assert "budget was spent" in writer.landing.reason
    assert (Path(writer.landing.checkout) / "half.txt").read_text() == "half\n"
    assert not (repository / "half.txt").exists()


async def test_a_later_request_of_a_spent_session_makes_no_call(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, costing(says("first answer"), 100), repeated())) as server:
        done = await run_covey(
            repository, "--max-tokens", "50", requests=(REQUEST, "and more"), server=server
        )
        assert len(server.requests) == 1
    assert done.status == 1
    assert "first answer" in done.output
    assert "The session's budget is spent (100 of 50 tokens)" in done.output


def repeated() -> Reply:
    return Reply(text="never said", repeat=True)


async def test_when_the_time_is_over_the_call_under_way_ends_and_no_other_begins(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    slow = says("", call("read", path="README.md"), delay_ms=300)
    async with serving(talk(REQUEST, slow, repeated())) as server:
        done = await run_covey(repository, "--max-secs", "0.1", server=server)
        assert len(server.requests) == 1
    assert done.status == 1
    assert "of 0.1 seconds" in done.output


@pytest.mark.parametrize(
    ("words", "says_"),
    [
        (("--max-tokens", "0"), "'0' is no limit; give a number above 0"),
        (("--max-tokens", "1.5"), "'1.5' is no limit; give a whole number"),
        (("--max-secs", "soon"), "'soon' is no limit"),
        (("--max-cost", "nan"), "'nan' is no limit"),
        (("--max-cost", "5"), "what scripted costs is not known; write its price"),
    ],
)
async def test_a_limit_that_cant_be_kept_is_refused_before_anything_is_asked(
    repository_of: RepositoryOf, words: tuple[str, ...], says_: str
) -> None:
    async with serving() as server:
        done = await run_covey(repository_of("python_package"), *words, server=server)
        assert not server.requests
    assert done.status == 1
    assert says_ in done.errors
    assert "Traceback" not in done.errors


REVIEWER = """\
---
name: reviewer
description: Use it after code was written.
tools: Read, Grep
model: opus
---
Be strict about money.
"""


async def delegate_to_reviewer(repository: Path) -> tuple[ScriptedServer, str]:
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("research", "review", "Look at the money.", agent="reviewer"),
                task("research", "plain", "Just look."),
                task("research", "nobody", "Never started.", agent="nobody"),
            ),
            says("reviewed"),
        ),
        talk(
            "Look at the money.",
            says("", call("task", kind="research", prompt="you do it")),
            says("strictly ok"),
        ),
        talk("Just look.", says("ok")),
    ) as server:
        done = await run_covey(repository, server=server)
        assert done.status == 0, done
        return server, done.output


async def test_an_agent_file_is_offered_given_and_named(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    folder = repository / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text(REVIEWER)
    (folder / "broken.md").write_text("---\nname: broken\ndescription: 'open\n---\nx\n")
    server, output = await delegate_to_reviewer(repository)
    bodies = [msgspec.json.decode(request.body, type=dict[str, msgspec.Raw]) for request in server.requests]
    assert len({bytes(body["tools"]) for body in bodies}) == 1, (
        "the parent and every child send the same list"
    )
    assert b"- reviewer: Use it after code was written." in bytes(bodies[0]["tools"])
    (first,) = [
        request.body.decode()
        for request in server.requests
        if b"Be strict about money." in request.body and b"you do it" not in request.body
    ]
    assert (
        first.index("You read the workspace") < first.index("Be strict") < first.index("Look at the money.")
    )

    entries = journal_of(repository)
    refused = {
        entry.event.name: entry.event.text for entry in entries if isinstance(entry.event, ToolFinished)
    }
    assert "There is no agent 'nobody'. The agents are: reviewer." in refused["task"] + output + str(entries)
    assert any(isinstance(entry.event, ChildStarted) and entry.event.agent == "reviewer" for entry in entries)
    (notice,) = [entry.event.text for entry in entries if isinstance(entry.event, Noticed)]
    assert notice.endswith(
        "broken.md, line 3: the quote ' that opens here is not closed; this agent is left out."
    )
    assert output.count("broken.md, line 3") == 1
    assert "(research, agent reviewer)" in output


async def test_agents_of_the_person_are_offered_where_the_workspace_has_none(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    (covey_home / "agents").mkdir(parents=True)
    (covey_home / "agents" / "reviewer.md").write_text(REVIEWER)
    server, _ = await delegate_to_reviewer(repository_of("python_package"))
    assert b"- reviewer: Use it after" in server.requests[0].body
