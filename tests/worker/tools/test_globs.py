"""Pure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.globs import BadGlob, expand_alternatives, glob_regex, has_wildcards


def fits(glob: str, path: str) -> bool:
    return re.fullmatch(glob_regex(glob), path, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("glob", "path", "does"),
    [
        ("*.py", "a.py", True),
        ("*.py", "d/a.py", False),
        ("*.py", ".py", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("a?b", "a/b", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "d/e/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/a", "src/a", True),
        ("src/**/a", "src/x/y/a", True),
        ("src/**/a", "srcx/a", False),
        ("**", "a/b", True),
        ("a**b", "axb", True),
        ("a**b", "a/b", False),
        ("[ab].c", "b.c", True),
        ("[!ab].c", "b.c", False),
        ("[^ab].c", "c.c", True),
        ("[]x]", "]", True),
        ("[a-c]", "b", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.js", False),
        ("{src,lib}/*", "lib/a", True),
        ("{a,{b,c}}", "c", True),
        ("a,b", "a,b", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a.b+c(d)", "a.b+c(d)", True),
        ("two\nlines", "two\nlines", True),
        ("*", "two\nlines", True),
    ],
)
def test_a_glob_means_what_it_means_to_git(glob: str, path: str, does: bool) -> None:
    assert fits(glob, path) is does


@pytest.mark.parametrize("glob", ["[", "a[b", "{a,b", "[z-a]"])
def test_what_is_never_closed_is_no_glob(glob: str) -> None:
    with pytest.raises(BadGlob):
        glob_regex(glob)


@given(st.text(st.sampled_from("ab/*?[]{},!^-\\&~|."), max_size=12))
def test_any_glob_is_an_expression_or_none_at_all(glob: str) -> None:
    try:
        source = glob_regex(glob)
    except BadGlob:
        return
    re.compile(source)


@given(st.text(st.sampled_from("abc._-/é"), max_size=12))
def test_a_name_without_wildcards_fits_itself(name: str) -> None:
    assert not has_wildcards(name)
    assert fits(name, name)


@pytest.mark.parametrize(
    ("glob", "expanded"),
    [
        ("*.py", {"*.py"}),
        ("*.{ts,tsx}", {"*.ts", "*.tsx"}),
        ("{a,b}/{c,d}", {"a/c", "a/d", "b/c", "b/d"}),
        ("{a,{b,c}}", {"{a,{b,c}}"}),
        ("{" + ",".join("abcdefgh") + "}" * 1 + "{" + ",".join("abcdefghi") + "}", None),
    ],
)
def test_alternatives_are_written_out_where_that_is_possible(glob: str, expanded: set[str] | None) -> None:
    assert set(expand_alternatives(glob)) == (expanded or {glob})


@given(st.text(st.sampled_from("ab{},"), max_size=8), st.text("ab,", max_size=4))
def test_what_is_written_out_fits_the_same_names(glob: str, name: str) -> None:
    try:
        whole = fits(glob, name)
    except BadGlob:
        return
    assert any(fits(one, name) for one in expand_alternatives(glob)) == whole
