"""Which files a search is about, by their names: words, globs, and what is excluded.

The filter decides. `type_globs` and `exclude_globs` tell ripgrep as much of it as it understands in the same way, so
that it need not open what the filter would drop. A path is told relative to where the search began, or in another form
that the model may have meant; it is wanted when one of the forms is. Pure: paths in, yes or no out.
"""

import re
from collections.abc import Callable, Sequence

from worker.tools.globs import expand_alternatives, glob_regex, has_wildcards


class NameFilter:
    """What the wanted files are called: they have every word, fit one of the globs, and are not excluded.

    Raises:
        BadGlob: on being made, when a glob is none.
    """

    def __init__(
        self,
        words: Sequence[str] = (),
        globs: Sequence[str] = (),
        excludes: Sequence[str] = (),
        *,
        case_sensitive: bool = False,
    ) -> None:
        self.case_sensitive = case_sensitive
        unwanted = [*excludes, *(glob[1:] for glob in globs if glob.startswith("!"))]
        self._words = [self._fold(word) for word in words]
        self._globs = [_plain(glob) for glob in globs if not glob.startswith("!")]
        self._excludes = [glob for glob in map(_plain_exclude, unwanted) if glob]
        self._fits = self._either([(glob, _source(glob)) for glob in self._globs])
        self._leaves_out = self._either(
            [(glob, glob_regex(glob.removeprefix("/"))) for glob in self._excludes]
        )

    @property
    def wants_everything(self) -> bool:
        """Whether any name will do."""
        return not (self._words or self._globs or self._excludes)

    @property
    def has_wishes(self) -> bool:
        """Whether words or globs say which names are wanted."""
        return bool(self._words or self._globs)

    def wants(self, *forms: str) -> bool:
        """Whether the file with this path is wanted."""
        return self.fits(*forms) and not self.leaves_out(*forms)

    def sieve(self, paths: Sequence[bytes]) -> list[bytes]:
        """`paths` without most of those that can't be wanted, at a tenth of what asking for each costs."""
        words = [word.encode() for word in self._words if word.isascii()]
        if not words:
            return list(paths)
        # What is no ASCII may fold to letters that it does not hold.
        folded = paths if self.case_sensitive else [path.lower() for path in paths]
        pairs = zip(paths, folded, strict=True)
        for word in words:
            pairs = [pair for pair in pairs if word in pair[1] or not pair[1].isascii()]
        return [path for path, _ in pairs]

    def fits(self, *forms: str) -> bool:
        """Whether words and globs fit; whether it is excluded is not asked."""
        name = forms[0].rpartition("/")[2]
        if self._words:
            folded = self._fold(name)
            if not all(word in folded for word in self._words):
                return False
        return not self._globs or self._fits(name, *forms)

    def leaves_out(self, *forms: str) -> bool:
        """Whether the file or folder with this path is excluded, or stands in a folder that is."""
        if not self._excludes:
            return False
        for form in forms:
            parts = form.split("/")
            for end in range(1, len(parts) + 1):
                if self._leaves_out(parts[end - 1], "/".join(parts[:end])):
                    return True
        return False

    def type_globs(self) -> list[str]:
        """Globs for a file's last part, in ripgrep's words, one of which fits every file that is wanted; or none."""
        if self._globs:
            wide = [_last_part(glob) for whole in self._globs for glob in expand_alternatives(whole)]
            return [] if None in wide else [self._widened(glob) for glob in wide if glob is not None]
        longest = max(self._words, key=len, default="")
        return [self._widened(f"*{longest}*")] if longest.isascii() and longest else []

    def exclude_globs(self) -> list[str]:
        """The excluded names that ripgrep can leave out by itself, folders with all that is in them."""
        return [glob for glob in self._excludes if _SIMPLE.fullmatch(glob)]

    def _fold(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()

    def _either(self, globs: Sequence[tuple[str, str]]) -> Callable[..., bool]:
        """Asks whether one of several globs fits a file's last part, given first, or one of the forms of its path."""
        by_name = self._pattern([source for glob, source in globs if "/" not in glob])
        by_path = self._pattern([source for glob, source in globs if "/" in glob])

        def fits(name: str, *forms: str) -> bool:
            if by_name is not None and by_name.fullmatch(name):
                return True
            return by_path is not None and any(by_path.fullmatch(form) for form in forms)

        return fits

    def _pattern(self, sources: Sequence[str]) -> "re.Pattern[str] | None":
        case = 0 if self.case_sensitive else re.IGNORECASE
        either = "|".join(f"(?:{source})" for source in sources)
        return re.compile(either, re.DOTALL | case) if sources else None

    def _widened(self, glob: str) -> str:
        """A glob for ripgrep that fits at least what `glob` does: what it might read otherwise becomes a star."""
        parts: list[str] = []
        for character in glob:
            if character.isascii() and character.isalpha() and not self.case_sensitive:
                parts.append(f"[{character.lower()}{character.upper()}]")
            elif character.isascii() and (character.isalnum() or character in "._- +=@#%"):
                parts.append(character)
            elif parts[-1:] != ["*"]:
                parts.append("*")
        return "".join(parts)


_SIMPLE = re.compile(r"[A-Za-z0-9._*\-]+")


def _plain(glob: str) -> str:
    glob = glob.strip().removeprefix("./")
    return f"{glob}**" if glob.endswith("/") else glob


def _source(glob: str) -> str:
    """The expression for a wanted glob; one without wildcards may stand anywhere in the name, or in the path."""
    return glob_regex(glob.removeprefix("/")) if has_wildcards(glob) else f".*{re.escape(glob)}.*"


def _plain_exclude(glob: str) -> str:
    """What is excluded, as the name or the path of a file or folder: without a star for all that is in it."""
    glob = glob.strip().removeprefix("./")
    while glob.endswith(("/", "/*", "/**")):
        glob = glob.rpartition("/")[0]
    start = re.match(r"(?:\*\*?/)*", glob)
    rest = glob[start.end() if start else 0 :]
    # `*/` before a path is how find says "at any depth".
    return f"**/{rest}" if rest != glob and "/" in rest else rest


def _last_part(glob: str) -> str | None:
    """What the last part of a path that fits `glob` is like, as a glob without sets; None where that is not said."""
    last = glob.rpartition("/")[2]
    if not has_wildcards(glob):
        return None if "/" in glob else f"*{last}*"
    last = re.sub(r"\[[A-Za-z0-9]+\]", "?", last)
    return None if not last or "**" in last or re.search(r"[\[\]{}\\]", last) else last
