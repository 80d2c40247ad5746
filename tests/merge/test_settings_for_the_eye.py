"""Real git. What a person has configured for their own eyes changes nothing of what is read from git."""

from merge.merging.conflict_text import open_conflict
from merge.merging.line_diff import find_edits, unified_diff
from merge.merging.present import StoredTree
from merge.merging.three_way import Clashed, Merged, merge_trees
from merge.snapshots.snapshot import take_snapshot
from merge.store.objects import read_entry
from merge.store.trees import RepoPath
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import Place

# Each of them changes what `git diff`, `git status` or a merge says when nobody holds against it.
BENDING = {
    "diff.interHunkContext": "9",
    "diff.context": "0",
    "diff.algorithm": "patience",
    "diff.indentHeuristic": "false",
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.renames": "false",
    "diff.renameLimit": "1",
    "diff.orderFile": "no-such-file",
    "diff.external": "false",
    "diff.text.textconv": "false",
    "diff.text.command": "false",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "all",
    "diff.relative": "true",
    "diff.suppressBlankEmpty": "true",
    "diff.wordRegex": ".",
    "diff.wsErrorHighlight": "all",
    "diff.colorMoved": "zebra",
    "diff.statGraphWidth": "3",
    "color.ui": "always",
    "color.diff": "always",
    "color.status": "always",
    "core.abbrev": "7",
    "core.pager": "false",
    "core.quotePath": "true",
    "core.whitespace": "tab-in-indent",
    "column.ui": "always",
    "status.renames": "copies",
    "status.relativePaths": "false",
    "status.showStash": "true",
    "status.short": "true",
    "status.showUntrackedFiles": "no",
    "status.submoduleSummary": "true",
    "merge.renames": "false",
    "merge.renameLimit": "1",
    "merge.directoryRenames": "false",
    "merge.conflictStyle": "zdiff3",
    "merge.verbosity": "5",
    "i18n.logOutputEncoding": "latin1",
    "log.showSignature": "true",
    "submodule.recurse": "true",
}


def everything_read(place: Place) -> tuple[object, ...]:
    """What is read of git in all the ways that merge, review and snapshots do."""
    repository = place.repository
    base = head_tree(place)
    lines = [b"line %d\n" % number for number in range(1, 21)]
    far = b"".join(b"ours\n" if number in (2, 9) else line for number, line in enumerate(lines))
    near = b"".join(b"theirs\n" if number in (2, 13) else line for number, line in enumerate(lines))
    moved = b"".join([*lines, b"\n", b"caf\xc3\xa9\n"])
    ours = result_of(
        place, base, {"src/app.py": far, "src/deep/er/leaf.txt": None, "src/deep/new": b"leaf\n"}
    )
    theirs = result_of(
        place,
        base,
        {"src/app.py": near, "README.md": None, "src/deep/er/leaf.txt": b"leaf\n\n", "docs/caf\xe9": moved},
    )
    clash = merge_trees(repository, base, StoredTree(repository, ours), theirs)
    assert isinstance(clash, Clashed)
    conflict = clash.conflicts[0]
    clean = merge_trees(
        repository,
        base,
        StoredTree(repository, result_of(place, base, {"src/app.py": None, "lib/app.py": b"".join(lines)})),
        result_of(place, base, {"src/app.py": near, "src/deep/er/leaf.txt": b"more\n"}),
    )
    assert isinstance(clean, Merged)
    versions = [
        (
            read_entry(repository, tree, RepoPath(b"src/app.py")),
            read_entry(repository, theirs, RepoPath(b"src/app.py")),
        )
        for tree in (base, ours)
    ]
    edits = find_edits(
        repository,
        [(before.object if before else None, after.object if after else None) for before, after in versions],
    )
    return (
        clash,
        open_conflict(repository, conflict),
        clean,
        edits,
        unified_diff(repository, base, theirs),
        unified_diff(repository, base, ours),
        take_snapshot(repository),
    )


def test_no_such_setting_changes_what_is_read(dirty_place: Place) -> None:
    place = dirty_place
    place.write(".git/info/attributes", "*.py diff=text\n")
    plain = everything_read(place)
    for key, value in BENDING.items():
        place.git("config", key, value)
    for number, (bent, straight) in enumerate(zip(everything_read(place), plain, strict=True)):
        assert bent == straight, number
