"""Pure. How findings are told, and which exit code they make."""

import pytest

from orchestrator.doctor.disk_use import in_words
from orchestrator.doctor.findings import Finding, Level, exit_code, finding_lines
from orchestrator.drawing.lines import plain


@pytest.mark.parametrize(("levels", "code"), [((), 0), (("ok", "note"), 0), (("ok", "fault", "note"), 1)])
def test_only_a_fault_is_a_failure(levels: tuple[Level, ...], code: int) -> None:
    assert exit_code(Finding("x", level, "says") for level in levels) == code


def test_a_finding_is_a_line_and_its_remedy_below() -> None:
    lines = finding_lines(
        [Finding("git", "ok", "2.39"), Finding("endpoint", "fault", "gone\x1b[2J\nreally", "Start it.")]
    )
    assert [plain(line) for line in lines] == [
        "ok     git       2.39",
        "fault  endpoint  gone^[[2J",
        "                 really",
        "                 Start it.",
    ]


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 KB"), (1, "1 KB"), (999_999, "1000 KB"), (1_400_000, "1.4 MB"), (2e9, "2.0 GB")],
)
def test_sizes(size: int, words: str) -> None:
    assert in_words(int(size)) == words
