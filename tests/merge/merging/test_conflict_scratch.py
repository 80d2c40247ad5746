"""Real git. A merge tool works on a scratch copy; what it makes there is read back, the person's tree is not in it."""

import os
import subprocess
from pathlib import Path

import pytest

from merge.landings.weighing import Open, look_ahead
from merge.merging.conflict import Conflict
from merge.merging.conflict_scratch import can_be_laid_out, lay_out_conflicts, merge_tool, read_resolved
from merge.merging.resolving import Choice, Content
from merge.store.trees import RepoPath
from tests.merge.landing_places import Wanted, exact_state, head_tree, link, result_of, untouched_state
from tests.merge.places import MakePlace, Place

APP = RepoPath(b"src/app.py")


def conflicts(place: Place, files: dict[str, Wanted]) -> tuple[Conflict, ...]:
    base = head_tree(place)
    found = look_ahead(place.repository, base, result_of(place, base, files), {})
    assert isinstance(found, Open)
    return found.conflicts


def use_tool(place: Place, command: str, *, trusted: bool = True) -> None:
    place.git("config", "merge.tool", "mine")
    place.git("config", "mergetool.mine.cmd", command)
    place.git("config", "mergetool.mine.trustExitCode", str(trusted).lower())


def run_tool(
    place: Place, found: tuple[Conflict, ...], folder: Path, answers: str = ""
) -> dict[RepoPath, Choice]:
    folder.mkdir(exist_ok=True)
    if not (folder / ".git").exists():
        lay_out_conflicts(place.repository, found, folder)
    subprocess.run(["git", "mergetool"], cwd=folder, input=answers.encode(), capture_output=True, check=False)
    return read_resolved(place.repository, found, folder)


def test_the_tool_of_the_repository_is_known(place: Place) -> None:
    assert merge_tool(place.repository) is None
    use_tool(place, "true")
    assert merge_tool(place.repository) == "mine"


def test_a_tool_gets_the_three_versions_and_its_answer_comes_back(place: Place, tmp_path: Path) -> None:
    original = place.read("src/app.py")
    place.write("src/app.py", original.replace(b"line 5\n", b"mine\n"))
    found = conflicts(place, {"src/app.py": original.replace(b"line 5\n", b"the child's\n")})
    use_tool(place, 'cat "$BASE" "$LOCAL" "$REMOTE" > "$MERGED"')
    before, untouched = exact_state(place.root), untouched_state(place)

    resolved = run_tool(place, found, tmp_path / "scratch")

    local, remote = (original.replace(b"line 5\n", line) for line in (b"mine\n", b"the child's\n"))
    assert resolved == {APP: Content(original + local + remote)}
    assert (exact_state(place.root), untouched_state(place)) == (before, untouched)


def test_what_the_tool_gives_up_stays_open_and_is_taken_up_again(place: Place, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        place.write(name, "base\n")
    place.commit()
    for name in ("a.txt", "b.txt"):
        place.write(name, "mine\n")
    found = conflicts(place, {"a.txt": b"child\n", "b.txt": b"child\n"})
    use_tool(place, 'case $MERGED in *a.txt) echo both > "$MERGED";; *) exit 1;; esac')
    first = run_tool(place, found, tmp_path / "scratch", answers="y\n")
    assert first == {RepoPath(b"a.txt"): Content(b"both\n")}

    place.git("-C", str(tmp_path / "scratch"), "config", "mergetool.mine.cmd", 'echo again > "$MERGED"')
    again = run_tool(place, found, tmp_path / "scratch")
    assert again == {RepoPath(b"a.txt"): Content(b"both\n"), RepoPath(b"b.txt"): Content(b"again\n")}


def test_a_tool_that_leaves_the_markers_has_resolved_nothing(place: Place, tmp_path: Path) -> None:
    original = place.read("src/app.py")
    place.write("src/app.py", original.replace(b"line 5\n", b"mine\n"))
    found = conflicts(place, {"src/app.py": original.replace(b"line 5\n", b"the child's\n")})
    use_tool(place, 'printf more >> "$MERGED"')
    assert run_tool(place, found, tmp_path / "scratch") == {}


@pytest.mark.parametrize(("answer", "choice"), [("d", "ours"), ("m", "theirs"), ("a", None)])
def test_a_deleted_file_is_asked_about_by_git(
    place: Place, tmp_path: Path, answer: str, choice: str | None
) -> None:
    (place.root / "src/app.py").unlink()
    found = conflicts(place, {"src/app.py": b"the child's\n"})
    use_tool(place, "false")
    resolved = run_tool(place, found, tmp_path / "scratch", answers=f"{answer}\n")
    assert resolved.get(APP) == choice


def test_a_link_is_chosen_by_side(place: Place, tmp_path: Path) -> None:
    (place.root / "link").unlink()
    (place.root / "link").symlink_to("mine")
    found = conflicts(place, {"link": link(b"the-child")})
    use_tool(place, "false")
    assert run_tool(place, found, tmp_path / "scratch", answers="r\n") == {RepoPath(b"link"): "theirs"}


def test_attributes_convert_nothing_there(place: Place, tmp_path: Path) -> None:
    place.write(".gitattributes", "* text\n")
    place.write("crlf.txt", "base\n")
    place.commit()
    place.write(".gitattributes", "*.txt text eol=crlf\n")
    place.write("crlf.txt", "mine\r\n")
    found = conflicts(place, {".gitattributes": b"*.txt -text\n", "crlf.txt": b"child\n"})
    use_tool(place, 'cat "$LOCAL" "$REMOTE" > "$MERGED"')
    assert run_tool(place, found, tmp_path / "scratch") == {
        RepoPath(b".gitattributes"): Content(b"*.txt text eol=crlf\n*.txt -text\n"),
        RepoPath(b"crlf.txt"): Content(b"mine\nchild\n"),
    }


def test_a_name_that_is_no_text_and_sha256_are_fine(make_place: MakePlace, tmp_path: Path) -> None:
    place = make_place("other", "--object-format=sha256")
    name = os.fsdecode(b"caf\xe9 'x'.txt")
    place.write(name, "base\n")
    place.commit()
    place.write(name, "mine\n")
    found = conflicts(place, {name: b"child\n"})
    use_tool(place, 'echo both > "$MERGED"')
    resolved = run_tool(place, found, tmp_path / "scratch")
    assert resolved == {RepoPath(os.fsencode(name)): Content(b"both\n")}


def test_what_no_tool_can_work_on_is_known(place: Place) -> None:
    place.write("debug.log", "ignored, mine\n")
    (found,) = conflicts(place, {"debug.log": b"the child's\n"})
    assert can_be_laid_out(found)
    (place.root / "debug.log").unlink()
    (place.root / "debug.log").mkdir()
    place.write("debug.log/x.log", "ignored\n")
    (found,) = conflicts(place, {"debug.log": b"the child's\n"})
    assert not can_be_laid_out(found)
