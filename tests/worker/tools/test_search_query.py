"""Pure."""

from datetime import datetime

import pytest

from worker.tools.refusals import ToolRefused
from worker.tools.schema import schema_of, told_arguments
from worker.tools.search_query import Query, SearchArguments, understand

NOW = 1_700_000_000.0


def query(arguments: SearchArguments) -> Query:
    return understand(arguments, "/place", now=NOW)


def test_one_pattern_and_a_list_of_alternatives_are_alike() -> None:
    assert query(SearchArguments(pattern="a")).patterns == ("a",)
    assert query(SearchArguments(pattern=["a", "", "b"])).patterns == ("a", "b")


def test_the_workspace_is_where_a_search_goes_by_itself() -> None:
    assert query(SearchArguments(pattern="a")).paths == (".",)
    assert query(SearchArguments(pattern="a", path="")).paths == (".",)
    assert query(SearchArguments(pattern="a", path="x", paths=["y", "z"])).paths == ("x", "y", "z")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (SearchArguments(pattern="a"), "lines"),
        (SearchArguments(pattern="a", output="folders"), "folders"),
        (SearchArguments(pattern="a", files=True), "files"),
        (SearchArguments(pattern="a", count=True), "count"),
        (SearchArguments(pattern="a", group=True), "folders"),
    ],
)
def test_the_older_names_of_outputs_still_work(arguments: SearchArguments, output: str) -> None:
    assert query(arguments).output == output


def test_context_may_differ_before_and_after() -> None:
    around = query(SearchArguments(pattern="a", context=2, before=5))
    assert (around.before, around.after) == (5, 2)
    odd = query(SearchArguments(pattern="a", before=-5, after=10**9))
    assert (odd.before, odd.after) == (0, 100)


@pytest.mark.parametrize(
    ("pattern", "literal", "multiline"),
    [
        ("a", False, False),
        ("a\nb", False, True),
        (r"a\nb", False, True),
        (r"a\\nb", False, False),
        (r"a\nb", True, False),
    ],
)
def test_a_pattern_with_a_line_feed_spans_lines_unasked(pattern: str, literal: bool, multiline: bool) -> None:
    assert query(SearchArguments(pattern=pattern, literal=literal)).multiline is multiline


@pytest.mark.parametrize(
    ("newer", "seconds"),
    [
        ("2d", 172_800),
        ("90min", 5_400),
        ("90 m", 5_400),
        ("1.5h", 5_400),
        ("3 weeks", 1_814_400),
        ("10S", 10),
        ("1mo", 2_592_000),
    ],
)
def test_a_span_reaches_back_from_now(newer: str, seconds: float) -> None:
    assert query(SearchArguments(newer=newer)).newer_than == NOW - seconds


def test_a_date_is_a_moment() -> None:
    assert query(SearchArguments(newer="2024-05-31")).newer_than == datetime(2024, 5, 31).timestamp()
    assert query(SearchArguments(newer="2024-05-31T10:00:00+00:00")).newer_than == 1_717_149_600


def test_a_full_path_before_a_glob_is_the_workspaces() -> None:
    assert query(SearchArguments(glob="/place/src/*.py")).names.wants("src/a.py")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (SearchArguments(), "Nothing to search for"),
        (SearchArguments(pattern="", name=" ", glob=[]), "Nothing to search for"),
        (SearchArguments(exclude="x", path="y"), "Nothing to search for"),
        (SearchArguments(pattern="a\0"), "NUL"),
        (SearchArguments(name="a\0"), "NUL"),
        (SearchArguments(glob="\ud800"), "surrogate"),
        (SearchArguments(pattern="x" * 30_000), "30,000 characters long; at most 20,000"),
        (SearchArguments(pattern="a", depth=0), "depth is 0"),
        (SearchArguments(pattern="a", offset=-1), "offset is -1"),
        (SearchArguments(glob="*.{py"), "opens an alternative with {"),
        (SearchArguments(newer="soon"), "newer is 'soon'; give a span such as"),
        (SearchArguments(newer="9999999999d"), "newer is"),
        (SearchArguments(newer="2d2d"), "newer is"),
    ],
)
def test_what_asks_for_nothing_is_refused(arguments: SearchArguments, told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        query(arguments)
    assert told in str(refused.value)


def test_the_older_names_of_arguments_are_taken_and_no_model_is_told_of_them() -> None:
    older = {"files", "count", "group", "paths", "type", "exclude", "before", "after", "multiline"}
    assert set(told_arguments(SearchArguments)) == set(SearchArguments.__struct_fields__) - older
    schema = schema_of(SearchArguments)
    assert b"deprecated" not in schema
