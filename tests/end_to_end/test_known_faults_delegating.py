"""End to end. Ways in which what was delegated got out of hand or got lost elsewhere, and that must not be here."""

from pathlib import Path

import msgspec
import pytest
import trio

from merge.landings.landing import Conflicted, Held, Landed, NothingToLand
from orchestrator.events import ChildStarted, Noticed
from orchestrator.journal import read_entries
from orchestrator.scripted.scenario import Call, Reply, Status
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, shell, told_by_commands
from tests.end_to_end.covey import (
    COVEY,
    REQUEST,
    breaks,
    call,
    journal_of,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.end_to_end.test_delegation import children_of, endings, git_state, read_tree
from tests.end_to_end.test_without_a_person import run_in_a_shell
from tests.orchestrator.children import test_child
from tests.real_git import commit_all, git, git_lines, init_repository
from worker.pipe.frames import encode_frame
from worker.protocol import Answered, Finished

# What became of the answer


@pytest.mark.parametrize("background", [True, False])
async def test_a_report_longer_than_a_reply_may_be_is_told_whole(
    repository_of: RepositoryOf, background: bool
) -> None:
    repository = repository_of("python_package")
    first, last = "".join(f"finding {number}\n" for number in range(6_000)), "that is all of them"
    async with serving(
        talk(
            REQUEST,
            says("", task("research", "long", "Be long.", background=background)),
            *([says("I wait.")] if background else []),
            says("I have read it."),
        ),
        talk("Be long.", Reply(text=first, cut_off=True), says(last)),
    ) as server:
        done = await run_covey(repository, "-p", REQUEST, "--children", requests=(), server=server)
        conversation = msgspec.json.decode(server.requests[-1].body)["messages"]
    assert (done.status, done.output) == (0, "I have read it.\n"), done
    (report,) = (told for message in conversation if last in (told := str(message["content"])))
    assert report.endswith(f"\n\n{first}{last}")


# What it was told


async def test_what_a_child_was_told_too_late_is_not_taken_for_read(repository_of: RepositoryOf) -> None:
    """It says its last word in the same moment: whoever told it something must not think that it has heard."""
    last_word = encode_frame(Finished(Answered("done")))
    hears = "data = b''\nwhile b'the docs' not in data: data += os.read(0, 65536)\n"
    deaf = test_child.python(
        f"import os, sys\nos.write(1, {test_child.READY!r})\n{hears}os.write(1, {last_word!r}); sys.stdin.read()"
    )
    async with test_child.bench(repository_of("python_package"), worker=deaf) as it:
        assert await it.child.steer("the tests, too")
        assert await it.child.steer("and the docs")
        assert (await it.live()).ending == Answered("done")
        assert it.child.report is not None
        never = "ended before it read what it was told: the tests, too | and the docs"
        assert never in it.child.report.text.splitlines()
        assert Noticed(never) in [entry.event for entry in read_entries(it.grounds.journal.path)]


async def test_a_child_that_was_told_something_tells_its_end_once(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "slow", "Be slow.", background=True)),
            says("", call("task", child="{id}", prompt="the docs, too")),
            says("", shell("mkfifo go && read -r word < go; rm go")),
            Reply(text="I wait.", repeat=True),
            id=r"started child (\S+) ",
        ),
        talk("Be slow.", says("", shell(AT_WORK)), says("the slow one's word")),
    ) as server:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: run_covey(repository, server=server))
            async with at_work(repository):
                while not (repository / "go").exists():  # noqa: ASYNC110
                    await trio.sleep(0.01)
            (repository / "go").write_text("on\n")
        asked = [request.body.decode() for request in server.requests]
    child = next(body for body in reversed(asked) if "You are a child session" in body)
    assert child.count("the docs, too") == 1
    last = next(body for body in reversed(asked) if "You are a child session" not in body)
    assert last.count("the slow one's word") == 1
    assert "ended before it read" not in last


# Children of children


async def test_whatever_way_a_child_tries_none_of_them_has_children(repository_of: RepositoryOf) -> None:
    """One that is told to split its work does; of three that were asked for there were dozens, and a bill."""
    repository = repository_of("python_package")
    prompts = {name: f"You are {name}: split it and delegate." for name in ("one", "two", "three")}
    split: dict[str, Call] = {
        "one": task("research", "grandchild", "Look for me."),
        "two": call("Agent", kind="implement", title="grandchild", prompt="Do it for me."),
        # On this machine is a model that needs no key, and settings that a child may write itself.
        "three": shell(
            f"COVEY_HOME=$PWD/home {COVEY} -p 'Do it for me.' --children --endpoint $MODEL --model m"
        ),
    }
    async with serving(
        talk(
            REQUEST,
            says("", *(task("implement", name, prompt) for name, prompt in prompts.items())),
            says("done"),
        ),
        *(talk(prompts[name], says("", split[name]), says("I did it myself.")) for name in prompts),
        talk("for me.", Reply(text="I am one too many.", repeat=True)),
    ) as server:
        done = await run_covey(repository, server=server, environment={"MODEL": server.url})
        bodies = [request.body.decode() for request in server.requests]
    assert done.status == 0, done
    assert sum(isinstance(entry.event, ChildStarted) for entry in journal_of(repository)) == 3
    assert len(bodies) == 2 + 2 * 3, "each asked the model twice, and nobody else did"
    assert "a child can't delegate; do the work without it." in told_by_commands(repository)["three"]
    assert sum("a child session can't delegate" in body for body in bodies) == 1, (
        "of the one that knew its name"
    )


async def test_children_that_the_endpoint_refuses_for_good_are_no_storm_and_spoil_nothing_of_the_others(
    repository_of: RepositoryOf,
) -> None:
    """Each is told once, and ends; nobody starts another in its place, and its sibling's work lands."""
    repository = repository_of("python_package")
    refused = [f"part {number}" for number in range(3)]
    busy = Reply(
        fault=Status(429, {"retry-after": "7200"}, body='{"error": {"message": "busy"}}'), repeat=True
    )
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                *(task("research", name, f"Take {name}.") for name in refused),
                task("implement", "good", "Be good."),
            ),
            says("I see."),
        ),
        *(talk(f"Take {name}.", busy) for name in refused),
        talk("Be good.", says("", call("write", path="good.txt", content="x\n")), says("done")),
    ) as server:
        done = await run_covey(repository, "-p", REQUEST, "--children", requests=(), server=server)
        told = server.requests[-1].body.decode()
        asked = [
            sum(f"Take {name}." in request.body.decode() for request in server.requests) for name in refused
        ]
    assert (done.status, done.output) == (0, "I see.\n"), done
    assert asked == [2] * 3, "its own, and the parent's, which holds what it asked for"
    assert sum(isinstance(entry.event, ChildStarted) for entry in journal_of(repository)) == 4
    assert told.count("ended early: The model's endpoint is overloaded") == 3
    assert (repository / "good.txt").read_text() == "x\n"


async def test_a_fan_out_needs_no_more_files_than_a_program_may_have_open_by_itself(
    repository_of: RepositoryOf,
) -> None:
    """Sixteen children take some 130; what a login gives may be less, and a program may ask for more."""
    repository = repository_of("python_package")
    names = [f"part-{number}" for number in range(16)]
    async with serving(
        talk(REQUEST, says("", *(task("research", name, f"Take {name}!") for name in names)), says("I see.")),
        *(talk(f"Take {name}!", says(f"word of {name}")) for name in names),
    ) as server:
        command = f"ulimit -S -n 64; COVEY_CHILDREN_MAX=16 covey -p '{REQUEST}' --children --quiet"
        done = await run_in_a_shell(repository, command, server.url)
    assert (done.status, done.output, done.errors) == (0, "I see.\n", "")
    assert {name: end.ending for name, end in endings(repository).items()} == {
        name: Answered(f"word of {name}") for name in names
    }


# What is left of them


async def test_of_children_that_changed_nothing_nothing_is_left(repository_of: RepositoryOf) -> None:
    """However they ended, and whatever they built meanwhile."""
    repository = repository_of("python_package")
    before = git_state(repository)
    builds = "mkdir -p build; head -c 1000000 /dev/zero > build/out.o; git commit -q --allow-empty -m none"
    dies = "kill -9 $(awk '/^PPid/ {print $2}' /proc/$PPID/status)"
    async with serving(
        talk(
            REQUEST,
            says(
                "",
                task("research", "reads", "Read."),
                task("implement", "looks", "Look."),
                task("implement", "builds", "Build."),
                task("implement", "fails", "Fail."),
                task("implement", "dies", "Die."),
            ),
            says("done"),
        ),
        talk("Read.", says("read")),
        talk("Look.", says("", call("read", path="README.md")), says("looked")),
        talk("Build.", says("", shell(builds)), says("built")),
        talk("Fail.", breaks(Status(401, body='{"error": {"message": "no"}}'))),
        talk("Die.", says("", shell(dies))),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    landings = {name: end.landing for name, end in endings(repository).items()}
    assert landings == {"reads": None} | dict.fromkeys(("looks", "builds", "fails", "dies"), NothingToLand())
    assert not children_of(repository).exists()
    assert git_state(repository) == before
    assert len(git_lines(repository, "worktree", "list")) == 1
    assert git_lines(repository, "for-each-ref", "refs/covey") == []
    own = repository / ".git/covey"
    assert sum(path.stat().st_size for path in own.rglob("*") if path.is_file()) < 1_000_000
    assert list((own / "checkouts").iterdir()) == []


# Where they work


@pytest.mark.keeps_checkouts
async def test_a_session_in_a_submodule_has_children_beside_it_which_the_repository_around_does_not_see(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    library = init_repository(tmp_path / "lib")
    (library / "lib.txt").write_text("one\n")
    commit_all(library)
    around = repository_of("python_package")
    added = ("submodule", "--quiet", "add", str(library), "vendor/lib")
    git(around, "-c", "protocol.file.allow=always", *added)
    commit_all(around, "add a library")
    inner = around / "vendor/lib"
    before = git_state(around)
    async with (
        serving(
            talk(
                REQUEST,
                says(
                    "",
                    task("implement", "adds", "Add."),
                    task("implement", "edits", "Edit.", background=True),
                ),
                says("", shell("echo mine > lib.txt")),
                Reply(text="done", repeat=True),
            ),
            talk("Add.", says("", call("write", path="new.txt", content="new\n")), says("added")),
            talk("Edit.", says("", shell(f"echo its > lib.txt; {AT_WORK}")), says("edited")),
        ) as server,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(lambda: run_covey(inner, server=server))
        async with at_work(inner):
            while (inner / "lib.txt").read_text() != "mine\n":  # noqa: ASYNC110
                await trio.sleep(0.01)
            seen = git_lines(around, "status", "--porcelain")
    ended = endings(inner)
    assert isinstance(ended["adds"].landing, Landed)
    kept = ended["edits"].landing
    assert isinstance(kept, Conflicted)
    assert Path(kept.checkout).parent == around / "vendor/lib-children"
    assert (Path(kept.checkout) / "lib.txt").read_text() == "its\n"
    assert (inner / "new.txt").read_text() == "new\n"
    assert seen == git_lines(around, "status", "--porcelain") == [" M vendor/lib"]
    assert git_state(around) == before


@pytest.mark.keeps_checkouts
async def test_a_child_that_began_its_branch_at_the_remotes_commit_takes_back_nothing(
    repository_of: RepositoryOf,
) -> None:
    """What the person has committed and not pushed is not in its files; that is no edit of the child's."""
    repository = repository_of("python_package")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    (repository / "README.md").write_text("committed, not pushed\n")
    commit_all(repository)
    before = read_tree(repository)
    branches = shell(
        "git switch -q -c fix origin/main && echo x > fix.txt && git add -A && git commit -qm fix"
    )
    async with test_child.bench(repository, says("", branches), says("It is on the branch fix.")) as it:
        landing = (await it.live()).landing
        assert it.child.report is not None
        told = it.child.report.text
    assert isinstance(landing, Held)
    assert "it works on an older commit and would take back what came since: README.md" in told
    assert read_tree(repository) == before
    assert (Path(landing.checkout) / "fix.txt").read_text() == "x\n"
