"""Real processes: what git itself ignores is the witness."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.ignore_rules import IgnoreFile


@pytest.mark.parametrize(
    ("rules", "path", "is_folder", "verdict"),
    [
        ("*.log", "a.log", False, True),
        ("*.log", "d/e/a.log", False, True),
        ("*.log\n!keep.log", "keep.log", False, False),
        ("!keep.log\n*.log", "keep.log", False, True),
        ("/a", "a", False, True),
        ("/a", "d/a", False, None),
        ("d/a", "d/a", False, True),
        ("d/a", "e/d/a", False, None),
        ("build/", "build", True, True),
        ("build/", "build", False, None),
        ("build/", "d/build", True, True),
        ("# comment\n\n", "# comment", False, None),
        (r"\#a", "#a", False, True),
        (r"\!a", "!a", False, True),
        ("a  ", "a", False, True),
        ("a\\ ", "a ", False, True),
        ("a\r\n", "a", False, True),
        ("d/**", "d/e", False, True),
        ("**/d", "x/y/d", True, True),
        ("/", "a", False, None),
        ("[", "[", False, None),
        ("", "a", False, None),
    ],
)
def test_rules_mean_what_gitignore_says(rules: str, path: str, is_folder: bool, verdict: bool | None) -> None:
    assert IgnoreFile(rules).verdict(path, is_folder=is_folder) is verdict


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ignoring")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return root


PATHS = ["a", "b", "ab", "a.b", "d/a", "d/b", "d/e/a", "d/e/ab", "e/d/a"]
# What three stars mean is written nowhere.
_RULE = st.text(st.sampled_from("ab.de/*?![]-"), min_size=1, max_size=7).filter(
    lambda rule: "***" not in rule
)


@given(st.lists(_RULE, min_size=1, max_size=4))
def test_files_are_ignored_as_git_ignores_them(repository: Path, rules: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(rules) + "\n")
    asked = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(PATHS).encode(),
        capture_output=True,
        check=False,
    )
    by_git = set(asked.stdout.decode().split("\0")) - {""}
    file = IgnoreFile("\n".join(rules))

    def ignored(path: str) -> bool:
        parts = path.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        if any(file.verdict(folder, is_folder=True) for folder in folders):
            return True
        return bool(file.verdict(path, is_folder=False))

    assert {path for path in PATHS if ignored(path)} == by_git
