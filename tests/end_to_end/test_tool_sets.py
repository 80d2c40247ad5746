"""End to end. The classic set and skills in a session: what the model is told, and what parent and child may call."""

from pathlib import Path

import msgspec

from orchestrator.journal import PARENT
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from worker.protocol import ToolFinished


def write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_parent_and_child_work_with_the_classic_set_and_read_a_skill(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    write_file(covey_home / "config.toml", '[tools]\nset = "classic"\nmax_output = 200\npreview_lines = 2\n')
    write_file(covey_home / "skills" / "zebra.md", "---\ndescription: Of home\n---\nhome lore\n")
    write_file(repository / ".covey" / "skills" / "ant" / "SKILL.md", "# Of the workspace\nlocal lore\n")
    write_file(covey_home / "AGENTS.md", "Be brief.\n")
    write_file(repository / "AGENTS.md", "Use tabs.\n")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                call("bash", command="echo 1; echo 2; echo 3; exit 4"),
                call("read_skill", name="ant"),
                call("read_file", path="no.txt"),
                call("search", name="no-such-file"),
            ),
            says("", task("implement", "the child", "Write it.")),
            says("done"),
        ),
        talk(
            "Write it.",
            says("", call("read_skill", name="zebra"), call("bash", command="echo $COVEY_CHILD")),
            says("", call("write_file", path="new.txt", content="x\n")),
            says("wrote it"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
        requests = [msgspec.json.decode(request.body) for request in server.requests]
    assert done.status == 0, done
    entries = journal_of(repository)
    ends = [(entry.who, entry.event) for entry in entries if isinstance(entry.event, ToolFinished)]
    # Calls that only read run at the same time, so by their names.
    mine, theirs = (
        {event.name: event.text for who, event in ends if (who == PARENT) == own} for own in (True, False)
    )
    assert mine["bash"] == "1\n2\n3\n[exit code: exit status 4]"
    assert mine["read_skill"] == "# Of the workspace\nlocal lore\n"
    assert mine["read_file"] == "no.txt does not exist. Create it with write_file"
    assert "home lore" in theirs["read_skill"]
    assert "the-child" in theirs["bash"]
    assert theirs["write_file"] == "created new.txt: 1 line\n+1 x"
    assert (repository / "new.txt").read_text() == "x\n"
    tools = [[tool["function"]["name"] for tool in request["tools"]] for request in requests]
    assert set(map(tuple, tools)) == {("bash", "read_skill", "read_file", "write_file", "edit_file", "task")}
    (described,) = {request["tools"][1]["function"]["description"] for request in requests}
    assert described.endswith("\n  ant — Of the workspace\n  zebra — Of home")
    (prompt,) = {request["messages"][0]["content"] for request in requests}
    assert prompt.endswith("# $COVEY_HOME/AGENTS.md\n\nBe brief.\n\n# AGENTS.md\n\nUse tabs.\n")
    assert "N:hash" not in prompt
    assert "\ninstructions from $COVEY_HOME/AGENTS.md, AGENTS.md\n" in done.output
    assert "🛠️  bash: echo 1; echo 2; echo 3; exit 4\n    1\n    2\n    … 2 more lines" in done.output
    assert "📖 read_skill: ant\n" in done.output
    assert "local lore" not in done.output
    assert "⚙ 2 commands · 📝 2 file ops · 🔍 1 search · 📖 2 skills" in done.output


async def test_without_its_shell_no_name_runs_a_command(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    repository = repository_of("python_package")
    write_file(covey_home / "config.toml", "[tools]\nbash = false\n")
    async with serving(
        talk(
            REQUEST,
            says("", call("bash", command="touch a"), call("run_command", command="touch a")),
            says("done"),
        )
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert done.output.count("Commands are turned off here.") == 2
    assert not (repository / "a").exists()
