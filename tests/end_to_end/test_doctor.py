"""End to end. `covey doctor` says what is well, what is not, and what to do."""

from pathlib import Path

import msgspec

from orchestrator.doctor.findings import Finding
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import run_covey, serving
from tests.real_git import git


def by_subject(output: str) -> dict[str, Finding]:
    return {finding.about: finding for finding in msgspec.json.decode(output, type=list[Finding])}


async def test_where_all_is_well_it_exits_with_0(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving() as server:
        done = await run_covey(repository, "doctor", "--json", server=server, requests=())
    assert done.status == 0, done
    found = by_subject(done.output)
    assert list(found) == [
        *("python", "git", "ripgrep", "workspace", "configuration", "checks"),
        *("endpoint", "model", "sandbox", "checkouts", "language servers", "children", "disk"),
    ]
    assert [found[about].level for about in ("git", "ripgrep", "workspace", "endpoint", "model")] == [
        "ok"
    ] * 5
    assert (found["workspace"].says, found["model"].says) == (str(repository), "scripted")
    assert not (repository / ".covey").exists(), "who only looks leaves nothing behind"


async def test_what_is_wrong_comes_with_a_remedy_and_1(repository_of: RepositoryOf, covey_home: Path) -> None:
    repository = repository_of("python_package")
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[sandbox]\nenabled = false\n")
    (repository / ".covey").mkdir()
    (repository / ".covey" / "check.toml").write_text("[check.tests]\n")
    git(repository, "update-ref", "MERGE_HEAD", "HEAD")
    words = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
    done = await run_covey(repository, "doctor", *words, requests=())
    assert done.status == 1
    assert "a merge is in progress: nothing can land meanwhile" in done.output
    assert "check.toml, line 1: check.tests lacks command" in done.output
    assert "nothing listens at 127.0.0.1:9" in done.output
    assert "it is turned off" in done.output
    assert done.errors == ""
