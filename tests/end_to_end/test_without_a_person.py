"""End to end. The program without a person: its exit codes, what it writes where, and its receipt."""

import signal
from pathlib import Path

import msgspec
import pytest
import trio

from merge.store.repository import find_repository
from orchestrator.cli import run
from orchestrator.journal import Entry
from orchestrator.scripted.scenario import Hang, Reply, Status, Usage
from orchestrator.sessions.exporting import Export
from orchestrator.unattended.receipts import Receipt
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    COVEY,
    REQUEST,
    Done,
    breaks,
    call,
    open_covey,
    read_all,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.end_to_end.test_checks import good_and_bad_child, with_checks

GREEN, RED = '[check.tests]\ncommand = "true"\n', '[check.tests]\ncommand = "echo it is red; exit 1"\n'
ON_NOTE = '[check.tests]\ncommand = "test -e note.txt"\n'

WRITES = says("", call("write", path="note.txt", content="x\n"))
MET, IMPOSSIBLE = says("Done.\nGOAL MET"), says("No way.\nGOAL IMPOSSIBLE")
LARGE = Reply(text="", calls=(call("read", path="README.md"),), usage=Usage(input_tokens=9_000))
REFUSED = Reply(fault=Status(401), repeat=True)
ONCE_MORE = Reply(text="Still at it.", repeat=True)
P, GOAL = ("-p", REQUEST), ("--goal", REQUEST)
LIMITED = (*GOAL, "--max-tokens", "100")


@pytest.mark.parametrize(
    ("words", "replies", "checks", "status", "output"),
    [
        (P, (WRITES, says("Written.")), RED, 0, "Written.\n"),
        (P, (REFUSED,), "", 3, ""),
        (GOAL, (says("Looking."), WRITES, MET), ON_NOTE, 0, "Done.\n"),
        (GOAL, (IMPOSSIBLE,), RED, 2, "No way.\n"),
        (GOAL, (ONCE_MORE,), "", 3, "Still at it.\n"),
        (LIMITED, (LARGE, says("never said")), GREEN, 3, ""),
        (LIMITED, (LARGE, says("never said")), RED, 2, ""),
        (("--goal", REQUEST, "--steps", "x"), (), "", 1, ""),
    ],
)
async def test_a_row_of_the_exit_codes(
    repository_of: RepositoryOf,
    words: tuple[str, ...],
    replies: tuple[Reply, ...],
    checks: str,
    status: int,
    output: str,
) -> None:
    repository = repository_of("python_package")
    if checks:
        with_checks(repository, checks)
    async with serving(talk(REQUEST, *replies)) as server:
        done = await run_covey(repository, *words, requests=(), server=server)
    assert (done.status, done.output) == (status, output), done
    assert "Traceback" not in done.errors
    if status:
        assert "covey: " in done.errors, "a code is never without its reason"


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
async def test_a_signal_is_its_own_row(
    repository_of: RepositoryOf, number: signal.Signals, status: int
) -> None:
    repository = repository_of("python_package")
    with_checks(repository, RED)
    async with (
        serving(talk(REQUEST, breaks(Hang()))) as server,
        open_covey(repository, *GOAL, "--json", server=server) as process,
    ):
        with trio.fail_after(30):
            assert process.stdout is not None
            begun = b""
            while b'"type":"Told"' not in begun:  # the model is asked now
                begun += await process.stdout.receive_some()
            process.send_signal(number)
            lines = (begun.decode() + await read_all(process.stdout)).splitlines()
            assert await process.wait() == status
    assert receipt_of(lines).exit_code == status
    assert not (next(iter(sessions(repository))) / "logs" / "checks").exists(), "no check after a signal"


def receipt_of(lines: list[str]) -> Receipt:
    return msgspec.json.decode(lines[-1], type=dict[str, Receipt])["receipt"]


def sessions(repository: Path) -> list[Path]:
    return sorted((repository / ".covey" / "sessions").iterdir())


@pytest.mark.parametrize(
    ("words", "says_"),
    [
        (["--json"], "--json goes with -p, --steps or --goal."),
        (["--children"], "--children goes with -p"),
        (["--steps", "nowhere"], "nowhere can't be read"),
        (["-p", " "], "The request is empty"),
        (["-p", "x"], "No model endpoint is configured"),
    ],
)
def test_what_can_t_be_begun_is_a_sentence_and_1(
    repository_of: RepositoryOf,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    says_: str,
) -> None:
    monkeypatch.chdir(repository_of("python_package"))
    assert run(words) == 1
    assert says_ in capsys.readouterr().err


async def test_steps_are_done_in_order_and_end_at_the_first_that_does_not_pass(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    with_checks(repository, ON_NOTE)
    steps = tmp_path / "steps.md"
    steps.write_text(f"- {REQUEST}\n- remove it\n- never asked\n")
    removes = says("", call("run_command", command="rm note.txt"))
    async with serving(talk(REQUEST, WRITES, says("Written."), removes, says("Removed."))) as server:
        done = await run_covey(repository, "--steps", str(steps), "--json", requests=(), server=server)
    assert done.status == 2
    receipt = receipt_of(done.output.splitlines())
    assert [turn.request for turn in receipt.turns] == [REQUEST, "remove it"]
    assert receipt.reason == "step 2 of 3 did not pass; check failed: tests"
    assert [(check.name, check.passed, check.result) for check in receipt.checks] == [
        ("tests", False, "exit status 1")
    ]


async def test_json_is_the_journal_and_the_receipt_which_is_also_in_the_session(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    with_checks(repository, ON_NOTE)
    async with serving(talk(REQUEST, WRITES, MET)) as server:
        done = await run_covey(repository, *GOAL, "--json", requests=(), server=server)
        tools = msgspec.json.decode(server.requests[0].body, type=dict[str, msgspec.Raw])["tools"]
    lines = done.output.splitlines()
    entries = [msgspec.json.decode(line, type=Entry) for line in lines[:-1]]
    assert [entry.number for entry in entries] == list(range(len(entries)))
    receipt = receipt_of(lines)
    assert receipt.verified
    assert (receipt.model_text, receipt.changed_paths) == ("Done.", ("note.txt",))
    assert (receipt.mode, receipt.ending, receipt.exit_code) == ("goal", "Completed", 0)
    (session,) = sessions(repository)
    assert msgspec.json.decode((session / "receipt.json").read_bytes(), type=Receipt) == receipt
    assert b'"task"' not in bytes(tools)
    assert b'"ask"' not in bytes(tools)
    assert b"Delegating" not in server.requests[0].body


async def test_that_the_model_would_have_delegated_is_told_with_the_flag(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    tries = says("", task("implement", "one", "Write it."))
    async with serving(talk(REQUEST, tries, says("Alone, then."))) as server:
        done = await run_covey(repository, *P, "--json", requests=(), server=server)
    told = "covey: The model tried to delegate to children; it may with --children.\n"
    assert (done.status, done.errors) == (0, told)


@pytest.mark.keeps_checkouts
async def test_with_children_success_takes_all_of_their_edits(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    with_checks(repository)
    async with serving(*good_and_bad_child()) as server:
        environment = {"COVEY_LANDING_VERIFY": "true"}
        words = (*P, "--children", "--json", "--quiet")
        done = await run_covey(repository, *words, requests=(), server=server, environment=environment)
    assert done.status == 3
    assert "covey: not merged: bad-" in done.errors
    (line,) = done.output.splitlines()
    receipt = receipt_of([line])
    assert receipt.changed_paths == ("good.txt",)
    assert receipt.verified, "what landed passes"
    good, bad = receipt.children
    assert (good.landed, good.reason, bad.landed) == (("good.txt",), "", ())
    assert bad.reason.startswith("held: breaks tests")
    assert receipt.unmerged == (bad.id,)


async def test_the_program_waits_for_a_child_in_the_background(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "slow", "Write it.", background=True)),
            says("started"),
            says("It has landed."),
        ),
        talk("Write it.", says("", call("write", path="slow.txt", content="x\n"), delay_ms=200), says("ok")),
    ) as server:
        done = await run_covey(repository, *P, "--children", "--quiet", requests=(), server=server)
    assert (done.status, done.output, done.errors) == (0, "It has landed.\n", "")
    assert (repository / "slow.txt").exists()


async def test_a_request_comes_from_standard_input_and_a_receipt_that_finds_no_place_is_told(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, says("Heard."), says("Heard again."))) as server:
        done = await run_covey(repository, "-p", requests=(REQUEST, "on two lines"), server=server)
        assert f"{REQUEST}\\non two lines" in server.requests[0].body.decode()
        assert (done.status, done.output) == (0, "Heard.\n")
        (session,) = sessions(repository)
        before = (session / "receipt.json").read_bytes()
        (session / "receipt.json.part").mkdir()
        again = await run_covey(repository, "resume", "-p", "and more", requests=(), server=server)
    assert (again.status, again.output) == (0, "Heard again.\n")
    assert f"covey: {session} takes no receipt: Is a directory; make room there.\n" in again.errors
    assert (session / "receipt.json").read_bytes() == before
    exported = await run_covey(repository, "export", "--json")
    assert msgspec.json.decode(exported.output, type=Export).errors[0].where == "the receipt"


async def run_in_a_shell(repository: Path, command: str, server_url: str) -> Done:
    """A command line with `covey` in it, as a script has it."""
    line = command.replace("covey", f"{COVEY} --endpoint {server_url} --model scripted")
    done = await trio.run_process(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=repository,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


async def test_a_reader_that_has_enough_ends_the_run(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, *[says("", call("read", path=f"p{n}")) for n in range(200)])) as server:
        done = await run_in_a_shell(repository, f"covey -p '{REQUEST}' --json | head -n 1", server.url)
        assert len(server.requests) < 200
    assert done.status == 141
    assert done.output.startswith('{"number":0')
    assert "Traceback" not in done.errors


async def test_a_reader_that_has_stopped_reading_does_not_hold_up_the_end(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    long = says("x" * 300_000, call("read", path="README.md"))
    async with (
        serving(talk(REQUEST, long, breaks(Hang()))) as server,
        open_covey(repository, *P, "--json", server=server) as process,
    ):
        with trio.fail_after(30):
            while len(server.requests) < 2:  # noqa: ASYNC110
                await trio.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 143


async def test_a_full_disk_is_one_sentence_and_everything_ends(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, says("x" * 400_000), says("never said"))) as server:
        done = await run_in_a_shell(repository, f"ulimit -f 200; covey -p '{REQUEST}'", server.url)
    assert done.status == 3, done
    assert "journal.jsonl can't be written: File too large. Make room" in done.errors
    assert "Traceback" not in done.errors
    assert done.output == ""


async def test_a_signal_during_a_landing_lets_it_end(repository_of: RepositoryOf, tmp_path: Path) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    with_checks(repository, f'[check.tests]\ncommand = "echo > {mark}; sleep 300"\n')
    replies = good_and_bad_child()
    environment = {"COVEY_LANDING_VERIFY": "true"}
    async with (
        serving(*replies) as server,
        open_covey(repository, *P, "--children", server=server, environment=environment) as process,
    ):
        with trio.fail_after(30):
            while not mark.exists():  # noqa: ASYNC110
                await trio.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            errors = await read_all(process.stderr)
            assert await process.wait() == 143
    assert "it is not known whether it breaks a check: the check was stopped" in errors
    assert find_repository(repository).root == repository
    landed = [name for name in ("good.txt", "bad.txt") if (repository / name).exists()]
    assert landed, "what had landed when the signal came has landed"
