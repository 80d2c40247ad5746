"""Pure. What a system can't hold a child to, told to a person."""

import pytest

from worker.confinement.confinement import Enforced, Network
from worker.confinement.shortfalls import not_enforced

ALL = Enforced(landlock=7, mounts=True, network=True)


@pytest.mark.parametrize(
    ("enforced", "network", "words"),
    [
        (ALL, "allow", []),
        (ALL, "deny", []),
        (Enforced(), "allow", ["without Landlock"]),
        (Enforced(1, mounts=True), "deny", ["before Linux 5.19"]),
        (Enforced(7, network=True), "allow", ["the mode, owner and times"]),
        (Enforced(4, mounts=True, network=True), "allow", ["signals"]),
        (
            Enforced(2, network=True),
            "allow",
            ["the mode, owner", "empty files", "control devices", "signals"],
        ),
        (Enforced(7, mounts=True), "allow", []),
        (Enforced(7, mounts=True), "deny", ["no TCP connection"]),
        (Enforced(3, mounts=True), "deny", ["signals", "open to them"]),
    ],
)
def test_each_thing_that_is_not_enforced_is_told_once(
    enforced: Enforced, network: Network, words: list[str]
) -> None:
    told = not_enforced(enforced, network)
    assert len(told) == len(words), told
    for sentence, word in zip(told, words, strict=True):
        assert word in sentence
        assert sentence.endswith(".")
