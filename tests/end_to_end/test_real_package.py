"""Real git. A package from the registry becomes a repository; without a registry the test is skipped and says so."""

from pathlib import Path

import pytest

from tests.end_to_end import real_package
from tests.end_to_end.real_package import fetch_sdist, make_real_repository
from tests.real_git import git_lines


@pytest.mark.network
def test_the_package_is_a_clean_repository_of_several_hundred_files(tmp_path: Path, temporary: Path) -> None:
    repository = make_real_repository(tmp_path / "repo", temporary / "packages")
    assert 200 < len(git_lines(repository, "ls-files")) < 1500
    assert git_lines(repository, "status", "--porcelain") == []


def test_a_registry_that_does_not_answer_skips_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": "/dev/null"}
    monkeypatch.setattr(real_package, "THEIRS", {"PATH": real_package.THEIRS["PATH"], **nowhere})
    with pytest.raises(pytest.skip.Exception, match="does not answer for werkzeug"):
        fetch_sdist("werkzeug", "3.1.3", tmp_path)
