"""Real processes."""

from pathlib import Path

import pytest
import trio

from worker.tools import ripgrep
from worker.tools.ripgrep import RipgrepMissing, run_ripgrep
from worker.tools.ripgrep_output import read_paths


class Output:
    def __init__(self, most: int = 10**9) -> None:
        self.data = b""
        self._most = most

    def take(self, piece: bytes) -> bool:
        self.data += piece
        return len(self.data) < self._most


async def test_what_ripgrep_writes_and_how_it_ends_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("needle\n")
    output = Output()
    ended = await run_ripgrep(["--files", "--null", "--", str(tmp_path)], output.take)
    assert (ended.code, ended.complaints) == (0, "")
    assert read_paths(output.data) == [bytes(tmp_path / "a")]
    assert (await run_ripgrep(["--regexp=thread", "--", str(tmp_path)], output.take)).code == 1
    refused = await run_ripgrep(["--regexp=(", "--", str(tmp_path)], output.take)
    assert refused.code == 2
    assert refused.complaints.startswith("rg: regex parse error")


async def test_ripgrep_is_stopped_when_enough_was_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 2_000_000)
    output = Output(most=1)
    ended = await run_ripgrep(["--line-number", "--regexp=x", "--", str(tmp_path)], output.take)
    assert ended.code is None
    assert len(output.data) < 10_000_000


async def test_ripgrep_is_gone_when_its_call_is_cancelled(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 2_000_000)
    with trio.CancelScope() as scope:

        def take(piece: bytes) -> bool:
            scope.cancel()
            return True

        await run_ripgrep(["--line-number", "--regexp=x", "--", str(tmp_path)], take)
    assert scope.cancelled_caught  # and the fixture that looks for processes left behind finds none


async def test_the_settings_of_a_person_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings").write_text("--files-without-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "settings"))
    output = Output()
    await run_ripgrep(["--files-with-matches", "--regexp=without", "--", str(tmp_path)], output.take)
    assert output.data == bytes(tmp_path / "settings") + b"\n"


async def test_a_missing_ripgrep_is_told_with_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RipgrepMissing, match=r"pip install 'ripgrep==14\.1\.0'"):
        await run_ripgrep(["--version"], Output().take)
    (tmp_path / "rg").write_text("no program")
    with pytest.raises(RipgrepMissing, match="can't be started"):
        await run_ripgrep(["--version"], Output().take)
