"""End to end. Ways in which agents' work, or a person's, was lost at its merge elsewhere, and that must not be here."""

import errno
import os
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Conflicted, Held, Landed, NothingToLand
from orchestrator.children import settling
from orchestrator.events import ChildFinished
from orchestrator.journal import read_entries
from orchestrator.scripted.scenario import Reply
from tests.conftest import RepositoryOf
from tests.end_to_end.commands import AT_WORK, at_work, shell, told_by_commands
from tests.end_to_end.covey import REQUEST, Done, run_covey, says, serving, talk, task
from tests.end_to_end.test_delegation import children_of, endings, git_state, read_tree
from tests.orchestrator.children.test_child import bench
from tests.real_git import commit_all, git, git_lines, init_repository

TEN = "".join(f"line {number}\n" for number in range(1, 11))


async def test_a_childs_commits_land_in_a_file_that_the_person_has_in_work(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    (repository / "ten.txt").write_text(TEN)
    commit_all(repository)
    (repository / "ten.txt").write_text(TEN.replace("line 2\n", "the person's\n"))
    state = git_state(repository)
    async with serving(
        talk(REQUEST, says("", task("implement", "five", "Change line 5.")), says("done")),
        talk(
            "Change line 5.",
            says(
                "",
                shell("sed -i 's/^line 5$/five/' ten.txt && git commit -qam five && git log -1 --format=%s"),
            ),
            says("", shell("sed -i 's/^line 8$/eight/' ten.txt && git commit -qam eight")),
            says("committed"),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert isinstance(endings(repository)["five"].landing, Landed)
    wanted = (
        TEN.replace("line 2\n", "the person's\n").replace("line 5\n", "five\n").replace("line 8\n", "eight\n")
    )
    assert (repository / "ten.txt").read_text() == wanted
    assert git_state(repository) == state
    assert not children_of(repository).exists()


@pytest.mark.keeps_checkouts
async def test_when_a_landing_conflicts_the_childs_commits_stay_with_its_files(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with (
        serving(
            talk(REQUEST, says("", task("implement", "loser", "Lose.")), says("done")),
            talk(
                "Lose.",
                says("", shell(f"echo one > README.md && git commit -qam 'work of an hour'; {AT_WORK}")),
                says("x"),
            ),
        ) as server,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(lambda: run_covey(repository, server=server))
        async with at_work(repository):
            (repository / "README.md").write_text("the person's\n")
    landing = endings(repository)["loser"].landing
    assert isinstance(landing, Conflicted)
    kept = Path(landing.checkout)
    assert (kept / "README.md").read_text() == "one\n"
    assert git_lines(kept, "log", "-1", "--format=%s") == ["work of an hour"]
    assert git_lines(kept, "status", "--porcelain") == []
    assert (repository / "README.md").read_text() == "the person's\n"


async def test_what_a_child_took_back_of_a_persons_edits_is_told_and_an_undo_gives_it_back(
    repository_of: RepositoryOf,
) -> None:
    """A child that sets one of the person's files back has changed it; that lands, is told, and can be undone."""
    repository = repository_of("python_package")
    (repository / "README.md").write_text("an hour's work\n")
    (repository / "new.txt").write_text("untracked\n")
    before = read_tree(repository)
    async with serving(
        talk(REQUEST, says("", task("implement", "back", "Set the readme back.")), says("done")),
        talk("Set the readme back.", says("", shell("git checkout HEAD~1 -- README.md")), says("it is back")),
    ) as server:
        done = await run_covey(repository, server=server)
        told = server.requests[-1].body.decode()
    assert "landed 1 file: README.md" in told
    assert "README.md" in done.output
    assert (await run_covey(repository, "undo", requests=())).status == 0
    assert read_tree(repository) == before


async def test_two_sessions_in_one_repository_land_all_that_their_children_did(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    (repository / "lines.txt").write_text("".join(f"line {number}\n" for number in range(1, 41)))
    commit_all(repository)
    state = git_state(repository)
    numbers = {f"{which}{number}": 4 * number + 20 * which for which in (0, 1) for number in range(1, 5)}
    children = {
        name: talk(
            f"Take {name}.",
            says("", shell(f"sed -i 's/^line {number}$/by {name}/' lines.txt; echo x > {name}.txt")),
            says("taken"),
        )
        for name, number in numbers.items()
    }
    dones: list[Done] = []
    async with serving(
        *(
            talk(
                f"session {which}",
                says("", *(task("implement", n, f"Take {n}.") for n in numbers if n.startswith(str(which)))),
                says("done"),
            )
            for which in (0, 1)
        ),
        *children.values(),
    ) as server:

        async def run(which: int) -> None:
            dones.append(await run_covey(repository, server=server, requests=[f"session {which}"]))

        async with trio.open_nursery() as nursery:
            for which in (0, 1):
                nursery.start_soon(run, which)
    assert [done.status for done in dones] == [0, 0], dones
    journals = (repository / ".covey/sessions").glob("*/journal.jsonl")
    ends = [entry.event for path in journals for entry in read_entries(path)]
    landings = [event.landing for event in ends if isinstance(event, ChildFinished)]
    assert [type(landing) for landing in landings] == [Landed] * 8, landings
    text = (repository / "lines.txt").read_text().splitlines()
    assert {name for name, number in numbers.items() if text[number - 1] == f"by {name}"} == set(numbers)
    assert all((repository / f"{name}.txt").exists() for name in numbers)
    assert git_state(repository) == state
    assert not children_of(repository).exists()


async def test_a_person_who_commits_and_switches_meanwhile_gets_the_landing_where_they_are(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with (
        serving(
            talk(REQUEST, says("", task("implement", "slow", "Take your time.")), says("done")),
            talk(
                "Take your time.",
                says("", shell(f"{AT_WORK}; echo x > new.txt; echo y >> README.md")),
                says("ok"),
            ),
        ) as server,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(lambda: run_covey(repository, server=server))
        async with at_work(repository):
            (repository / "CHANGELOG.md").write_text("committed meanwhile\n")
            commit_all(repository, "meanwhile")
            git(repository, "switch", "--quiet", "--create", "feature")
            (repository / "README.md").write_text("the person's\n" + (repository / "README.md").read_text())
            state = git_state(repository)
    landing = endings(repository)["slow"].landing
    assert isinstance(landing, Landed), landing
    assert any("switched from main to feature" in note for note in landing.notes)
    assert (repository / "README.md").read_text().startswith("the person's\n")
    assert (repository / "README.md").read_text().endswith("y\n")
    assert (repository / "CHANGELOG.md").read_text() == "committed meanwhile\n"
    assert git_state(repository) == state


async def test_each_child_starts_from_now_and_not_from_when_the_session_began(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    look = says("", shell("git log -2 --format=%s; git status --porcelain; ls"))
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "first", "Be the first.")),
            says("", shell("git add -A && git commit -qm 'what the first did' && echo z > later.txt")),
            says("", task("implement", "second", "Be the second.")),
            says("done"),
        ),
        talk("Be the first.", says("", shell("echo x > first.txt")), says("ok")),
        talk("Be the second.", look, says("ok")),
    ) as server:
        await run_covey(repository, server=server)
    seen = told_by_commands(repository)["second"]
    assert "what the first did" in seen
    assert "later.txt" in seen
    assert "first.txt" in seen
    assert isinstance(endings(repository)["second"].landing, NothingToLand)


async def test_a_child_is_told_what_of_the_persons_it_has_and_what_it_has_not(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    (repository / "README.md").write_text("in work\n")
    (repository / "CHANGELOG.md").unlink()
    (repository / "new.txt").write_text("untracked\n")
    nested = init_repository(repository / "vendor")
    (nested / "x").write_text("x\n")
    commit_all(nested)
    async with serving(
        talk(REQUEST, says("", task("implement", "ask", "What do you have?")), says("done")),
        talk("What do you have?", says("see above")),
    ) as server:
        await run_covey(repository, server=server)
        (first, *_) = (
            r.body.decode()
            for r in server.requests
            if b"What do you have?" in r.body and b"You are a child" in r.body
        )
    assert "CHANGELOG.md (deleted), README.md, new.txt" in first
    assert "It does not hold: vendor/" in first
    assert "Files that git ignores are not in it" in first


@pytest.mark.keeps_checkouts
async def test_a_conflict_that_a_child_left_in_a_file_does_not_land(repository_of: RepositoryOf) -> None:
    """A child may merge in its checkout, and call it done where git could not."""
    repository = repository_of("python_package")
    before = read_tree(repository)
    merges = "echo a > README.md; git stash; echo b > README.md; git commit -qam b; git stash pop; echo x > new.txt"
    async with bench(repository, says("", shell(merges)), says("merged")) as it:
        landing = (await it.live()).landing
        assert it.child.report is not None
        told = it.child.report.text
    assert isinstance(landing, Held)
    assert "the child left conflict markers in: README.md" in told
    assert read_tree(repository) == before
    assert (Path(landing.checkout) / "new.txt").read_text() == "x\n"
    # A file may be about conflicts: who has looked at it can land it.
    done = await run_covey(repository, "review", Path(landing.checkout).name, "--land", requests=())
    assert done.status == 0, done
    assert (repository / "new.txt").read_text() == "x\n"


def edits(did: str) -> list[Reply]:
    return [says("", shell("echo x > new.txt"))] if did == "landed" else []


@pytest.mark.parametrize("did", ["landed", "nothing"])
async def test_a_lock_in_git_makes_no_landing_into_one_that_failed(
    repository_of: RepositoryOf, did: str
) -> None:
    """A `git gc` of the person's holds this lock for a while, and one that crashed holds it for good."""
    repository = repository_of("python_package")
    lock = repository / ".git/packed-refs.lock"
    lock.write_text("")
    async with bench(repository, *edits(did), says("done")) as it:
        landing = (await it.live()).landing
    assert landing == (Landed("1", ("new.txt",)) if did == "landed" else NothingToLand())
    assert (repository / "new.txt").exists() == (did == "landed")
    assert lock.exists()


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("did", ["landed", "nothing"])
async def test_a_checkout_that_cant_be_removed_makes_no_landing_into_one_that_failed(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch, did: str
) -> None:
    def remove_nothing(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(settling, "remove_checkout", remove_nothing)
    async with bench(repository_of("python_package"), *edits(did), says("done")) as it:
        landing = (await it.live()).landing
        assert it.child.report is not None
        told = it.child.report.text
    assert isinstance(landing, Landed if did == "landed" else Held)
    assert ("landed 1 file: new.txt" if did == "landed" else "nothing in it is left to land") in told
    assert "could not be removed whole: Device or resource busy" in told
    assert "could not be merged" not in told
