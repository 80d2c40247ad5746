"""Real processes. The guard of a command, run as a program: what it reports, and that nothing outlives it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).parents[3] / "worker" / "processes")

START = "import sys; sys.path.append(sys.argv.pop(1)); import command_guard as guard; "

ADOPTING = "guard.main()"

# What a system without subreapers gets.
NOT_ADOPTING = "guard.Guard([float(word) for word in sys.argv[1:4]], adopts=False).run(sys.argv[4:])"

PATIENT = ("60", "60", "60")

# Each rung is left so fast that the next is reached in a test's time.
HASTY = ("0.1", "0.05", "60")


class Running:
    """A guard with one bash command. `lines` reads what it reports."""

    def __init__(
        self, script: str, seconds: tuple[str, ...] = PATIENT, main: str = ADOPTING, shell: str = "/bin/bash"
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", START + main, FOLDER, *seconds, shell, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.control, self.reports, self.output = self.process.stdin, self.process.stdout, self.process.stderr

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.control.close()
        self.process.wait()
        self.reports.close()
        self.output.close()

    def stop(self) -> list[str]:
        """Close the control pipe and return what is reported until the end, without the ids."""
        self.control.close()
        return self.rest()

    def rest(self) -> list[str]:
        return [line.rstrip("\n") for line in self.reports if not line.startswith("started ")]


def test_a_command_that_ends_is_reported_with_its_status() -> None:
    with Running("echo out; echo error >&2; exit 3") as guard:
        assert guard.rest() == ["exited 3", "clean"]
        assert guard.output.read() == "out\nerror\n"


def test_a_command_that_is_killed_is_reported_with_the_signal() -> None:
    with Running("kill -SEGV $$") as guard:
        assert guard.rest() == ["signalled 11", "clean"]


def test_closing_the_control_pipe_stops_the_command() -> None:
    with Running("echo up; sleep 999") as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop() == ["signalled 15", "clean"]


def test_a_command_that_is_deaf_to_sigterm_is_killed() -> None:
    with Running("trap '' TERM; echo up; sleep 999", HASTY) as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop() == ["signalled 9", "clean"]


def test_a_command_has_the_time_to_end_in_order() -> None:
    with Running("trap 'echo bye; exit 4' TERM; echo up; sleep 999 & wait") as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop() == ["exited 4", "clean"]
        assert guard.output.read() == "bye\n"


def test_a_stopped_command_hears_that_it_has_to_end() -> None:
    with Running("trap 'exit 4' TERM; echo up; kill -STOP $$; sleep 999 & wait") as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop() == ["exited 4", "clean"]


def test_what_a_command_leaves_may_write_its_last_lines() -> None:
    with Running("exec 3>&2; echo word > >(read line; echo got $line)") as guard:
        assert guard.rest() == ["exited 0", "clean"]
        assert guard.output.read() == "got word\n"


def test_a_daemon_without_environment_session_or_parent_of_the_command_ends_with_it() -> None:
    with Running("env -i setsid bash -c 'env -i setsid sleep 999 & echo $!' & wait", HASTY) as guard:
        daemon = int(guard.output.readline())
        assert guard.rest() == ["exited 0", "clean"]
        with pytest.raises(ProcessLookupError):
            os.kill(daemon, 0)


def test_processes_that_run_from_fork_to_fork_are_caught() -> None:
    script = """import os, time
end = time.monotonic() + 60  # should nobody be left to catch it
os.write(1, b"up\\n")
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
    with Running(f"{sys.executable} -I -S -c '{script}' & wait", HASTY) as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop()[-1] == "clean"


def test_a_command_ends_when_the_owner_of_its_guard_is_killed() -> None:
    owner = f"""
import subprocess, sys
command = [sys.executable, "-I", "-S", "-c", {START + ADOPTING!r}, {FOLDER!r}, *{PATIENT!r}]
guard = subprocess.Popen([*command, "/bin/bash", "-c", "echo $$; sleep 999"], stdin=subprocess.PIPE, stdout=2)
guard.wait()
"""
    # The end of the pipe tells that nobody holds it any more: neither the guard nor the command.
    with subprocess.Popen([sys.executable, "-c", owner], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        started, pid = sorted((process.stderr.readline(), process.stderr.readline()), reverse=True)
        assert started == f"started {pid}"
        process.kill()
        assert process.stderr.read() == "signalled 15\nclean\n"
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize("signal", ["TERM", "INT", "HUP", "QUIT", "TSTP"])
def test_a_signal_to_everything_in_reach_does_not_end_the_guard(signal: str) -> None:
    with Running(f"kill -{signal} $PPID; echo still here") as guard:
        assert guard.rest() == ["exited 0", "clean"]
        assert guard.output.read() == "still here\n"


def test_the_command_inherits_no_ignored_signal_and_no_file() -> None:
    with Running(
        "grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd | wc -l; readlink /proc/self/fd/0"
    ) as guard:
        assert guard.rest() == ["exited 0", "clean"]
        blocked, ignored, *files = guard.output.read().splitlines()
        assert blocked == f"SigBlk:\t{0:016x}"
        # From 32 on they are the C library's own, which a program can neither ignore nor stop ignoring.
        assert int(ignored.removeprefix("SigIgn:"), 16) & 0x7FFF_FFFF == 0
        # Standard input, output and error, and the folder that is listed.
        assert files == ["4", "/dev/null"]


def test_a_shell_that_is_not_there_is_told_in_the_output() -> None:
    with Running("", shell="/no/such/shell") as guard:
        assert guard.rest() == ["exited 127", "clean"]
        assert (
            guard.output.read()
            == "/no/such/shell could not be started: [Errno 2] No such file or directory\n"
        )


def test_a_command_that_is_stopped_as_it_begins_ends_at_once() -> None:
    for _ in range(5):
        with Running("sleep 999") as guard:
            assert guard.stop() == ["signalled 15", "clean"]


def test_a_guard_that_outlives_its_patience_says_what_is_left() -> None:
    # Without a second to kill in, the command is alive when patience ends.
    with Running("trap '' TERM; echo $$; while :; do :; done", ("0", "0", "0")) as guard:
        shell = int(guard.output.readline())
        assert guard.stop() in (["signalled 9", "clean"], [f"left {shell}"])


def test_without_subreapers_the_process_group_ends_with_the_command() -> None:
    with Running("trap '' TERM; sleep 999 & exit 3", HASTY, NOT_ADOPTING) as guard:
        assert guard.rest() == ["exited 3", "unsure"]
        assert guard.output.read() == ""


def test_without_subreapers_a_command_can_be_stopped() -> None:
    with Running("echo up; sleep 999", main=NOT_ADOPTING) as guard:
        assert guard.output.readline() == "up\n"
        assert guard.stop() == ["signalled 15", "unsure"]


def test_children_are_found_with_and_without_the_kernels_list() -> None:
    script = """
import subprocess
from worker.processes.command_guard import list_children, list_children_by_looking_at_all
children = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(3)]
expected = sorted(child.pid for child in children)
assert sorted(list_children()) == sorted(list_children_by_looking_at_all()) == expected
for child in children:
    child.communicate()
assert list_children() == list_children_by_looking_at_all() == []
"""
    subprocess.run([sys.executable, "-c", script], check=True)
