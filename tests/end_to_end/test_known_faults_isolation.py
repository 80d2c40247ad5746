"""End to end. Ways in which children got at a person's repository elsewhere, and that must not be open here."""

import tempfile
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Landed
from orchestrator.events import ChildFinished, Stopped
from orchestrator.scripted.scenario import Hang
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, shell, told_by_commands
from tests.end_to_end.covey import REQUEST, breaks, call, run_covey, says, serving, talk, task
from tests.end_to_end.test_delegation import children_of, endings, git_state, read_tree
from tests.fixtures_on_disk import commit_fixture
from tests.orchestrator.children.test_child import Bench, bench
from tests.real_git import commit_all, git, git_lines, init_repository
from worker.protocol import Answered

DESTRUCTIVE = {
    "stashes": "echo lost > README.md; git stash; echo kept > {name}.txt",
    "drops-stashes": "git stash list; git stash drop; git stash clear; echo kept > {name}.txt",
    "switches": "git switch -c {name} && git branch -D main; echo kept > {name}.txt",
    "resets": "git reset --hard; git clean -fdx; echo kept > {name}.txt",
    "collects": "git reflog expire --expire=now --all; git gc --prune=now; echo kept > {name}.txt",
    "works-elsewhere": "git worktree add ../{name}-tree; rm -rf ../{name}-tree; echo kept > {name}.txt",
    "throws-away": "rm -rf .git; echo kept > {name}.txt",
    "configures": "git config core.bare true; git config core.worktree /; echo kept > {name}.txt",
    "locks": "touch .git/index.lock .git/HEAD.lock .git/config.lock; echo kept > {name}.txt",
}


@pytest.mark.keeps_checkouts
async def test_nothing_that_children_do_with_git_reaches_the_persons_repository(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    (repository / "CHANGELOG.md").write_text("put away by the person\n")
    git(repository, "stash")
    (repository / "README.md").write_text("staged\n")
    git(repository, "add", "README.md")
    (repository / "README.md").write_text("staged and changed\n")
    (repository / "mine.txt").write_text("untracked\n")
    (repository / "debug.pyc").write_text("ignored\n")
    before, state = read_tree(repository), git_state(repository)
    prompts = {name: f"You are the one that {name}." for name in DESTRUCTIVE}
    async with serving(
        talk(
            REQUEST,
            says("", *(task("implement", name, prompt) for name, prompt in prompts.items())),
            says("done"),
        ),
        *(
            talk(prompts[name], says("", shell(command.format(name=name))), says("did it"))
            for name, command in DESTRUCTIVE.items()
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    ended = endings(repository)
    assert {name: type(end.landing) for name, end in ended.items()} == dict.fromkeys(DESTRUCTIVE, Landed), (
        ended
    )
    assert git_state(repository) == state
    assert read_tree(repository) == before | {f"{name}.txt": b"kept\n" for name in DESTRUCTIVE}
    assert git_lines(repository, "fsck", "--no-dangling") == []
    kept = [Path(checkout).name.rpartition("-")[0] for checkout in children_of(repository).iterdir()]
    assert kept == ["stashes"], "what it put away is nowhere else"


async def test_a_child_without_its_git_directory_finds_no_repository_above_it(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    """A home folder that is a repository itself is above every project in it, and above every child."""
    outer = init_repository(tmp_path)
    (outer / ".gitignore").write_text("/*/\n")
    (outer / "dotfile").write_text("committed\n")
    commit_all(outer)
    (outer / "dotfile").write_text("in work\n")
    repository = repository_of("python_package")
    before, inner = git_state(outer), git_state(repository)
    harm = "git stash; git checkout -b mine; git commit -qam mine; git reset --hard; git config user.name Mallory"
    async with serving(
        talk(REQUEST, says("", task("implement", "lost", "Lose your way.")), says("done")),
        talk(
            "Lose your way.",
            says("", shell(f"rm -rf .git; {harm}; cd ..; {harm}; git rev-parse --git-dir")),
            says("", call("write", path="new.txt", content="new\n")),
            says("done"),
        ),
    ) as server:
        await run_covey(repository, server=server)
    assert "not a git repository" in told_by_commands(repository)["lost"]
    assert git_state(outer) == before
    assert git_state(repository) == inner
    assert (outer / "dotfile").read_text() == "in work\n"
    assert (repository / "new.txt").read_text() == "new\n"


async def test_links_to_shared_folders_are_in_no_commit_and_no_landing(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    (repository / ".gitignore").write_text("node_modules/\n")
    commit_all(repository)
    (repository / "node_modules/dep").mkdir(parents=True)
    (repository / "node_modules/dep/index.js").write_text("dep\n")
    before = read_tree(repository)
    async with serving(
        talk(REQUEST, says("", task("implement", "adds", "Add all of it.")), says("done")),
        talk(
            "Add all of it.",
            says("", shell("ls -d node_modules/dep && echo x > new.txt && git add -A && git commit -qm all")),
            says("", shell("git show --stat --format= HEAD; git clean -qfdx")),
            says("added"),
        ),
    ) as server:
        await run_covey(repository, server=server)
    assert "node_modules" not in told_by_commands(repository)["adds"]
    assert "new.txt" in told_by_commands(repository)["adds"]
    assert endings(repository)["adds"].landing == Landed("1", ("new.txt",))
    assert read_tree(repository) == before | {"new.txt": b"x\n"}


async def test_a_person_whose_git_opens_editors_pagers_and_prompts_is_never_asked(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    sprung = tmp_path / "sprung"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 $* >> {sprung}\nexit 1\n")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change", "commit-msg"):
        (hooks / hook).symlink_to(trap)
    settings = (
        "core.editor",
        "core.pager",
        "core.askPass",
        "sequence.editor",
        "credential.helper",
        "gpg.program",
    )
    for name in settings:
        git(repository, "config", name, str(trap))
    for name, value in (
        ("core.hooksPath", str(hooks)),
        ("commit.gpgSign", "true"),
        ("pager.diff", "true"),
        ("diff.external", str(trap)),
    ):
        git(repository, "config", name, value)
    variables = ("GIT_EDITOR", "EDITOR", "VISUAL", "GIT_PAGER", "PAGER", "GIT_ASKPASS", "SSH_ASKPASS")
    (repository / "README.md").write_text("in work\n")
    async with serving(
        talk(REQUEST, says("", task("implement", "edit", "Edit and commit.")), says("done")),
        talk(
            "Edit and commit.",
            says(
                "",
                shell("echo x > a.txt && git add a.txt && git commit -q --amend && git log -1 --format=%s"),
            ),
            says("", call("edit", path="CHANGELOG.md", old="# ", new="## ", all=True)),
            says("done"),
        ),
    ) as server:
        done = await run_covey(repository, server=server, environment=dict.fromkeys(variables, str(trap)))
    assert done.status == 0, done
    landing = endings(repository)["edit"].landing
    assert isinstance(landing, Landed), landing
    assert (repository / "a.txt").read_text() == "x\n"
    assert not sprung.exists(), sprung.read_text()


async def test_what_a_child_left_for_the_persons_git_runs_at_no_landing(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    sprung = tmp_path / "sprung"
    evil = f"#!/bin/sh\\ntouch {sprung}\\ncat\\n"
    script = f"""
        printf '{evil}' > evil.sh; chmod +x evil.sh
        printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes
        printf '[core]\\n\\tfsmonitor = %s\\n\\thooksPath = %s\\n' $PWD/evil.sh $PWD/hooks >> .git/config
        printf '[filter "evil"]\\n\\tclean = %s\\n\\tsmudge = %s\\n' $PWD/evil.sh $PWD/evil.sh >> .git/config
        mkdir -p hooks .git/hooks
        for hook in post-index-change reference-transaction post-checkout; do
            cp evil.sh hooks/$hook; cp evil.sh .git/hooks/$hook
        done
        echo edited > README.md
    """
    async with serving(
        talk(REQUEST, says("", task("implement", "evil", "Lay traps.")), says("done")),
        talk("Lay traps.", says("", shell(script)), says("laid")),
    ) as server:
        await run_covey(repository, server=server)
    landing = endings(repository)["evil"].landing
    assert isinstance(landing, Landed), landing
    assert (repository / "README.md").read_text() == "edited\n"
    assert not sprung.exists()


async def test_a_child_of_the_same_name_in_another_repository_is_not_ended_along(
    repository_of: RepositoryOf,
) -> None:
    ends: list[ChildFinished] = []
    here, there = repository_of("python_package"), repository_of("python_package")
    works = says("", shell(f"{AT_WORK}; echo x > new.txt")), says("done")
    async with bench(here, breaks(Hang())) as one, bench(there, *works) as other:

        async def live(it: Bench) -> None:
            ends.append(await it.live())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(live, one)
            while one.state() != "working":  # noqa: ASYNC110
                await trio.sleep(0.01)
            nursery.start_soon(live, other)
            async with at_work(there):
                one.child.stop("the model")
                await one.child.ended.wait()
    assert [end.ending for end in ends] == [Stopped("the model"), Answered("done")]
    assert (there / "new.txt").exists()


@pytest.mark.keeps_checkouts
async def test_a_child_that_resets_to_the_persons_commit_does_not_take_their_edits_along(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    (repository / "README.md").write_text("in work\n")
    (repository / "notes.txt").write_text("mine\n")
    before = read_tree(repository)
    async with serving(
        talk(REQUEST, says("", task("implement", "starts over", "Start over.")), says("done")),
        talk(
            "Start over.",
            says("", shell("git reset --hard HEAD~1; echo new > new.txt")),
            says("started over"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert read_tree(repository) == before
    assert "it would take back what you have not committed: README.md, notes.txt" in done.output
    (kept,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (kept / "new.txt").read_text() == "new\n"


@pytest.mark.skipif(
    not Path("/dev/shm").is_dir(), reason="this system has no shared memory to put files into"
)
async def test_a_repository_in_shared_memory_can_be_worked_in(tmp_path: Path) -> None:
    # A confined child has a shared memory of its own; the workspace must be in there all the same.
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="covey-test-") as folder:
        repository = commit_fixture("python_package", Path(folder, "repository"))
        async with serving(
            talk(
                REQUEST,
                says("", task("implement", "writer", "Write."), task("research", "reader", "Read.")),
                says("Done."),
            ),
            talk("Write.", says("", call("write", path="new.txt", content="x\n")), says("Written.")),
            talk("Read.", says("", call("read", path="README.md")), says("Read it.")),
        ) as server:
            await run_covey(repository, server=server)
        assert {name: end.ending for name, end in endings(repository).items()} == {
            "writer": Answered("Written."),
            "reader": Answered("Read it."),
        }
        assert (repository / "new.txt").read_text() == "x\n"
