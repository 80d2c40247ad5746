"""Real files. How the files are read in which people teach a session something, whatever kind they are of."""

from pathlib import Path

import pytest

from orchestrator.terms.front_matter import FrontMatterBroken
from orchestrator.terms.taught_files import left_out_if_broken, names_in, read_text, shortened


def test_the_beginning_of_a_long_text_ends_with_a_whole_character(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("éé")
    assert read_text(path, limit_bytes=9) == "éé"
    assert [read_text(path, limit_bytes=9, begin_bytes=count) for count in (1, 2, 3, 4)] == [
        "",
        "é",
        "é",
        "éé",
    ]


def test_a_text_that_is_cut_short_itself_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("é".encode()[:1])
    with pytest.raises(FrontMatterBroken, match="line 1: it is not UTF-8"):
        read_text(path, limit_bytes=9, begin_bytes=8)


def test_a_folder_that_can_not_be_listed_is_told(tmp_path: Path) -> None:
    faults: list[str] = []
    assert names_in(tmp_path / "nowhere", "skill", faults) == []
    assert faults == []
    endless = tmp_path / ("x" * 300)
    assert names_in(endless, "skill", faults) == []
    assert faults == [f"{endless} can't be listed (File name too long); its skills are left out."]


def test_what_breaks_is_told_with_its_place_and_goes_no_further(tmp_path: Path) -> None:
    faults: list[str] = []
    done: list[str] = []
    for name in ("broken", "gone", "good"):
        with left_out_if_broken(tmp_path / name, "agent", faults):
            if name == "broken":
                raise FrontMatterBroken(3, "it says nothing")
            if name == "gone":
                (tmp_path / name).read_bytes()
            done.append(name)
    assert done == ["good"]
    assert faults == [
        f"{tmp_path}/broken, line 3: it says nothing; this agent is left out.",
        f"{tmp_path}/gone can't be read (No such file or directory); this agent is left out.",
    ]


def test_a_text_is_shortened_to_what_it_may_take() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("five five", 6) == "five…"
