"""The commands that one shell text runs, as far as they can be read without a shell.

For judging, not for running: everything that might be a command of its own is one, also inside a substitution, a
subshell, a loop or the text that another shell is given. What an expansion hides is told as hidden, never guessed.
`worker.tools.shell_words` reads the other way: only what means the same without a shell. Pure; knows no rule.
"""

import re
from dataclasses import dataclass, field

from worker.policy.command_part import Part

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE = re.compile(r"\$[\w{@*#?$!-]")
_FD = re.compile(r"\d+\Z")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")
_GLOB = re.compile(r"[*?\[]")

# After these, the same command goes on.
_KEYWORDS = frozenset("if then elif else fi while until do done esac ! { } time coproc".split())

_DEEPEST = 12
"""Texts nested deeper than this are taken for hidden."""


def shell_parts(text: str) -> list[Part]:
    """Every command that `text` runs, those inside others after them."""
    reader = _Reader(text, 0)
    reader.read()
    return reader.parts


@dataclass
class _Draft:
    """A command as far as it has been read."""

    begin: int
    words: list[str | None] = field(default_factory=list[str | None])
    reads: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    is_bare: bool = True
    awaits_file: bool = False
    reads_file: bool = False


class _Reader:
    """Reads one text from its beginning to its end, once."""

    def __init__(self, text: str, depth: int) -> None:
        self.parts: list[Part] = []
        self._text = text
        self._depth = depth
        self._at = 0
        self._draft = _Draft(0)
        self._word: list[str] | None = None
        self._is_quoted = False
        self._is_expanded = False
        self._here: list[tuple[str, bool]] = []
        self._awaits_here = False

    def read(self) -> None:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_part()

    def _step(self, character: str) -> None:
        rest = self._text[self._at : self._at + 3]
        if character in " \t":
            self._end_word()
            self._at += 1
        elif character == "\n":
            self._end_part()
            self._at += 1
            self._skip_here_documents()
        elif rest.startswith(("<(", ">(")):
            self._grow("")
            self._is_expanded = True
            self._at += 2
            self._nest(self._bracketed())
        elif rest.startswith("&>"):
            self._redirect("&>")
        elif character in "<>":
            self._redirect(character)
        elif character in ";&|()":
            self._end_part()
            self._at += 1
        elif character == "#" and self._word is None:
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        elif character == "'":
            self._is_quoted = True
            self._grow(self._until("'"))
        elif character == '"':
            self._read_double_quotes()
        elif rest.startswith("\\\n"):
            self._at += 2  # the line goes on
        elif character == "\\":
            self._grow(self._text[self._at + 1 : self._at + 2])
            self._is_quoted = True
            self._at += 2
        elif character in "$`":
            self._read_expansion()
        else:
            self._grow(character)
            self._at += 1

    def _grow(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _until(self, quote: str) -> str:
        """What stands from the quote here to the next one; the rest of the text where there is none."""
        end = self._text.find(quote, self._at + 1)
        end = len(self._text) if end < 0 else end
        inside = self._text[self._at + 1 : end]
        self._at = end + 1
        return inside

    def _read_double_quotes(self) -> None:
        self._grow("")
        self._is_quoted = True
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            character = self._text[self._at]
            if character in "$`":
                self._read_expansion(quoted=True)
            elif character == "\\":
                following = self._text[self._at + 1 : self._at + 2]
                self._grow(
                    "" if following == "\n" else following if following in '$`"\\' else character + following
                )
                self._at += 2
            else:
                self._grow(character)
                self._at += 1
        self._at += 1

    def _read_expansion(self, *, quoted: bool = False) -> None:
        rest = self._text[self._at :]
        if rest[0] == "`":
            self._is_expanded = True
            self._grow("")
            inside = re.match(r"`((?:[^`\\]|\\.)*)`?", rest, re.DOTALL)
            assert inside is not None
            self._at += inside.end()
            self._nest(re.sub(r"\\([\\$`])", r"\1", inside[1]))
        elif rest.startswith("$("):
            self._is_expanded = True
            self._grow("")
            self._at += 2
            self._nest(self._bracketed())
        elif rest.startswith("${"):
            self._is_expanded = True
            self._grow("")
            inside = re.match(r"\$\{[^}]*\}?", rest)
            assert inside is not None
            self._at += inside.end()
            for nested in re.findall(r"\$\((.*)", inside[0], re.DOTALL) + re.findall(r"`([^`]*)", inside[0]):
                self._nest(nested)
        elif rest.startswith("$'") and not quoted:
            # Escapes of its own: what the word is can't be told without them.
            self._is_expanded = True
            inside = re.match(r"\$'(?:[^'\\]|\\.)*'?", rest, re.DOTALL)
            assert inside is not None
            self._grow("")
            self._at += inside.end()
        elif _VARIABLE.match(rest):
            self._is_expanded = True
            name = re.match(r"\$(?:\w+|.)", rest)
            assert name is not None
            self._grow("")
            self._at += name.end()
        else:
            self._grow("" if rest.startswith('$"') and not quoted else "$")
            self._at += 1

    def _bracketed(self) -> str:
        """What stands here up to the bracket that closes, which is passed; the rest where none does."""
        start, depth = self._at, 1
        quote = ""
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "\\" and quote != "'":
                self._at += 1
            elif quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if depth == 0:
                    break
            self._at += 1
        inside = self._text[start : self._at]
        self._at += 1
        return inside

    def _redirect(self, sign: str) -> None:
        if self._word is not None and not self._is_quoted and _FD.match("".join(self._word)):
            self._word = None  # the number of a descriptor, not a word
        self._end_word()
        found = re.match(r"&>>?|<<<|<<-?|<>|>>|>\||[<>]&|[<>]", self._text[self._at :])
        assert found is not None, sign
        self._at += found.end()
        operator = found[0]
        if operator in ("<<", "<<-"):
            self._awaits_here = True
        else:
            self._draft.awaits_file = True
            self._draft.reads_file = operator in ("<", "<<<", "<&")

    def _end_word(self) -> None:
        if self._word is None:
            return
        word = "".join(self._word)
        quoted, expanded = self._is_quoted, self._is_expanded
        self._word, self._is_quoted, self._is_expanded = None, False, False
        draft = self._draft
        # What is written in braces is several words; a program that is found by a glob is not known.
        expanded |= not quoted and (
            bool(_BRACES.search(word)) or (not draft.words and bool(_GLOB.search(word)))
        )
        if self._awaits_here:
            self._awaits_here = False
            self._here.append((word, quoted))
        elif draft.awaits_file:
            self._end_redirection(word, expanded=expanded)
        elif not draft.words and not quoted and not expanded and word in _KEYWORDS:
            pass
        elif not draft.words and _ASSIGNMENT.match(word):
            draft.is_bare = False
        else:
            draft.words.append(None if expanded else word)

    def _end_redirection(self, word: str, *, expanded: bool) -> None:
        draft = self._draft
        draft.awaits_file = False
        if expanded or not (draft.reads_file or word == "/dev/null" or _FD.match(word) or word == "-"):
            draft.is_bare = False
        if not expanded and not _FD.match(word) and word != "-":
            (draft.reads if draft.reads_file else draft.writes).append(word)

    def _end_part(self) -> None:
        self._end_word()
        draft, self._draft = self._draft, _Draft(self._at + 1)
        if not draft.words and not draft.reads and draft.is_bare:
            return
        text = self._text[draft.begin : self._at].strip()
        part = Part(text, tuple(draft.words), tuple(draft.reads), tuple(draft.writes), draft.is_bare)
        self.parts.append(part)
        if part.runs_others:
            for word in part.words[1:]:
                if word is not None and re.search(r"[\s;&|$`]", word):
                    self._nest(word)

    def _skip_here_documents(self) -> None:
        for end, is_literal in self._here:
            found = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(self._text, self._at)
            body = self._text[self._at : found.start() if found else len(self._text)]
            self._at = min(len(self._text), found.end() + 1) if found else len(self._text)
            fed = self.parts[-1] if self.parts else None
            if fed is not None and fed.runs_others:
                self._nest(body)  # a shell that reads its commands from here
            elif not is_literal:
                for nested in re.findall(r"\$\(([^)]*)|`([^`]*)", body):
                    self._nest("".join(nested))
        self._here.clear()

    def _nest(self, text: str) -> None:
        if self._depth >= _DEEPEST:
            self.parts.append(Part(text, (None,)))
            return
        inner = _Reader(text, self._depth + 1)
        inner.read()
        self.parts.extend(inner.parts)
