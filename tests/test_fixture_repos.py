"""Real git. The repositories in `fixtures/repos/` are what they are meant to be, and stay so when copied."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RepositoryOf
from tests.fixtures_on_disk import FIXTURES, copy_fixture, fixture_names
from tests.programs import cargo_or_skip, node_program
from tests.real_git import git, git_lines

ROOT = FIXTURES.parents[1]


def test_there_are_at_least_four() -> None:
    assert {"python_package", "node_package", "rust_crate", "mixed_content"} <= set(fixture_names())


@pytest.mark.parametrize("name", fixture_names())
def test_a_copy_is_a_clean_repository_with_every_file(name: str, repository_of: RepositoryOf) -> None:
    repository = repository_of(name)
    stored = sum(len(files) for _, _, files in os.walk(FIXTURES / name)) + sum(
        1 for path in (FIXTURES / name).rglob("*") if path.is_symlink() and path.is_dir()
    )
    assert len(git_lines(repository, "ls-files")) == stored
    assert git_lines(repository, "status", "--porcelain", "--ignored") == []
    assert not list(repository.rglob("dot-*"))
    assert (repository / ".gitignore").is_file()


def test_a_second_copy_of_a_name_stands_beside_the_first(repository_of: RepositoryOf, tmp_path: Path) -> None:
    assert repository_of("rust_crate") == tmp_path / "rust_crate"
    assert repository_of("rust_crate") == tmp_path / "rust_crate_2"


@pytest.mark.parametrize("name", fixture_names())
def test_our_own_repository_keeps_their_bytes(name: str) -> None:
    # What git stores is what stands on disk. With -z names outside ASCII are not quoted.
    paths = [
        os.fsdecode(path)
        for path in git(ROOT, "ls-files", "-z", f"fixtures/repos/{name}").split(b"\0")
        if path
    ]
    files = [path for path in paths if not (ROOT / path).is_symlink()]
    feed = "".join(f"{path}\n" for path in files).encode()
    plain = git(ROOT, "hash-object", "--no-filters", "--stdin-paths", feed=feed)
    assert git(ROOT, "hash-object", "--stdin-paths", feed=feed) == plain
    text_is_unset = git(ROOT, "check-attr", "--stdin", "-z", "text", feed=feed.replace(b"\n", b"\0"))
    assert text_is_unset.split(b"\0")[2::3] == [b"unset"] * len(files)


def test_the_python_package_passes_its_own_tests(tmp_path: Path) -> None:
    run = _run(copy_fixture("python_package", tmp_path / "repo"), sys.executable, "-I", "-m", "unittest")
    assert run.returncode == 0, run.stderr
    assert run.stderr.endswith("OK\n")


def test_the_python_package_bills_its_example(tmp_path: Path) -> None:
    repository = copy_fixture("python_package", tmp_path / "repo")
    readme = (repository / "README.md").read_text()
    command = next(line for line in readme.splitlines() if "-m tally" in line).split()[2:]
    run = _run(repository, sys.executable, *command)
    page = "".join(f"    {line}".rstrip() + "\n" for line in run.stdout.splitlines())
    assert page in readme


def test_the_python_package_holds_what_a_wheel_can_carry() -> None:
    assert not [path for path in (FIXTURES / "python_package").rglob("*") if path.is_symlink()]


def test_the_node_package_passes_its_own_tests(tmp_path: Path) -> None:
    run = _run(copy_fixture("node_package", tmp_path / "repo"), node_program(), "--test")
    assert run.returncode == 0, run.stdout
    assert "fail 0" in run.stdout


def test_the_rust_crate_passes_its_own_tests(tmp_path: Path) -> None:
    cargo, environment = cargo_or_skip()
    run = _run(
        copy_fixture("rust_crate", tmp_path / "repo"), cargo, "test", "--quiet", environment=environment
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("test result: ok") >= 2


def test_mixed_content_holds_what_its_name_says(repository_of: RepositoryOf) -> None:
    repository = repository_of("mixed_content")
    modes = {
        path: entry.split(" ")[0]
        for entry, path in (row.split("\t") for row in git_lines(repository, "ls-files", "--stage"))
    }
    assert modes["tools/check-programme"] == "100755"
    assert modes["tools/stages.sh"] == "100644"
    assert modes["current"] == "120000"
    assert (repository / "current").is_dir()
    assert (repository / "plans/north gate/today.txt").read_text().startswith("# Saturday")
    dangling = repository / "settings.ini"
    assert dangling.is_symlink()
    assert not dangling.exists()

    latin_1 = (repository / "box office/Preisliste.csv").read_bytes()
    assert latin_1.count(b"\r\n") == latin_1.count(b"\n") > 0
    with pytest.raises(UnicodeDecodeError):
        latin_1.decode()
    assert "Frühbucher" in latin_1.decode("latin-1")
    assert (repository / "translations/boards.strings").read_bytes()[:2] == b"\xff\xfe"
    assert (repository / "artwork/logo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert not (repository / "programme/2024/sunday.txt").read_bytes().endswith(b"\n")
    assert (repository / "plans/Lageplan Süd.txt").is_file()
    assert (repository / "incoming/.gitkeep").read_bytes() == b""


def test_mixed_content_has_one_file_that_git_converts_and_one_that_it_leaves(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("mixed_content")
    converted, left = "box office/start.bat", "box office/Preisliste.csv"
    assert b"\r\n" in (repository / converted).read_bytes()
    assert b"\r\n" not in git(repository, "cat-file", "blob", f"HEAD:{converted}")
    assert git(repository, "cat-file", "blob", f"HEAD:{left}") == (repository / left).read_bytes()


def test_mixed_content_checks_its_programme(tmp_path: Path) -> None:
    repository = copy_fixture("mixed_content", tmp_path / "repo")
    days = sorted((repository / "current").iterdir())
    assert _run(repository, "tools/check-programme", *days).returncode == 0
    saturday = repository / "programme/2024/saturday.txt"
    saturday.write_text(saturday.read_text() + "16:00 harbour Another band\n")
    run = _run(repository, "tools/check-programme", *days)
    assert run.returncode == 1
    assert "more than one act at 16:00 harbour" in run.stdout


def _run(
    folder: Path, *command: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
