"""Pure, but for the last test, which asks ripgrep."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.globs import BadGlob
from worker.tools.name_filter import NameFilter


@pytest.mark.parametrize(
    ("wanted", "path", "does"),
    [
        (NameFilter(), "any/thing", True),
        (NameFilter(words=["q3", "report"]), "d/Report-Q3.pdf", True),
        (NameFilter(words=["q3", "report"]), "q3/report.pdf", False),
        (NameFilter(words=["Q3"], case_sensitive=True), "q3.pdf", False),
        (NameFilter(globs=["*.py"]), "d/A.PY", True),
        (NameFilter(globs=["*.py"], case_sensitive=True), "d/A.PY", False),
        (NameFilter(globs=["test"]), "d/my_tests.py", True),
        (NameFilter(globs=["test"]), "test/my.py", False),
        (NameFilter(globs=["src/app"]), "lib/src/apple.py", True),
        (NameFilter(globs=["src/*.py"]), "src/a.py", True),
        (NameFilter(globs=["./src/*.py"]), "src/a.py", True),
        (NameFilter(globs=["src/*.py"]), "src/d/a.py", False),
        (NameFilter(globs=["src/"]), "src/d/a.py", True),
        (NameFilter(globs=["**/*.{ts,js}"]), "a.js", True),
        (NameFilter(globs=["*.py", "*.pyi"]), "a.pyi", True),
        (NameFilter(globs=["*.py", "!test_*"]), "test_a.py", False),
        (NameFilter(globs=["!*.py"]), "a.py", False),
        (NameFilter(globs=["!*.py"]), "a.js", True),
        (NameFilter(words=["a"], globs=["*.py"]), "b.py", False),
        (NameFilter(excludes=["docs"]), "docs/a", False),
        (NameFilter(excludes=["docs/"]), "x/docs/a", False),
        (NameFilter(excludes=["docs/*"]), "docs/a", False),
        (NameFilter(excludes=["docs/api/**"]), "docs/api/a", False),
        (NameFilter(excludes=["docs/api"]), "x/docs/api/a", True),
        (NameFilter(excludes=["*/docs/api/*"]), "x/docs/api/a", False),
        (NameFilter(excludes=["/docs"]), "x/docs/a", True),
        (NameFilter(excludes=["/docs"]), "docs/a", False),
        (NameFilter(excludes=["*.min.js"]), "d/a.MIN.js", False),
        (NameFilter(excludes=["", "/", "**"]), "a", False),
        (NameFilter(excludes=["", "/"]), "a", True),
    ],
)
def test_a_filter_wants_what_is_so_called(wanted: NameFilter, path: str, does: bool) -> None:
    assert wanted.wants(path) is does


def test_a_path_is_wanted_in_any_form_it_may_be_told() -> None:
    assert NameFilter(globs=["src/*.py"]).wants("a.py", "src/a.py")
    assert NameFilter(excludes=["src/a.py"]).leaves_out("a.py", "src/a.py")


def test_what_is_no_glob_is_told() -> None:
    with pytest.raises(BadGlob):
        NameFilter(globs=["*.{py"])
    with pytest.raises(BadGlob):
        NameFilter(excludes=["[a"])


def test_a_filter_says_whether_it_asks_for_anything() -> None:
    assert NameFilter().wants_everything
    assert not NameFilter(excludes=["x"]).wants_everything
    assert not NameFilter(words=["x"]).wants_everything
    assert not NameFilter(globs=["x"]).wants_everything


NAMES = ["a.py", "B.Py", "ab.ts", "a b.tsx", "x[1].py", "é.py", "a{b}.js", "-a", "a,b", "AB", "a*b"]
_GLOB = st.one_of(
    st.text(st.sampled_from("abBpyts.*?[]{},1é/\\-"), min_size=1, max_size=8),
    st.sampled_from(["*.{py,ts}", "[ax]*", "*.p[y]", "**/*.py", "sub/*.py", "sub/**", "{a,b}*", "a b*", "a"]),
)


@given(
    st.lists(_GLOB, max_size=3),
    st.lists(st.text(st.sampled_from("abpy.é"), min_size=1, max_size=2), max_size=2),
    st.lists(st.sampled_from(["a*", "*.py", "AB", "sub", "sub/a.py"]), max_size=2),
    st.booleans(),
)
def test_ripgrep_is_never_told_to_leave_out_what_is_wanted(
    names: Path, globs: list[str], words: list[str], excludes: list[str], case_sensitive: bool
) -> None:
    try:
        wanted = NameFilter(words, globs, excludes, case_sensitive=case_sensitive)
    except BadGlob:
        return
    command = [str(Path(sys.executable).with_name("rg")), "--no-config", "--files", "--hidden", "-0"]
    types = wanted.type_globs()
    command += [f"--type-add=wanted:{glob}" for glob in types] + (["--type=wanted"] if types else [])
    flag = "--glob" if case_sensitive else "--iglob"
    command += [f"{flag}=!{glob}" for glob in wanted.exclude_globs()]
    listed = subprocess.run(command, cwd=names, capture_output=True, check=False)
    assert not listed.stderr
    found = {path for path in listed.stdout.decode().split("\0") if path}
    every = {*NAMES, *(f"sub/{name}" for name in NAMES)}
    assert {path for path in found if wanted.wants(path)} == {path for path in every if wanted.wants(path)}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "sub").mkdir()
    for name in NAMES:
        (folder / name).touch()
        (folder / "sub" / name).touch()
    return folder


@given(
    st.lists(st.text("abSſßK\u212a", min_size=1, max_size=3), max_size=3),
    st.lists(st.text("abAsSſßkK\u212a/", max_size=6), max_size=8),
    st.booleans(),
)
def test_the_sieve_lets_through_whatever_is_wanted(words: list[str], paths: list[str], case: bool) -> None:
    names = NameFilter(words, case_sensitive=case)
    let_through = names.sieve([path.encode() for path in paths])
    assert [path for path in paths if names.wants(path)] == [
        path.decode() for path in let_through if names.wants(path.decode())
    ]
