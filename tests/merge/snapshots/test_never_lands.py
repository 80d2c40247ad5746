"""Pure. What stays behind in a checkout, by its name."""

import pytest

from merge.snapshots.never_lands import is_own_state, never_lands
from merge.store.trees import RepoPath

CACHES = ("target", "node_modules")


@pytest.mark.parametrize(
    "path",
    [
        b"__pycache__/a.pyc",
        b"pkg/__pycache__/a.txt",
        b"a.pyc",
        b"pkg/a.pyc",
        b".pytest_cache/v",
        b"pkg/.mypy_cache/3.11/x.json",
        b".ruff_cache/0.9/x",
        b"__pycache__",
        b"target",
        b"target/debug/out",
        b"node_modules/x/index.js",
        b".covey",
        b".covey/sessions/1",
        b".covey/check.toml/below",
        b".covey/jobs/check.toml",
        b"sub/.covey/jobs/1",
        b".covey-x7_ab.tmp",
        b"src/.covey-x7_ab.tmp",
        b"src/.covey-landing-12-3-new",
    ],
)
def test_stays_behind(path: bytes) -> None:
    assert never_lands(RepoPath(path), CACHES, in_base=False)


@pytest.mark.parametrize(
    "path",
    [
        b"src/app.py",
        b"src/target/x.rs",
        b"docs/node_modules/x",
        b"targets",
        b"pycache/a.py",
        b"a.pyc.txt",
        b".covey/check.toml",
        b".covey/policy.toml",
        b"sub/.covey/policy.toml",
        b".coveyrc",
        b".covey-notes.md",
        b".covey-.tmp/x",
        b"a.covey-x.tmp",
        b"caf\xe9.py",
    ],
)
def test_lands(path: bytes) -> None:
    assert not never_lands(RepoPath(path), CACHES, in_base=False)


def test_a_committed_pyc_is_somebodys_file_but_not_in_a_generated_folder() -> None:
    assert not never_lands(RepoPath(b"tests/data/a.pyc"), CACHES, in_base=True)
    assert never_lands(RepoPath(b"pkg/__pycache__/a.pyc"), CACHES, in_base=True)


def test_a_committed_file_of_a_half_written_name_is_somebodys() -> None:
    assert not never_lands(RepoPath(b".covey-x.tmp"), CACHES, in_base=True)


def test_own_state_is_told_apart_from_settings() -> None:
    assert is_own_state(RepoPath(b".covey/sessions/x/journal"))
    assert not is_own_state(RepoPath(b".covey/check.toml"))
