"""Real git. A command of ours does what it is told, where it is told, and nothing that the environment says."""

import os
from pathlib import Path

import pytest

from merge.store.git import GitFailed, GitPlace, ask_git, quote_folder, run_git
from tests.merge.places import Place


def test_output_is_bytes_and_what_is_fed_arrives(place: Place) -> None:
    there = GitPlace(place.root)
    blob = run_git(there, "hash-object", "-w", "--stdin", feed=b"caf\xe9\n\n").line()
    assert run_git(there, "cat-file", "blob", blob).output == b"caf\xe9\n\n"
    assert run_git(there, "ls-files", "-z", "--", "bin").fields() == [b"bin/run"]
    assert run_git(there, "ls-files", "-z", "--", "none").fields() == []


def test_a_failure_tells_the_command_and_gits_own_words(place: Place) -> None:
    there = GitPlace(place.root)
    assert ask_git(there, "rev-parse", "--verify", "-q", "nothing").status == 1
    with pytest.raises(
        GitFailed, match=r"^git cat-file -t nothing ended with 128: fatal: .*nothing"
    ) as caught:
        run_git(there, "cat-file", "-t", "nothing")
    assert caught.value.command == ("cat-file", "-t", "nothing")


def test_a_folder_that_is_gone_is_no_other_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.root)
    with pytest.raises(GitFailed, match="is not a folder"):
        ask_git(GitPlace(place.root / "gone"), "status")


def test_git_that_is_not_installed_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place.root))
    with pytest.raises(GitFailed):
        ask_git(GitPlace(place.root), "status")


def test_variables_of_a_calling_git_do_not_mislead(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wrong"))
    monkeypatch.setenv("GIT_ICASE_PATHSPECS", "1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    pinned = GitPlace(tmp_path, git_dir=place.root / ".git", work_tree=place.root)
    for there in (GitPlace(place.root), pinned):
        assert run_git(there, "rev-parse", "--show-toplevel").line() == str(place.root)
        assert b"bin/run" in run_git(there, "ls-tree", "-r", "-z", "--name-only", "HEAD").fields()


def test_git_tells_nothing_of_its_own_doings(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE_PERFORMANCE", "GIT_CURL_VERBOSE"):
        monkeypatch.setenv(name, "1")
    assert run_git(GitPlace(place.root), "rev-parse", "HEAD").error == ""


def test_no_editor_pager_or_prompt_is_opened(place: Place, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for name in ("core.editor", "core.pager", "core.askPass", "sequence.editor", "pager.log"):
        place.git("config", name, f"touch {trap}; false")
    there = GitPlace(place.root)
    run_git(there, "log")
    run_git(there, "commit", "--allow-empty", "--amend")
    asked = ask_git(there, "credential", "fill", feed=b"protocol=https\nhost=example.org\n\n")
    assert asked.status != 0 or b"password=\n" in asked.output
    assert not trap.exists()


def test_a_filter_sees_the_persons_locale(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    place.git("config", "filter.tell.clean", 'printf "%s|%s|%s" "$LC_ALL" "$LC_CTYPE" "$LC_MESSAGES"')
    place.write(".gitattributes", "*.t filter=tell\n")
    place.write("a.t", "x\n")
    run_git(GitPlace(place.root), "add", "a.t")
    assert place.git("cat-file", "blob", ":a.t") == b"|en_GB.UTF-8|C"


def test_folders_of_objects_are_quoted_where_git_needs_it() -> None:
    for folder in (b"/plain/caf\xe9", b'/with"inside', b"/with#inside"):
        assert quote_folder(folder) == folder
    assert quote_folder(b"/a:b") == b'"/a:b"'
    assert quote_folder(b'#a"\n\\') == b'"#a\\042\\012\\134"'


def test_objects_can_be_borrowed(place: Place, tmp_path: Path) -> None:
    odd = Place(tmp_path / os.fsdecode(b"o:d\nd\xe9"))
    odd.root.mkdir()
    odd.git("init", "-q")
    blob = odd.git("hash-object", "-w", "--stdin", feed=b"borrowed\n").decode()
    there = GitPlace(place.root, git_dir=place.root / ".git", borrows=odd.root / ".git/objects")
    assert run_git(there, "cat-file", "blob", blob).output == b"borrowed\n"
    assert ask_git(GitPlace(place.root), "cat-file", "-e", blob).status != 0
