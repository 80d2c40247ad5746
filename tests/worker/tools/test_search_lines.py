"""Real files and processes: pages of hits as ripgrep shows them."""

from pathlib import Path

import pytest

from worker.tools.search_files import Found
from worker.tools.search_lines import LinePage
from worker.tools.search_query import SearchArguments, understand


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


async def page(
    folder: Path, arguments: SearchArguments, *, skipped: int = 0, limit_bytes: int = 10_000, counted: int = 4
) -> LinePage:
    """The page of the files in `folder` in the order of their names, each said to have `counted` hits."""
    query = understand(arguments, str(folder), now=0.0)
    made = LinePage(query, name_of, limit_bytes)
    files = [Found(str(path), counted, 0) for path in sorted(folder.iterdir())]
    await made.fetch(files, skipped)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b", "a", "c"):
        (tmp_path / name).write_text("".join(f"{name} hit {number}\nother\n" for number in range(4)))
    return tmp_path


async def test_files_come_in_the_order_that_was_asked_for(folder: Path) -> None:
    shown = await page(folder, SearchArguments(pattern="hit"))
    assert shown.lines == [
        f"{name}:{2 * number + 1}:3:{name} hit {number}" for name in "abc" for number in range(4)
    ]
    assert (shown.entries, shown.is_full) == (12, False)


@pytest.mark.parametrize("skipped", range(4))
async def test_hits_before_the_page_are_passed_over(folder: Path, skipped: int) -> None:
    shown = await page(folder, SearchArguments(pattern="hit"), skipped=skipped)
    assert shown.lines[0] == f"a:{2 * skipped + 1}:3:a hit {skipped}"
    assert shown.entries == 12 - skipped


async def test_a_full_page_ends_the_run_with_whole_lines(folder: Path) -> None:
    shown = await page(folder, SearchArguments(pattern="hit"), limit_bytes=60)
    assert (shown.entries, shown.is_full) == (4, True)
    assert sum(len(line) + 1 for line in shown.lines) <= 60


async def test_pages_one_after_the_other_hold_every_hit_once(folder: Path) -> None:
    whole = (await page(folder, SearchArguments(pattern="hit"))).lines
    query = SearchArguments(pattern="hit")
    first = await page(folder, query, limit_bytes=40)
    rest = await page(folder, query, skipped=first.entries)
    assert first.entries < 4
    assert [*first.lines, *rest.lines] == whole


async def test_hits_of_many_lines_are_counted_each(folder: Path) -> None:
    query = SearchArguments(pattern=r"hit 0\n|hit 1\n")
    assert (await page(folder, query, counted=2)).entries == 6
    assert (await page(folder, query, counted=2, skipped=1)).lines[0] == "a:3:3:a hit 1"


async def test_a_file_that_has_gone_is_passed_over(folder: Path) -> None:
    query = understand(SearchArguments(pattern="hit"), str(folder), now=0.0)
    made = LinePage(query, name_of, 10_000)
    await made.fetch([Found(str(folder / "gone"), 1, 0), Found(str(folder / "b"), 4, 0)], 0)
    assert len(made.lines) == 4


async def test_more_files_than_one_run_can_name_are_all_shown(tmp_path: Path) -> None:
    for number in range(1_500):
        (tmp_path / f"{number:04}{'-long' * 20}").write_text("hit\n")
    shown = await page(tmp_path, SearchArguments(pattern="hit"), limit_bytes=10**6, counted=1)
    assert shown.entries == 1_500
    assert [line[:4] for line in shown.lines] == [f"{number:04}" for number in range(1_500)]
