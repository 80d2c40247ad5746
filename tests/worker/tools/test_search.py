"""Real files and processes: ripgrep searches, and a plain Python search is the witness."""

import os
import re
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools import read, search
from worker.tools.edit import EditArguments
from worker.tools.edit import run as run_edit
from worker.tools.lines import tag_line
from worker.tools.read import ReadArguments
from worker.tools.search_query import SearchArguments
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


def make(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files, the later ones newer by a second."""
    for age, (path, content) in enumerate(files.items()):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(root / path, (1_600_000_000 + age, 1_600_000_000 + age))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    (root / ".git").mkdir(parents=True)
    return Workspace(root, tmp_path / "logs")


async def ask(workspace: Workspace, arguments: SearchArguments) -> ToolAnswer:
    return await search.run(arguments, workspace)


async def lines(workspace: Workspace, arguments: SearchArguments) -> list[str]:
    answer = await ask(workspace, arguments)
    assert not answer.failed, answer.text
    return answer.text.splitlines()


async def test_hits_are_told_with_line_and_column_newest_file_first(workspace: Workspace) -> None:
    make(workspace.root, {"old.py": "x\n  Needle needle\n", "src/new.py": "needle\nNEEDLE"})
    assert await lines(workspace, SearchArguments(pattern="needle")) == [
        "src/new.py:1:1:needle",
        "src/new.py:2:1:NEEDLE",
        "old.py:2:3:  Needle needle",
    ]
    assert await lines(workspace, SearchArguments(pattern="needle", case_sensitive=True)) == [
        "src/new.py:1:1:needle",
        "old.py:2:10:  Needle needle",
    ]


@pytest.mark.parametrize(
    ("content", "hit"),
    [
        ("é needle".encode(), "f:1:3:é needle"),
        ("😀 needle".encode(), "f:1:4:😀 needle"),
        ("\ufeffneedle".encode(), "f:1:1:needle"),
        ("\ufeff😀 needle\n".encode("utf-16-le"), "f:1:4:😀 needle"),
        (b"caf\xe9 needle", "f:1:6:café needle"),
        (b"needle\r\n", "f:1:1:needle"),
    ],
)
async def test_a_column_counts_utf16_units(workspace: Workspace, content: bytes, hit: str) -> None:
    make(workspace.root, {"f": content})
    assert await lines(workspace, SearchArguments(pattern="needle")) == [hit]


async def test_tags_are_those_that_edit_takes(workspace: Workspace) -> None:
    make(
        workspace.root,
        {"a": "x\nneedle\n", "b": b"\xef\xbb\xbfneedle\r\n", "c": "\ufeffneedlé\n".encode("utf-16-be")},
    )
    found = await lines(workspace, SearchArguments(pattern="needl", tags=True))
    assert found == [
        f"c:{tag_line(1, 'needlé'.encode())}",
        f"b:{tag_line(1, b'needle')}",
        f"a:{tag_line(2, b'needle')}",
    ]
    for path, hit in zip("cba", found, strict=True):
        shown = (await read.run(ReadArguments(path), workspace)).text.splitlines()
        assert hit.partition(":")[2] in shown
        assert not (await run_edit(EditArguments(path, tag=hit, new="changed"), workspace)).failed


async def test_alternatives_words_and_plain_text(workspace: Workspace) -> None:
    make(workspace.root, {"f": "cat\ndog\ncategory\na.b\naxb\n"})
    assert await lines(workspace, SearchArguments(pattern=["dog", "^cat$"])) == ["f:1:1:cat", "f:2:1:dog"]
    assert await lines(workspace, SearchArguments(pattern="cat", word=True)) == ["f:1:1:cat"]
    assert await lines(workspace, SearchArguments(pattern="a.b", literal=True)) == ["f:4:1:a.b"]
    assert len(await lines(workspace, SearchArguments(pattern="a.b"))) == 2


async def test_a_line_ends_before_its_carriage_return(workspace: Workspace) -> None:
    make(workspace.root, {"f": "end\r\nending\r\n"})
    assert await lines(workspace, SearchArguments(pattern="end$")) == ["f:1:1:end"]


async def test_context_is_told_with_dashes(workspace: Workspace) -> None:
    make(workspace.root, {"f": "1\n2\nhit\n4\n5\n6\nhit\n"})
    assert await lines(workspace, SearchArguments(pattern="hit", context=1)) == [
        "f-2-2",
        "f:3:1:hit",
        "f-4-4",
        "--",
        "f-6-6",
        "f:7:1:hit",
    ]
    tagged = await lines(workspace, SearchArguments(pattern="hit", before=1, tags=True))
    assert tagged[0] == f"f-{tag_line(2, b'2')}"


async def test_a_pattern_may_span_lines(workspace: Workspace) -> None:
    make(workspace.root, {"f": "def f(\n    x,\n):\n    pass\n"})
    expected = ["f:1:5:def f(", "f-2-    x,", "f-3-):"]
    assert await lines(workspace, SearchArguments(pattern=r"f\(\n.*\n\)", case_sensitive=True)) == expected
    assert await lines(workspace, SearchArguments(pattern=r"f\(.*\)", multiline=True)) == expected
    assert await lines(workspace, SearchArguments(pattern="(\n    x", literal=True)) == [
        "f:1:6:def f(",
        "f-2-    x,",
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("files", ["src/b", "a", "src/c"]),
        ("count", ["src/b:1", "a:2", "src/c:1", "[4 hits in 3 files]"]),
        ("folders", ["src/: 2 files", "./: 1 file"]),
    ],
)
async def test_hits_may_be_listed_by_file_or_folder(
    workspace: Workspace, output: str, expected: list[str]
) -> None:
    make(workspace.root, {"src/c": "x\n", "a": "x\nx\n", "src/b": "x\n", "other": "y\n"})
    for arguments in (
        SearchArguments(pattern="x", output=output),  # pyright: ignore[reportArgumentType]
        SearchArguments(
            pattern="x", files=output == "files", count=output == "count", group=output == "folders"
        ),
    ):
        assert await lines(workspace, arguments) == expected


async def test_files_are_found_by_name(workspace: Workspace) -> None:
    make(
        workspace.root,
        {"docs/Report Q3.md": "", "q3/report.md": "", "src/a.py": "", "src/deep/b.py": "", "a.pyi": ""},
    )
    cases = [
        (SearchArguments(name="q3 report"), ["docs/Report Q3.md"]),
        (SearchArguments(glob="*.py"), ["src/deep/b.py", "src/a.py"]),
        (SearchArguments(glob="src/*.py"), ["src/a.py"]),
        (SearchArguments(glob=".PY"), ["a.pyi", "src/deep/b.py", "src/a.py"]),
        (SearchArguments(glob=".PY", case_sensitive=True), ["no files of this name in ."]),
        (SearchArguments(glob=["*.py", "!b*"]), ["src/a.py"]),
        (SearchArguments(glob="*", depth=1), ["a.pyi"]),
        (SearchArguments(glob="*", exclude=["docs", "*.py", "q3/"]), ["a.pyi"]),
        (SearchArguments(glob="*.py", path="src/deep"), ["src/deep/b.py"]),
        (SearchArguments(glob="src/*.py", path="src"), ["src/a.py"]),
        (SearchArguments(type="md"), ["q3/report.md", "docs/Report Q3.md"]),
        (SearchArguments(glob="*.py", output="count"), ["2 files"]),
        (SearchArguments(glob="*.py", output="folders"), ["src/deep/: 1 file", "src/: 1 file"]),
    ]
    for arguments, expected in cases:
        assert await lines(workspace, arguments) == expected, arguments


async def test_names_and_contents_together_search_the_named_files_only(workspace: Workspace) -> None:
    make(workspace.root, {"a.py": "x\n", "a.md": "x\n", "b.py": "x\n", "test_a.py": "x\n"})
    assert await lines(workspace, SearchArguments(pattern="x", glob="*.py", name="a", exclude="test_*")) == [
        "a.py:1:1:x"
    ]
    assert await lines(workspace, SearchArguments(pattern="x", type="md", output="files")) == ["a.md"]


async def test_newer_keeps_what_was_modified_since(workspace: Workspace) -> None:
    make(workspace.root, {"old": "x\n", "new": "x\n"})
    (workspace.root / "new").touch()
    assert await lines(workspace, SearchArguments(pattern="x", newer="2d")) == ["new:1:1:x"]
    assert await lines(workspace, SearchArguments(newer="2d")) == ["new"]
    assert await lines(workspace, SearchArguments(newer="2001-01-01", output="count")) == ["2 files"]


async def test_a_name_search_lists_links_to_files(workspace: Workspace) -> None:
    make(workspace.root, {"src/a.py": "x\n", ".gitignore": "ignored*\n"})
    for link, target in (
        ("link.py", "src/a.py"),
        ("broken.py", "nowhere"),
        ("folder.py", "src"),
        ("ignored.py", "src/a.py"),
    ):
        (workspace.root / link).symlink_to(target)
    found = await lines(workspace, SearchArguments(glob="*.py"))
    assert sorted(found[:2]) == ["link.py", "src/a.py"]
    assert found[2:] == [
        "[Skipped: gitignored files ignored.py. With no_ignore: true they are searched too.]"
    ]
    assert (await lines(workspace, SearchArguments(pattern="x", output="files")))[0] == "src/a.py"


SKIPPED = "[Skipped: folders node_modules/, out/; gitignored files a.log. With no_ignore: true they are searched too.]"


async def test_what_is_skipped_is_named_and_searched_on_demand(workspace: Workspace) -> None:
    make(
        workspace.root,
        {
            ".gitignore": "*.log\nout/\n",
            "node_modules/m": "needle\n",
            "out/o": "needle\n",
            "a.log": "needle\n",
            ".hidden": "needle\n",
            ".git/config": "needle\n",
            "large": b"needle\n" + b"x" * 1_048_576,
            "binary": b"needle\0\n",
        },
    )
    assert await lines(workspace, SearchArguments(pattern="needle")) == [".hidden:1:1:needle", SKIPPED]
    found = await lines(workspace, SearchArguments(pattern="needle", no_ignore=True, output="files"))
    assert found == [".hidden", "a.log", "out/o", "node_modules/m"]
    assert await lines(
        workspace, SearchArguments(pattern="needle", path=["out", "large"], output="files")
    ) == ["large", "out/o"]
    names = await lines(workspace, SearchArguments(glob="*", exclude=".gitignore"))
    assert names == ["binary", "large", ".hidden", SKIPPED]


async def test_an_ignore_file_outside_of_repositories_speaks_of_what_is_below_it(tmp_path: Path) -> None:
    make(
        tmp_path, {".gitignore": "*\n", "place/.gitignore": "*.log\n", "place/a.log": "x\n", "place/b": "x\n"}
    )
    answer = await ask(
        Workspace(tmp_path / "place", tmp_path), SearchArguments(pattern="x", exclude=".gitignore")
    )
    assert answer.text.splitlines()[0] == "b:1:1:x"
    assert "gitignored files a.log" in answer.text


async def test_paths_that_overlap_count_each_file_once(workspace: Workspace) -> None:
    make(workspace.root, {"src/a": "x\n", "b": "x\n"})
    (workspace.root / "link").symlink_to("src")
    everywhere = SearchArguments(pattern="x", path=[".", "src", "src/a", "link"], output="count")
    assert await lines(workspace, everywhere) == ["b:1", "src/a:1", "[2 hits in 2 files]"]
    assert await lines(workspace, SearchArguments(glob="*", path=["src", "link", "."])) == ["b", "src/a"]


async def test_a_path_outside_the_workspace_is_told_in_full(workspace: Workspace, tmp_path: Path) -> None:
    make(tmp_path / "other", {"a": "x\n"})
    assert await lines(workspace, SearchArguments(pattern="x", path=str(tmp_path / "other"))) == [
        f"{tmp_path}/other/a:1:1:x"
    ]


async def test_a_path_that_can_not_be_opened_is_told(workspace: Workspace) -> None:
    make(workspace.root, {"a": "x\n"})
    assert await lines(workspace, SearchArguments(pattern="x", path=["a", "nope"])) == [
        "a:1:1:x",
        "[Not searched: nope does not exist.]",
    ]
    answer = await ask(workspace, SearchArguments(pattern="x", path="/proc/self"))
    assert answer.failed
    assert "/proc holds no files of a disk" in answer.text


async def test_a_long_result_comes_in_pages(workspace: Workspace) -> None:
    make(workspace.root, {f"f{number}": "some text to find here\n" * 700 for number in range(5)})
    found: list[str] = []
    offset = 0
    while True:
        answer = await ask(workspace, SearchArguments(pattern="find", offset=offset))
        assert len(answer.text.encode()) <= 50 * 1024 + 200
        *page, note = answer.text.splitlines()
        if not note.startswith("[Hits"):
            found += [*page, note]
            break
        found += page
        assert note.startswith(
            f"[Hits {offset + 1}-{len(found)} of 3,500, newest first; cut at 50 KB. Go on with offset"
        )
        offset = len(found)
    assert found == [
        f"f{file}:{line}:14:some text to find here" for file in (4, 3, 2, 1, 0) for line in range(1, 701)
    ]
    past = await lines(workspace, SearchArguments(pattern="find", offset=3_500))
    assert past == ["no entries at offset 3500 (there are 3,500)"]


async def test_a_long_list_of_files_comes_in_pages(workspace: Workspace) -> None:
    make(workspace.root, {f"{'long-name-' * 10}{number:04}": "" for number in range(600)})
    first = await lines(workspace, SearchArguments(name="long"))
    offset = int(re.findall(r"Go on with offset (\d+)", first[-1])[0])
    assert offset == len(first) - 1
    rest = await lines(workspace, SearchArguments(name="long", offset=offset))
    assert [*first[:-1], *rest] == [f"{'long-name-' * 10}{number:04}" for number in reversed(range(600))]
    assert await lines(workspace, SearchArguments(name="long", offset=600)) == [
        "no entries at offset 600 (there are 600)"
    ]


async def test_a_long_line_is_cut_round_its_hit(workspace: Workspace) -> None:
    make(workspace.root, {"min.js": "a" * 5_000 + "needle" + "b" * 5_000})
    (hit,) = await lines(workspace, SearchArguments(pattern="needle"))
    assert hit == f"min.js:1:5001:…{'a' * 100}needle{'b' * 294}…"


async def test_one_hit_larger_than_a_page_is_cut(workspace: Workspace) -> None:
    make(workspace.root, {"f": "begin\n" + "x\n" * 40_000 + "end\n"})
    answer = await ask(workspace, SearchArguments(pattern="begin.*end", multiline=True))
    assert answer.text.startswith("f:1:1:begin\nf-2-x\n")
    assert len(answer.text) <= 50 * 1024


async def test_a_search_that_takes_too_long_says_so(workspace: Workspace, tmp_path: Path) -> None:
    make(workspace.root, {"a": "x\n"})
    hasty = Workspace(workspace.root, tmp_path, search_limit_seconds=0.0)
    for arguments in (SearchArguments(pattern="x"), SearchArguments(glob="*")):
        answer = await ask(hasty, arguments)
        assert "[Stopped after 0 s: this is only what was found until then." in answer.text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (SearchArguments(), "Nothing to search for: give pattern"),
        (SearchArguments(pattern="("), "unclosed group"),
        (SearchArguments(pattern="a(?=b)"), "look-around"),
        (SearchArguments(pattern="x", type="nope"), "unrecognized file type: nope. Give a glob instead"),
        (SearchArguments(pattern="x", glob="*.{py"), "never closes it"),
        (SearchArguments(pattern="x", path="nope"), "nope does not exist"),
    ],
)
async def test_what_can_not_be_searched_for_is_told(
    workspace: Workspace, arguments: SearchArguments, told: str
) -> None:
    make(workspace.root, {"a": "x\n"})
    answer = await ask(workspace, arguments)
    assert answer.failed
    assert told in answer.text


async def test_a_folder_named_like_a_systems_is_searched_below_another(workspace: Workspace) -> None:
    make(workspace.root, {"proc/a": "needle\n", "dev/b": "needle\n"})
    assert await lines(workspace, SearchArguments(pattern="needle", output="files")) == ["dev/b", "proc/a"]


async def test_a_link_in_a_circle_hinders_no_search(workspace: Workspace) -> None:
    make(workspace.root, {"a": "needle\n"})
    (workspace.root / "circle").symlink_to("circle")
    assert await lines(workspace, SearchArguments(pattern="needle")) == ["a:1:1:needle"]
    assert await lines(workspace, SearchArguments(glob="*")) == ["a"]


async def test_odd_names_stay_on_their_line_and_can_be_read(workspace: Workspace) -> None:
    make(workspace.root, {"two\nlines": "needle\n", os.fsdecode(b"caf\xe9"): "needle\n", "a:1:b": "needle\n"})
    found = await lines(workspace, SearchArguments(pattern="needle"))
    assert found == ["a:1:b:1:1:needle", '"caf\\351":1:1:needle', '"two\\nlines":1:1:needle']
    for path in await lines(workspace, SearchArguments(pattern="needle", output="files")):
        assert (await read.run(ReadArguments(path), workspace)).text == tag_line(1, b"needle")


@pytest.mark.unprivileged
async def test_what_could_not_be_read_is_named(workspace: Workspace) -> None:
    make(workspace.root, {"a": "x\n", "closed/f": "x\n", "secret": "x\n"})
    (workspace.root / "secret").chmod(0)
    (workspace.root / "closed").chmod(0)
    answer = await ask(workspace, SearchArguments(pattern="x"))
    (workspace.root / "closed").chmod(0o700)
    assert answer.text.splitlines() == [
        "a:1:1:x",
        "[Could not be read: folders closed/.]",
        f"[Could not be read: {workspace.root}/secret: Permission denied (os error 13).]",
    ]


_NAME = st.sampled_from(["a.py", "b.py", "A.md", "x y.py", "é.md", "d", "e", ".h.py"])
_PATH = st.lists(_NAME, min_size=1, max_size=3).map("/".join)
_LINE = st.one_of(
    st.sampled_from(["", "ab", "b", "A1", "é b", "a_ab"]), st.text(st.sampled_from("abAB é1_"), max_size=6)
)
_CONTENT = st.lists(st.tuples(_LINE, st.sampled_from(["\n", "\r\n"])), max_size=5).map(
    lambda lines: "".join(line + end for line, end in lines)
)
_PATTERN = st.sampled_from(["a", "ab", "^a", "b$", "é", "[ab]+1", "a|1", "a.", r"\bab\b", " "])
_GLOB = st.sampled_from([None, "*.py", "*.md", "a", "d/*", "**/e/**", "*.{py,md}"])


@given(
    st.dictionaries(_PATH, _CONTENT, max_size=6),
    st.one_of(st.none(), _PATTERN),
    _GLOB,
    st.booleans(),
    st.sampled_from([".", "d"]),
)
async def test_a_search_finds_what_a_plain_search_does(
    files: dict[str, str], pattern: str | None, glob: str | None, case_sensitive: bool, where: str
) -> None:
    if pattern is None and glob is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "d").mkdir()
        for path, content in files.items():
            if (
                not any((root / parent).is_file() for parent in Path(path).parents)
                and not (root / path).is_dir()
            ):
                make(root, {path: content})
        workspace = Workspace(root, root)
        arguments = SearchArguments(
            pattern=pattern,
            glob=glob,
            case_sensitive=case_sensitive,
            path=where,
            output="lines" if pattern else "files",
        )
        answer = await ask(workspace, arguments)
    expected: list[str] = []
    for path in _files_below(files, where):
        if glob is not None and not _fits(glob, path, where, case_sensitive):
            continue
        if pattern is None:
            expected.append(path)
            continue
        expression = re.compile(pattern, 0 if case_sensitive else re.IGNORECASE)
        for number, line in enumerate(re.split(r"\r?\n", files[path]), 1):
            match = expression.search(line)
            if match is not None and (line or number <= files[path].count("\n")):
                expected.append(f"{path}:{number}:{match.start() + 1}:{line}")
    if not expected:
        assert answer.text.startswith("no ")
    else:
        assert sorted(answer.text.splitlines()) == sorted(expected)


def _files_below(files: dict[str, str], where: str) -> list[str]:
    """The files that were made: of two paths, of which one would be the folder of the other, the first given stands."""
    made: list[str] = []
    for path in files:
        inside = any(other.startswith(f"{path}/") for other in made) or path == "d"
        if not inside and not any(path.startswith(f"{other}/") for other in made):
            made.append(path)
    return [path for path in made if where == "." or path.startswith(f"{where}/")]


def _fits(glob: str, path: str, where: str, case_sensitive: bool) -> bool:
    forms = {path, path.removeprefix(f"{where}/")}
    name = path.rpartition("/")[2]
    if not case_sensitive:
        forms, name = {form.lower() for form in forms}, name.lower()
    match glob:
        case "a":
            return "a" in name
        case "d/*":
            return any(form.startswith("d/") and form.count("/") == 1 for form in forms)
        case "**/e/**":
            return any("e" in form.split("/")[:-1] for form in forms)
        case "*.{py,md}":
            return name.endswith((".py", ".md"))
        case _:
            return fnmatchcase(name, glob)


_ODD = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.sampled_from(["a", "(", "[", "{", "\\", "\0", "\ud800", "*", "**", "!", "~x", "/dev"]),
)


@given(
    _ODD,
    _ODD,
    _ODD,
    st.one_of(_ODD, st.lists(st.sampled_from(["a", ".", "pipe", "nope", "../..", "x" * 5_000]), max_size=3)),
    _ODD,
    st.integers(-2, 10**6),
    st.one_of(st.none(), st.integers(-1, 10**9)),
    st.booleans(),
)
async def test_any_arguments_give_a_text(
    pattern: str | None,
    name: str | None,
    glob: str | None,
    path: str | list[str] | None,
    newer: str | None,
    offset: int,
    depth: int | None,
    flag: bool,
) -> None:
    if isinstance(path, str) and (path.startswith(("/", "~")) or ".." in path):
        path = "a"  # this machine's own folders are no part of a test
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "one" / "two"
        make(root, {"a": "a\n", "[": "(\n"})
        os.mkfifo(root / "pipe")
        workspace = Workspace(root, root)
        arguments = SearchArguments(
            pattern=pattern,
            name=name,
            glob=glob,
            path=path,
            newer=newer,
            offset=offset,
            depth=depth,
            multiline=flag,
            literal=flag,
            word=not flag,
            exclude=name,
            context=offset,
        )
        answer = await ask(workspace, arguments)
        assert answer.text
        answer.text.encode()
        search.title(arguments, workspace).encode()


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (SearchArguments(pattern="TODO"), 'search "TODO"'),
        (SearchArguments(pattern=["a", "b"], path="src"), 'search "a | b" in src'),
        (SearchArguments(name="q3 report", path=["x", "y"]), "search files named q3 report in x, y"),
        (SearchArguments(pattern="a\nb", glob=["*.py", "*.pyi"]), 'search "a b" in files named *.py, *.pyi'),
        (SearchArguments(newer="2d"), "search files"),
        (SearchArguments(pattern="\0\ud800"), 'search "␀\ufffd"'),
    ],
)
def test_the_title_says_what_is_looked_for(arguments: SearchArguments, title: str) -> None:
    assert search.title(arguments, Workspace(Path("/nowhere"), Path("/nowhere/logs"))) == title
