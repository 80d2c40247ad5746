"""End to end. The CI job of the documentation, run as a runner runs it."""

import os
from pathlib import Path

import msgspec
import pytest
import trio

from orchestrator.scripted.scenario import Reply
from orchestrator.unattended.receipts import Receipt
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import COVEY, call, says, serving, talk
from tests.end_to_end.test_checks import with_checks

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "ci-job.sh"
GOAL = "a note is there; $(rm -rf /nothing) `x`"

WRITES = says("", call("write", path="note.txt", content="x\n"))
MET = says("It is there.\nGOAL MET")


@pytest.mark.parametrize(
    ("replies", "code", "says_"),
    [
        ((WRITES, MET), 0, "covey: the goal is met, and the checks pass"),
        ((says("I can't.\nGOAL IMPOSSIBLE"),), 2, "::error title=covey::A check fails"),
    ],
    ids=["met", "red"],
)
async def test_the_job_ends_as_covey_does_and_keeps_the_record(
    repository_of: RepositoryOf, tmp_path: Path, replies: tuple[Reply, ...], code: int, says_: str
) -> None:
    repository = repository_of("python_package")
    with_checks(repository, '[check.note]\ncommand = "test -e note.txt"\n')
    summary = tmp_path / "summary.md"
    async with serving(talk(GOAL, *replies)) as server:
        environment = {
            **os.environ,
            "PATH": f"{Path(COVEY).parent}:{os.environ['PATH']}",
            "OPENAI_BASE_URL": server.url,
            "COVEY_MODEL": "scripted",
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "GITHUB_STEP_SUMMARY": str(summary),
        }
        done = await trio.run_process(
            ["sh", str(SCRIPT), GOAL],
            cwd=repository,
            env=environment,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert done.returncode == code, done
    assert says_ in done.stdout.decode()
    record = tmp_path / "runner" / "covey"
    receipt = msgspec.json.decode((record / "receipt.json").read_bytes(), type=dict[str, Receipt])["receipt"]
    assert (receipt.exit_code, receipt.verified) == (code, code == 0)
    assert receipt.changed_paths == (("note.txt",) if code == 0 else ())
    assert summary.read_text().startswith(f"# Session {receipt.session}")
