"""End to end. A child that works in a submodule works in its files, and they land beside those of the repository."""

from pathlib import Path

import pytest

from merge.landings.landing import Landed
from orchestrator.events import ChildFinished
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from tests.real_git import commit_all, git, git_lines, init_repository


@pytest.fixture
def repository(repository_of: RepositoryOf, tmp_path: Path) -> Path:
    """A repository with a submodule `vendor/lib`, in which the person is at work."""
    library = init_repository(tmp_path / "lib")
    (library / "lib.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    commit_all(library)
    repository = repository_of("python_package")
    git(
        repository,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library),
        "vendor/lib",
    )
    commit_all(repository, "add a library")
    (repository / "vendor/lib/lib.txt").write_text("one\ntwo\nthree\nfour\nfive\nthe person's\n")
    return repository


async def test_a_childs_edits_in_a_submodule_land_and_are_taken_back(repository: Path) -> None:
    lib = repository / "vendor/lib"
    before = git_lines(lib, "status", "--porcelain"), git(lib, "rev-parse", "HEAD")
    index = (repository / ".git/modules/vendor/lib/index").read_bytes()
    async with serving(
        talk(REQUEST, says("", task("implement", "lib", "Edit the library.")), says("It is done.")),
        talk(
            "Edit the library.",
            says("", call("read", path="vendor/lib/lib.txt")),
            says(
                "",
                call("edit", path="vendor/lib/lib.txt", old="one", new="the child's"),
                call("write", path="vendor/lib/new.txt", content="new\n"),
                call("write", path="new.txt", content="new\n"),
            ),
            says("Edited."),
        ),
    ) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    (finished,) = (entry.event for entry in journal_of(repository) if isinstance(entry.event, ChildFinished))
    assert isinstance(finished.landing, Landed), finished
    assert set(finished.landing.paths) == {"new.txt", "vendor/lib/lib.txt", "vendor/lib/new.txt"}
    assert (lib / "lib.txt").read_text() == "the child's\ntwo\nthree\nfour\nfive\nthe person's\n"
    assert (repository / ".git/modules/vendor/lib/index").read_bytes() == index

    undone = await run_covey(repository, "undo", requests=())
    assert undone.status == 0, undone
    assert (lib / "lib.txt").read_text() == "one\ntwo\nthree\nfour\nfive\nthe person's\n"
    assert (git_lines(lib, "status", "--porcelain"), git(lib, "rev-parse", "HEAD")) == before
    assert not (repository / "new.txt").exists()
