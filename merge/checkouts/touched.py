"""The small world of what a child touched in an overlay: a folder, a tree and an index that hold those paths alone.

Whatever a child did is in the upper layer. From that a folder is made with just the files it touched, and a git
directory whose HEAD has just what the base has at those paths and the ignore rules and attributes that rule over
them. Git, asked about this world, answers by its own rules as it would about the whole, at the cost of what changed.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from merge.checkouts.layers import Layers, Leaf, MergedFolder, is_whiteout
from merge.files.removal import remove_tree
from merge.files.working_files import folders_above, repo_path
from merge.snapshots.never_lands import is_in_cache
from merge.store.commits import write_commit
from merge.store.git import GitPlace, run_git
from merge.store.objects import edit_tree, list_tree, read_blobs, read_entries
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, Entry, ObjectId, RepoPath

_RULES = (b".gitignore", b".gitattributes")


@dataclass(frozen=True)
class SmallWorld:
    """Where the small world is: its files, its git directory, and the commit that its HEAD is at."""

    files: Path
    git_dir: Path
    commit: ObjectId


@contextmanager
def open_small_world(
    repository: Repository, twin: Path, base: ObjectId, layers: Layers, shared: Iterable[str]
) -> Generator[SmallWorld]:
    """The small world of what the upper layer holds, for as long as the block lasts.

    `base` is the tree that the lower layers show, `twin` a git directory whose settings hold; `shared` are top-level
    names that are not looked into. Nothing in the layers is changed, but links are made to files of the upper one.

    Raises:
        OSError: when a layer can't be read.
        GitFailed: when git can't write an object.
    """
    # Inside the twin, which is on the filesystem of the upper layer: links need that.
    above = Path(tempfile.mkdtemp(prefix="reading-", dir=twin))
    try:
        files = above / "files"
        files.mkdir()
        look = _Look(layers, os.fsencode(files), tuple(shared))
        look.walk(RepoPath(b""), layers.top)
        tree = _tree_of_touched(repository, base, look)
        commit = write_commit(repository, tree, None, "What a child touched, as it was", seconds=0)
        git_dir = above / "git"
        _lay_out(twin, git_dir, commit)
        place = GitPlace(files, git_dir=git_dir, work_tree=files, objects=repository.common_dir / "objects")
        run_git(place, "read-tree", commit)
        yield SmallWorld(files, git_dir, commit)
    finally:
        remove_tree(above)


@dataclass
class _Look:
    """A walk through the upper layer.

    Of `whole` paths the base's entry counts, and all below it; of `merged` ones its own, should it be no folder.
    `folders` are those that were walked, `replaced` those of them that show nothing of the base.
    """

    layers: Layers
    files: bytes
    shared: tuple[str, ...]
    whole: set[RepoPath] = field(default_factory=set[RepoPath])
    merged: set[RepoPath] = field(default_factory=set[RepoPath])
    replaced: set[RepoPath] = field(default_factory=set[RepoPath])
    folders: list[RepoPath] = field(default_factory=list[RepoPath])

    def walk(self, path: RepoPath, folder: MergedFolder) -> None:
        """Bring in what the upper layer has in one folder; of the lower ones only what was moved here."""
        self.folders.append(path)
        upper = folder.parts[0][1]
        try:
            names = sorted(os.listdir(upper))
        except PermissionError:
            self._close(path)
            return
        for name in names:
            below = repo_path(path, name)
            if self._is_passed_over(below):
                continue
            try:
                if is_whiteout(os.lstat(upper + b"/" + name)):
                    self.whole.add(below)
                    continue
                found = self.layers.look(folder, name)
                if isinstance(found, MergedFolder):
                    self._enter(below, found)
                elif found is not None:
                    self.whole.add(below)
                    self._bring(below, found)
            except FileNotFoundError:
                continue  # its child is at work in there

    def _enter(self, path: RepoPath, folder: MergedFolder) -> None:
        os.mkdir(self._place(path))
        is_moved = self.layers.redirect(folder.real) is not None
        if is_moved or folder.is_new:
            self.whole.add(path)
            self.replaced.add(path)
        else:
            self.merged.add(path)
        if is_moved:
            self._bring_all(path, folder)
        else:
            self.walk(path, folder)

    def _bring_all(self, path: RepoPath, folder: MergedFolder) -> None:
        """Bring in a folder that was moved, with what the lower layers have in it: all of it is new here."""
        for name in self.layers.names(folder):
            below = repo_path(path, name)
            found = self.layers.look(folder, name)
            if isinstance(found, MergedFolder):
                os.mkdir(self._place(below))
                self._bring_all(below, found)
            elif found is not None:
                self._bring(below, found)

    def _bring(self, path: RepoPath, leaf: Leaf) -> None:
        place, mode = self._place(path), leaf.status.st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(leaf.real), place)
        elif not stat.S_ISREG(mode):
            os.mkfifo(place)  # something special is as good as any other to git, which takes none
        elif leaf.layer == 0:
            try:
                os.link(leaf.real, place, follow_symlinks=False)
            except OSError:
                shutil.copy2(leaf.real, place, follow_symlinks=False)
        else:
            # Never a link: the lower layers' files are others' as well, and a link would change their dates.
            shutil.copy2(leaf.real, place, follow_symlinks=False)

    def _close(self, path: RepoPath) -> None:
        """A folder that its child closed: git shall find it so, and know what the base has in it."""
        self.whole.add(path)
        os.chmod(self._place(path), 0)

    def _is_passed_over(self, path: RepoPath) -> bool:
        return path == b".git" or is_in_cache(path, self.shared)

    def _place(self, path: RepoPath) -> bytes:
        return self.files + b"/" + path


def _tree_of_touched(repository: Repository, base: ObjectId, look: _Look) -> ObjectId:
    """A tree of what the base has at the touched paths, and of the rules above them, which are written as well."""
    kept: dict[RepoPath, Entry] = {}
    for path, entry in read_entries(repository, base, look.whole | look.merged).items():
        if entry is None:
            continue
        if not entry.is_folder:
            kept[path] = entry
        elif path in look.whole:
            for below, inner in list_tree(repository, entry.object).items():
                kept[repo_path(path, below)] = inner
    rules = _rules_above(repository, base, look)
    contents = read_blobs(repository, [entry.object for entry in rules.values()])
    for (path, entry), content in zip(rules.items(), contents, strict=True):
        place = look.files + b"/" + path
        with open(place, "xb") as written:
            written.write(content)
        os.chmod(place, 0o755 if entry.mode == EXECUTABLE else 0o644)
    return edit_tree(repository, None, (kept | rules).items())


def _rules_above(repository: Repository, base: ObjectId, look: _Look) -> dict[RepoPath, Entry]:
    """The base's `.gitignore` and `.gitattributes` that rule over something touched and are untouched themselves."""
    candidates = [
        repo_path(folder, name)
        for folder in look.folders
        if folder not in look.replaced and look.replaced.isdisjoint(folders_above(folder))
        for name in _RULES
    ]
    entries = read_entries(repository, base, [path for path in candidates if path not in look.whole])
    return {
        path: entry
        for path, entry in entries.items()
        if entry is not None and entry.mode in (FILE, EXECUTABLE)
    }


def _lay_out(twin: Path, git_dir: Path, commit: ObjectId) -> None:
    """A git directory with the twin's settings and objects, at a commit of its own."""
    git_dir.mkdir()
    for folder in ("objects", "refs", "info"):
        (git_dir / folder).mkdir()
    shutil.copytree(twin / "info", git_dir / "info", dirs_exist_ok=True)
    shutil.copytree(twin / "objects/info", git_dir / "objects/info")
    for name in ("config", "shallow"):
        if (twin / name).exists():
            shutil.copyfile(twin / name, git_dir / name)
    (git_dir / "HEAD").write_text(f"{commit}\n")
