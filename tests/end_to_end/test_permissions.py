"""End to end. The policy in a whole session: who is asked, what an answer does, and what happens with nobody there."""

import os
from pathlib import Path

import trio

from orchestrator.events import PermissionAnswered, PermissionAsked
from orchestrator.journal import PARENT
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import COVEY, REQUEST, call, journal_of, run_covey, says, serving, talk, task
from tests.end_to_end.tmux import Terminal, open_terminal
from tests.programs import require_program
from worker.protocol import ToolFinished

PROMPT = r"› *\s*\Z"


def write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def answers(repository: Path) -> list[str]:
    return [
        entry.event.answer for entry in journal_of(repository) if isinstance(entry.event, PermissionAnswered)
    ]


def results(repository: Path) -> list[str]:
    return [entry.event.text for entry in journal_of(repository) if isinstance(entry.event, ToolFinished)]


async def test_with_nobody_there_what_would_be_asked_is_refused_for_parent_and_child(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    write_file(covey_home / "config.toml", 'permissions = "ask"\n')
    write_file(covey_home / "policy.toml", '[[allow]]\ncommand = "echo"\n')
    write_file(repository / ".covey" / "policy.toml", '[[deny]]\npath = "README.md"\nreason = "Leave it."\n')
    async with serving(
        talk(
            REQUEST,
            says("", call("run_command", command="echo one"), call("run_command", command="touch a")),
            says("", task("implement", "try it", "Write b.")),
            says("done"),
        ),
        talk(
            "Write b.",
            says("", call("write", path="b", content="x\n"), call("read", path="README.md")),
            says("could not"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    one, touch, write, read, _ = results(repository)
    assert one == "one"
    assert touch.startswith("[command rejected: the policy asks a person first, and nobody is there")
    assert write.startswith("[edit rejected: the policy asks a person first")
    assert "Leave it." in read
    assert answers(repository) == ["nobody there", "nobody there"]
    asked = [entry for entry in journal_of(repository) if isinstance(entry.event, PermissionAsked)]
    assert [entry.who == PARENT for entry in asked] == [True, False]
    assert not (repository / "a").exists()
    assert not (repository / "b").exists()


async def test_a_policy_that_is_wrong_stops_the_start_and_a_child_that_lands_one_loosens_nothing(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    policy = repository / ".covey" / "policy.toml"
    write_file(policy, '[[deny]]\nkind = "shel"\n')
    async with serving(talk(REQUEST, says("hello"))) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 1
    assert "line 1: there is no kind 'shel'; did you mean shell?" in done.errors
    assert not (repository / ".covey" / "sessions").exists()
    write_file(policy, '[[deny]]\ncommand = "touch"\n')
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "open it", "Open the policy.")),
            says("", call("run_command", command="touch a")),
            says("done"),
        ),
        talk(
            "Open the policy.",
            says("", call("write", path=".covey/policy.toml", content='[[allow]]\ncommand = "touch"\n')),
            says("opened"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert "refused by the policy" in results(repository)[-1]
    assert policy.read_text().startswith("[[allow]]"), "it has landed, for the next session"
    assert not (repository / "a").exists()


async def wait_for(terminal: Terminal, pattern: str) -> str:
    return await trio.to_thread.run_sync(lambda: terminal.wait_for(pattern, above=200))


async def test_a_person_approves_rejects_grants_and_stops_while_asked(
    repository_of: RepositoryOf, covey_home: Path, tmp_path: Path
) -> None:
    require_program("tmux")
    repository = repository_of("python_package")
    write_file(covey_home / "config.toml", 'permissions = "ask"\n')
    async with serving(
        talk(
            REQUEST,
            says("", call("run_command", command="touch approved")),
            says("", call("run_command", command="touch rejected")),
            says("", task("implement", "the child", "Write it.")),
            says(
                "", call("write", path="granted", content="x\n"), call("run_command", command="touch stopped")
            ),
            says("never said"),
        ),
        talk("Write it.", says("", call("write", path="of-child", content="x\n")), says("wrote it")),
    ) as server:
        command = [COVEY, "--terminal", "--endpoint", server.url, "--model", "scripted"]
        environment = {**os.environ, "TERM": "tmux-256color"}
        with open_terminal(
            command, folder=repository, environment=environment, socket=tmp_path / "t"
        ) as terminal:
            await wait_for(terminal, rf"covey in .*{PROMPT}")
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(
                terminal, r"covey asks, may it run run_command\?.*touch approved.*a approves · r rejects"
            )
            terminal.press("a")
            await wait_for(terminal, r"s approves for this session: commands that begin with touch rejected")
            terminal.press("r")
            await wait_for(
                terminal, r"rejected by the user.*the-child-\w+ asks, may it run write\?.*every edit"
            )
            terminal.press("s")
            await wait_for(terminal, r"begin with touch stopped")
            terminal.press("Escape")
            await wait_for(terminal, rf"The turn was stopped by the person\..*{PROMPT}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    assert answers(repository) == ["approved", "rejected", "approved for this session", "withdrawn"]
    assert "[command rejected by the user]" in results(repository)
    here = {path.name for path in repository.iterdir()}
    assert {"approved", "of-child", "granted"} <= here
    assert not {"rejected", "stopped"} & here


async def test_what_one_child_may_not_do_is_open_to_the_others(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    agents = repository / ".covey/agents"
    agents.mkdir(parents=True)
    (agents / "reader.md").write_text("---\nname: reader\ndescription: Reads.\ntools: read\n---\nRead.\n")
    names = ("reads", "limited", "writes")
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("research", "reads", "Be the one that reads."),
                task("implement", "limited", "Be the one that limited.", agent="reader"),
                task("implement", "writes", "Be the one that writes."),
            ),
            says("", call("write", path="parents.txt", content="x\n")),
            says("done"),
        ),
        *(
            talk(
                f"the one that {name}", says("", call("write", path=f"{name}.txt", content="x\n")), says("ok")
            )
            for name in names
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    written = [name for name in (*names, "parents") if (repository / f"{name}.txt").exists()]
    assert written == ["writes", "parents"]
