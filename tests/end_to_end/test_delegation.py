"""End to end. One person, one request, children that read and write, and what is left in the repository after."""

import hashlib
import os
import stat
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from merge.landings.landing import Conflicted, Landed, NothingToLand
from orchestrator.events import ChildFinished
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    REQUEST,
    call,
    journal_of,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.real_git import git, git_lines
from worker.protocol import ToolFinished

MONEY = "tally/money.py"


def children_of(repository: Path) -> Path:
    return repository.with_name(f"{repository.name}-children")


def read_tree(folder: Path) -> dict[str, bytes]:
    """Every file of a working tree but git's and covey's own, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", ".covey", "__pycache__"} & set(path.relative_to(folder).parts)
    }


def git_state(repository: Path) -> dict[str, object]:
    """What law 1 says is never touched: index, HEAD, branches, stash, hooks."""
    own = repository / ".git"
    return {
        "index": hashlib.sha256((own / "index").read_bytes()).hexdigest(),
        "HEAD": (own / "HEAD").read_text(),
        "refs": [line for line in git_lines(repository, "for-each-ref") if "refs/covey/" not in line],
        "stash": git_lines(repository, "stash", "list"),
        "hooks": sorted(str(path) for path in (own / "hooks").glob("*")) if (own / "hooks").exists() else [],
        "config": (own / "config").read_text(),
    }


def endings(repository: Path) -> dict[str, ChildFinished]:
    """How each child ended, by the slug of its title."""
    return {
        entry.who.rsplit("-", 1)[0]: entry.event
        for entry in journal_of(repository)
        if isinstance(entry.event, ChildFinished)
    }


async def test_an_implement_childs_edit_lands_and_nothing_else_of_git_is_touched(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    before, state = read_tree(repository), git_state(repository)
    async with serving(
        talk(
            REQUEST, says("I delegate.", task("implement", "term", "Shorten the term.")), says("It is done.")
        ),
        talk(
            "Shorten the term.",
            says("", call("edit", path="tally/defaults.py", old="DAYS = 30", new="DAYS = 14")),
            says("The term is 14 days."),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert "It is done." in done.output
    assert "tally/defaults.py" in done.output
    after = read_tree(repository)
    assert after.pop("tally/defaults.py") == before.pop("tally/defaults.py").replace(
        b"DAYS = 30", b"DAYS = 14"
    )
    assert after == before
    assert git_state(repository) == state
    assert git_lines(repository, "status", "--porcelain") == [" M tally/defaults.py"]
    assert not children_of(repository).exists()


async def test_edits_in_different_places_of_one_file_both_land(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says(
                "", task("implement", "top", "Edit the top."), task("implement", "bottom", "Edit the bottom.")
            ),
            says("done"),
        ),
        talk(
            "Edit the top.",
            says("", call("edit", path=MONEY, old="write it like 1234.50", new="write it like 12.50")),
            says("top done"),
        ),
        talk(
            "Edit the bottom.",
            says("", call("edit", path=MONEY, old="must add up to more than nothing", new="are all zero")),
            says("bottom done"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0
    text = (repository / MONEY).read_text()
    assert "write it like 12.50" in text
    assert "are all zero" in text
    assert all(isinstance(end.landing, Landed) for end in endings(repository).values())


@pytest.mark.keeps_checkouts
async def test_of_two_children_that_change_one_line_the_first_lands_and_the_other_is_kept(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "fourteen", "Make it 14."), task("implement", "sixty", "Make it 60.")),
            says("see above"),
        ),
        talk(
            "Make it 14.",
            says("", call("edit", path="tally/defaults.py", old="DAYS = 30", new="DAYS = 14")),
            says("14"),
        ),
        talk(
            "Make it 60.",
            says("", call("edit", path="tally/defaults.py", old="DAYS = 30", new="DAYS = 60"), delay_ms=1500),
            says("60"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
        told = server.requests[-1].body.decode()
    assert done.status == 0
    ended = endings(repository)
    assert isinstance(ended["fourteen"].landing, Landed)
    conflict = ended["sixty"].landing
    assert isinstance(conflict, Conflicted)
    kept = Path(conflict.checkout)
    assert kept.parent == children_of(repository)
    assert f"kept {kept}: conflicts with the parent" in done.output
    assert f"rm -rf {kept}" in done.output
    assert f"kept {kept}: conflicts with the parent" in told, (
        "the parent's model must know that it did not land"
    )
    assert "DAYS = 60" in (kept / "tally/defaults.py").read_text()
    assert "DAYS = 14" in (repository / "tally/defaults.py").read_text()
    assert b"<<<<<<<" not in b"".join(read_tree(repository).values())


async def test_a_child_starts_from_the_working_tree_as_it_is(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("mixed_content")
    (repository / "README.md").write_text("changed, not staged\n")
    (repository / "programme/2024/friday.txt").write_text("staged\n")
    git(repository, "add", "programme/2024/friday.txt")
    (repository / "programme/2024/friday.txt").write_text("staged, then changed again\n")
    (repository / "new file.txt").write_text("untracked\n")
    (repository / "programme/2023/saturday.txt").unlink()
    script = repository / "tools/stages.sh"
    script.chmod(script.stat().st_mode ^ stat.S_IXUSR)
    (repository / "link").symlink_to("new file.txt")
    (repository / os.fsdecode(b'caf\xe9 \n"q"')).write_text("odd name\n")
    expected, state = read_tree(repository), git_state(repository)
    copy = tmp_path / "copy"
    copy.mkdir()
    async with serving(
        talk(REQUEST, says("", task("implement", "copy", "Copy what you have.")), says("done")),
        talk(
            "Copy what you have.", says("", call("run_command", command=f"cp -a . '{copy}'")), says("copied")
        ),
    ) as server:
        writable = {"COVEY_SANDBOX_WRITABLE": str(copy)}
        done = await run_covey(repository, server=server, environment=writable)
    assert done.status == 0
    assert read_tree(copy) == expected
    assert (copy / "link").readlink() == Path("new file.txt")
    executable = {path for path in expected if os.lstat(repository / path).st_mode & stat.S_IXUSR}
    assert {path for path in expected if os.lstat(copy / path).st_mode & stat.S_IXUSR} == executable
    assert isinstance(endings(repository)["copy"].landing, NothingToLand)
    assert git_state(repository) == state
    assert read_tree(repository) == expected
    assert not children_of(repository).exists()


async def test_children_that_start_together_never_see_each_others_edits(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("implement", "first", "Write the note."),
                task("implement", "second", "Look for the note."),
            ),
            says("", task("implement", "third", "Look for it later.")),
            says("done"),
        ),
        talk("Write the note.", says("", call("write", path="note.txt", content="x\n")), says("written")),
        talk(
            "Look for the note.",
            says("", call("run_command", command="ls"), delay_ms=1500),
            says("looked"),
        ),
        talk("Look for it later.", says("", call("run_command", command="ls")), says("looked later")),
    ) as server:
        await run_covey(repository, server=server)
    seen = {
        entry.who.rsplit("-", 1)[0]: entry.event.text
        for entry in journal_of(repository)
        if isinstance(entry.event, ToolFinished) and entry.event.name == "run_command"
    }
    assert "note.txt" not in seen["second"]
    assert "note.txt" in seen["third"]


async def test_parent_and_children_begin_their_requests_with_the_same_bytes(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says(
                "", task("research", "read", "Read something."), task("implement", "edit", "Edit something.")
            ),
            says("done"),
        ),
        talk("Read something.", says("read")),
        talk("Edit something.", says("edited")),
    ) as server:
        await run_covey(repository, server=server)
        firsts = {
            marker: next(request.body for request in server.requests if marker.encode() in request.body)
            for marker in (REQUEST, "Read something.", "Edit something.")
        }
    prefixes: set[tuple[bytes, bytes]] = set()
    for body in firsts.values():
        parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        system = msgspec.json.decode(parts["messages"], type=list[msgspec.Raw])[0]
        prefixes.add((bytes(parts["tools"]), bytes(system)))
    assert len(prefixes) == 1
    ((tools, _),) = prefixes
    names = [tool["function"]["name"] for tool in msgspec.json.decode(tools)]
    assert names == ["read", "search", "edit", "write", "run_command", "task"]


async def test_a_key_reaches_no_child_no_command_and_no_journal(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    secret = "k3y-that-is-secret"
    async with serving(
        talk(
            REQUEST,
            says("", call("run_command", command="env"), task("implement", "env", "Show the environment.")),
            says("done"),
        ),
        talk(
            "Show the environment.",
            says("", call("run_command", command="env; tr '\\0' '\\n' < /proc/$PPID/environ")),
            says("ok"),
        ),
    ) as server:
        done = await run_covey(
            repository, server=server, environment={"OPENAI_API_KEY": secret, "PLAIN": "seen"}
        )
        told = [request.body.decode() for request in server.requests]
    assert done.status == 0
    assert any("PLAIN=seen" in body for body in told), "the commands did run"
    assert not any(secret in body for body in told)
    for path in (repository / ".covey").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    assert secret not in done.output + done.errors


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write", {"path": "new.txt", "content": "x"}),
        ("edit", {"path": "README.md", "old": "tally", "new": "tully"}),
        ("run_command", {"command": "touch new.txt"}),
        ("task", {"kind": "research", "prompt": "you do it"}),
    ],
)
async def test_a_research_child_changes_nothing_and_cant_delegate(
    repository_of: RepositoryOf, tool: str, arguments: dict[str, object]
) -> None:
    repository = repository_of("python_package")
    before = read_tree(repository)
    async with serving(
        talk(REQUEST, says("", task("research", "look", "Look only.")), says("done")),
        talk("Look only.", says("", call(tool, **arguments)), says("could not")),
    ) as server:
        await run_covey(repository, server=server)
    (finished,) = (
        entry.event
        for entry in journal_of(repository)
        if isinstance(entry.event, ToolFinished) and entry.event.name == tool and entry.who
    )
    assert finished.failed
    assert read_tree(repository) == before
    assert not children_of(repository).exists()


async def test_a_background_child_is_asked_for_and_its_report_ends_the_turn(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "slow one", "Take your time.", background=True)),
            says("", call("task", child="{id}")),
            says("I have nothing else to do."),
            says("The slow one is done, too."),
            id=r"started child (\S+) ",
        ),
        talk(
            "Take your time.",
            says("", call("write", path="slow.txt", content="x\n"), delay_ms=800),
            says("slow but sure"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
        told = [request.body.decode() for request in server.requests if REQUEST in request.body.decode()]
    assert "running" in told[2]
    assert sum("slow but sure" in body for body in told) == 1, (
        "a report is told once, in the last request only"
    )
    assert "The slow one is done, too." in done.output
    assert (repository / "slow.txt").exists()


async def test_a_background_child_that_is_killed_leaves_nothing(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "sleeper", "Sleep.", background=True)),
            says("", call("task", child="{id}", wait_secs=1)),
            says("", call("task", child="{id}", kill=True)),
            says("stopped it"),
            id=r"started child (\S+) ",
        ),
        talk("Sleep.", says("", call("run_command", command="sleep 300 & setsid sleep 300 & sleep 300"))),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0
    assert "stopped it" in done.output
    assert not children_of(repository).exists()
    # nothing_left_behind (tests/conftest.py) fails this test when one of the three sleeps lives on


async def test_a_kept_child_is_sent_back_to_its_own_work_and_lands(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "fourteen", "Make it 14."), task("implement", "sixty", "Make it 60.")),
            says(
                "", call("task", child="{id}", prompt="The parent has 14 now: take that, and leave a note.")
            ),
            says("now it is in"),
            id=r"child (sixty-\w+) ",
        ),
        talk(
            "Make it 14.",
            says("", call("edit", path="tally/defaults.py", old="DAYS = 30", new="DAYS = 14")),
            says("14"),
        ),
        talk(
            "Make it 60.",
            says("", call("edit", path="tally/defaults.py", old="DAYS = 30", new="DAYS = 60"), delay_ms=1500),
            says("60"),
            says(
                "",
                call("edit", path="tally/defaults.py", old="DAYS = 60", new="DAYS = 14"),
                call("write", path="note.txt", content="sales wished for 60\n"),
            ),
            says("14, and a note"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
        childs = [
            request.body.decode() for request in server.requests if "Make it 60." in request.body.decode()
        ]
    assert done.status == 0, done
    assert "now it is in" in done.output
    assert (repository / "note.txt").read_text() == "sales wished for 60\n"
    assert "DAYS = 14" in (repository / "tally/defaults.py").read_text()
    assert not children_of(repository).exists()
    ends = [entry.event for entry in journal_of(repository) if isinstance(entry.event, ChildFinished)]
    assert [type(end.landing) for end in ends] == [Landed, Conflicted, Landed]
    # It went on with its own conversation: what it had said before is in its last request, once.
    own = [body for body in childs if REQUEST not in body]
    last = own[-1]
    assert "leave a note" in last
    # Nothing of it is sent anew, so an endpoint that caches prompts has all of it.
    assert all(later.startswith(earlier.rpartition("]")[0]) for earlier, later in pairwise(own))
    assert last.count("Make it 60.") == 1
    assert last.count("The parent has 14 now") == 1
