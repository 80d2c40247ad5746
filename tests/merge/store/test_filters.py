"""Real git. Filters that are configured, those whose program is missing, and commands that do without them."""

import pytest

from merge.store.filters import (
    configured_filters,
    filters_of,
    filters_without_program,
    neutral_switches,
    read_config,
)
from merge.store.git import GitPlace, ask_git
from merge.store.trees import RepoPath
from tests.merge.places import Place


def test_configuration_is_read_as_git_reads_it(place: Place) -> None:
    place.git("config", "filter.A.b.clean", "one")
    place.git("config", "--add", "filter.A.b.clean", "two\nlines")
    place.git("config", "core.AutoCRLF", "input")
    config = read_config(GitPlace(place.root))
    assert config["filter.A.b.clean"] == "two\nlines"
    assert config["core.autocrlf"] == "input"
    assert "core.hookspath" not in config, "what covey tells git is not the person's"


def test_filters_are_named_once() -> None:
    config = {"filter.lfs.clean": "a", "filter.lfs.process": "b", "filter.x.y.smudge": "c", "core.x": "d"}
    assert configured_filters(config) == ("lfs", "x.y")


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("covey-has-no-such-program clean -- %f", True),
        ("/covey/has/no/such/program", True),
        ("cat", False),
        ("'cat' -", False),
        ("tools/filter.sh", False),
        ("VARIABLE=1 program", False),
        ("test -f x && cat", False),
        ("unbalanced 'quote", False),
        ("", False),
    ],
)
def test_a_program_is_missed_only_where_the_command_tells(command: str, missing: bool) -> None:
    assert filters_without_program({"filter.f.clean": command}) == (("f",) if missing else ())


def test_the_filter_of_each_path(place: Place) -> None:
    place.write(".gitattributes", "*.a filter=one\n*.b -filter\n*.c filter\n")
    paths = [RepoPath(name) for name in (b"x.a", b"new\nline.a", b"x.b", b"x.c", b"x")]
    there = GitPlace(place.root)
    assert filters_of(there, paths) == {b"x.a": "one", b"new\nline.a": "one"}
    assert filters_of(there, []) == {}


@pytest.mark.parametrize("kind", ["clean", "process"])
def test_git_does_without_a_neutral_filter(place: Place, kind: str) -> None:
    place.write(".gitattributes", "*.a filter=one\n")
    place.git("config", f"filter.one.{kind}", "covey-has-no-such-program")
    place.git("config", "filter.one.required", "true")
    place.write("x.a", "as it is\n")
    assert ask_git(GitPlace(place.root), "add", "x.a").status != 0
    there = GitPlace(place.root, switches=neutral_switches(["one"]))
    assert ask_git(there, "add", "x.a").status == 0
    assert place.git("cat-file", "blob", ":x.a") == b"as it is"
