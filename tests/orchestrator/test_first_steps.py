"""Real processes. What a worker does to itself before it begins, whichever way it was started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from orchestrator.children.spawning import can_fork_warm
from tests.machine import lacks
from tests.orchestrator.children.test_spawning import ENVIRONMENT, owned, spawner_of
from worker.confinement.confinement import Confinement
from worker.confinement.first_steps import CANT_MOUNT, Confine, MountOverlay, decode_steps, encode_steps
from worker.conversation import AssistantMessage, CallId, ToolCall, UserMessage
from worker.model import Reply
from worker.protocol import ChildId, ModelAsked, ModelReplied, Ready, Start, ToolFinished, ToolStarted

pytestmark = pytest.mark.skipif(not can_fork_warm(), reason="mount namespaces need Linux")


def layers(folder: Path, *, user_namespace: bool) -> MountOverlay:
    """Two lower layers, an upper one and a place to see them at, below `folder`."""
    for name in ("delta", "pristine/inner", "upper", "work", "seen", "secret"):
        (folder / name).mkdir(parents=True)
    (folder / "pristine/inner/file.txt").write_text("pristine\n")
    (folder / "pristine/both.txt").write_text("pristine\n")
    (folder / "delta/both.txt").write_text("delta\n")
    (folder / "secret/other.txt").write_text("another child's\n")
    (folder / "lock").touch()
    one = {name: bytes(folder / name) for name in ("delta", "pristine", "upper", "work", "seen", "secret")}
    return MountOverlay(
        (one["delta"], one["pristine"]),
        one["upper"],
        one["work"],
        one["seen"],
        (bytes(folder / "lock"),),
        (one["secret"],),
        user_namespace,
    )


@pytest.mark.parametrize("way", ["forked", "fresh"])
@pytest.mark.parametrize("user_namespace", [False, True])
async def test_a_worker_sees_layers_as_one_folder_and_nobody_else_does(
    way: str, tmp_path: Path, user_namespace: bool
) -> None:
    if not user_namespace and os.geteuid() != 0:
        lacks("without a user namespace only root mounts")
    step = layers(tmp_path, user_namespace=user_namespace)
    command = "cat both.txt inner/file.txt; ls ../secret; echo mine > new.txt; id -u; id -g"
    async with trio.open_nursery() as nursery:
        process = await (await spawner_of(way, nursery)).spawn(ENVIRONMENT, (step,))
        async with owned(process) as wire:
            assert await wire.receive() == Ready(process.pid)
            talk = (UserMessage("go"),)
            await wire.send(
                Start(ChildId("spawned-1"), "implement", step.target, bytes(tmp_path / "logs"), talk)
            )
            assert isinstance(await wire.receive(), ModelAsked)
            call = ToolCall(CallId("1"), "run_command", f'{{"command": "{command}"}}')
            await wire.send(ModelReplied(1, Reply(AssistantMessage("", (call,)))))
            assert isinstance(await wire.receive(), ToolStarted)
            finished = await wire.receive()
            assert isinstance(finished, ToolFinished)
            assert finished.text.split()[:4] == ["delta", "pristine", str(os.geteuid()), str(os.getegid())]
            assert not list((tmp_path / "seen").iterdir()), "the mount is seen outside"
            assert (tmp_path / "upper/new.txt").read_text() == "mine\n"
            assert (tmp_path / "secret/other.txt").exists()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("way", ["forked", "fresh"])
async def test_a_worker_that_cant_take_a_step_says_why_and_ends(way: str, tmp_path: Path) -> None:
    step = layers(tmp_path, user_namespace=True)
    (tmp_path / "work").rmdir()
    async with trio.open_nursery() as nursery:
        process = await (await spawner_of(way, nursery)).spawn(ENVIRONMENT, (step,))
        async with owned(process) as wire:
            assert await wire.receive() is None
            assert await process.wait() == CANT_MOUNT
            said = b"".join([bytes(data) async for data in process.stderr]).decode()
            assert "No such file or directory" in said
            assert "work" in said
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("user_namespace", [False, True])
def test_layers_are_all_that_a_process_which_is_held_back_may_change(
    tmp_path: Path, user_namespace: bool
) -> None:
    if not user_namespace and os.geteuid() != 0:
        lacks("without a user namespace only root mounts")
    step = layers(tmp_path, user_namespace=user_namespace)
    held = Confinement(writable=(step.target,), unreadable=(bytes(tmp_path / "pristine"),))
    script = """
cd "$1/seen" && cat both.txt inner/file.txt && echo mine > inner/new.txt && rm both.txt
for file in upper/inner/new.txt delta/both.txt lock; do echo out > "$1/$file"; chmod 700 "$1/$file"; done
cat "$1/pristine/both.txt"; umount "$1/seen"; grep CapEff /proc/self/status
"""
    code = (
        "import os, sys; from worker.confinement.first_steps import decode_steps, take_steps;"
        "take_steps(decode_steps(sys.argv[1])); os.execv('/bin/sh', ['sh', '-c', *sys.argv[2:]])"
    )
    before = {name: (tmp_path / name).stat() for name in ("delta/both.txt", "lock")}
    word = encode_steps((step, Confine(held)))
    command = [sys.executable, "-P", "-c", code, word, script, "sh", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout.split()
    assert told[:-1] == ["delta", "pristine", "CapEff:"], done
    assert int(told[-1], 16) & 1 << 21 == 0, "it may still administer the system"
    assert (tmp_path / "upper/inner/new.txt").read_text() == "mine\n"
    assert (tmp_path / "upper/both.txt").is_char_device(), "a whiteout"
    assert {name: (tmp_path / name).stat() for name in before} == before
    assert (tmp_path / "delta/both.txt").read_text() == "delta\n"


def test_steps_travel_as_one_word(tmp_path: Path) -> None:
    steps = (layers(tmp_path, user_namespace=False),)
    word = encode_steps(steps)
    assert word.isalnum()
    assert decode_steps(word) == steps
