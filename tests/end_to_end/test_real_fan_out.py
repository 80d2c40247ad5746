"""End to end. Eight children over a repository that nobody here wrote, with a person's work half done in it."""

from pathlib import Path

import pytest

from merge.landings.landing import Conflicted, Landed
from orchestrator.events import ChildFinished
from orchestrator.scripted.scenario import Call, Conversation
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from tests.end_to_end.real_package import make_real_repository
from tests.end_to_end.test_delegation import git_state, read_tree
from tests.real_git import git, git_lines
from worker.protocol import Answered, ToolFinished

pytestmark = pytest.mark.network


def child(title: str, *calls: Call, delay_ms: int = 0) -> tuple[Call, Conversation]:
    """A child that makes `calls`, one reply each: its task call, and its conversation."""
    prompt = f"Your work is: {title}."
    replies = [says("", each, delay_ms=delay_ms) for each in calls]
    return task("implement", title, prompt), talk(prompt, *replies, says(f"{title}: done"))


@pytest.mark.keeps_checkouts
async def test_eight_children_over_a_real_package(tmp_path: Path, temporary: Path) -> None:
    repository = make_real_repository(tmp_path / "werkzeug", temporary / "packages")
    source = repository / "src" / "werkzeug"
    modules = sorted(path for path in source.glob("*.py") if path.read_text().startswith(("from ", '"""')))
    names = [str(path.relative_to(repository)) for path in modules[:6]]
    lines = [path.read_text().splitlines()[0] for path in modules[:6]]
    # A person's work: staged, not staged, new, deleted.
    mine = repository / "src" / "werkzeug" / "utils.py"
    mine.write_text(mine.read_text() + "\n# a thought of mine\n")
    (repository / "CHANGES.rst").write_text((repository / "CHANGES.rst").read_text() + "\nnot yet released\n")
    git(repository, "add", "CHANGES.rst")
    (repository / "scratch.txt").write_text("keep me\n")
    (repository / "tox.ini").unlink(missing_ok=True)
    before, state = read_tree(repository), git_state(repository)

    edits = [
        call("edit", path=name, old=line, new=f"{line}  # seen")
        for name, line in zip(names, lines, strict=True)
    ]
    children = [
        child("first", call("search", pattern="def ", path=names[0]), call("read", path=names[0]), edits[0]),
        child("second", call("read", path=names[1]), edits[1]),
        child("third", edits[2]),
        child("fourth", edits[3]),
        child("fifth", edits[4]),
        child("sixth", call("write", path="src/werkzeug/extra.py", content="VALUE = 1\n")),
        child("seventh", call("run_command", command="python3 -m compileall -q src && git status --short")),
        # The first line of the first module once more, later: this one is kept.
        child("eighth", call("edit", path=names[0], old=lines[0], new=f"{lines[0]}  # mine"), delay_ms=2500),
    ]
    async with serving(
        talk(REQUEST, says("", *(each for each, _ in children)), says("All of it is done.")),
        *(conversation for _, conversation in children),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done

    ended = {
        e.who.rsplit("-", 1)[0]: e.event for e in journal_of(repository) if isinstance(e.event, ChildFinished)
    }
    assert len(ended) == 8
    assert all(isinstance(end.ending, Answered) for end in ended.values()), ended
    assert isinstance(ended["eighth"].landing, Conflicted)
    landed = {path for end in ended.values() if isinstance(end.landing, Landed) for path in end.landing.paths}
    assert landed == {*names[:5], "src/werkzeug/extra.py"}
    # Exactly what the children did is there, and everything else is as it was.
    for name, line in list(zip(names, lines, strict=True))[:5]:
        before[name] = before[name].replace(line.encode(), f"{line}  # seen".encode(), 1)
    before["src/werkzeug/extra.py"] = b"VALUE = 1\n"
    assert read_tree(repository) == before
    assert git_state(repository) == state
    seen = [
        e.event.text
        for e in journal_of(repository)
        if isinstance(e.event, ToolFinished) and e.event.name == "run_command"
    ]
    assert "fatal" not in seen[0]
    assert git_lines(repository, "fsck", "--no-dangling") == []
