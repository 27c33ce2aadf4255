"""Reader for NEGRA export files, formats 3 and 4: NEGRA, TIGER, TüBa-D/Z and similar treebanks.

    #FORMAT 4
    #BOS 1 0 1300000000 1
    Boote   Boot    NN      Nom.Pl  NK      500
    sinken  sinken  VVFIN   3.Pl    HD      501
    .       --      $.      --      --      0
    #500    --      NP      --      SB      501
    #501    --      S       --      --      0
    #EOS 1

Source: T. Brants (1997), The NeGra export format for annotated corpora (version 3), CLAUS report 98, Saarland
University; format 4, with a column of lemmas, is used by TIGER.

Each line is a node, with fields separated by tabs: word (``#500`` for a phrase), lemma (format 4 only), tag,
morphology, function, parent; then pairs for secondary edges; then ``%%`` and a comment. Parent 0 is the
virtual root. Files without ``#FORMAT`` are in format 3. Tables between ``#BOT`` and ``#EOT`` are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad
from spectralnlp.trees.readers.graph_reader import GraphReader
from spectralnlp.trees.readers.sentence_graph import GraphBuilder, SentenceGraph

_PHRASE = re.compile(r"#([5-9]\d\d)$")
_TAG_COLUMN = {"3": 1, "4": 2}
_BLANKS = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"[ \t]%%.*")
_TABS = re.compile(r"[ ]*\t[ \t]*")


def read_export(lines: Iterable[str], path: str | Path | None, report: OnBad) -> Iterator[SentenceGraph]:
    """Read the sentences of an export file.

    Args:
        lines: lines of the file, without line ends.
        path: path of the file, for error messages.
        report: called with the error of each invalid sentence, which is skipped.
    """
    return _Export(path, report).sentences(lines)


class _Export:
    """Parser of an export file, line by line.

    Its state is the sentence being read, and whether the rest of an invalid sentence is being skipped.
    """

    def __init__(self, path: str | Path | None, report: OnBad) -> None:
        self.path, self.report = path, report
        self.tag_column = _TAG_COLUMN["3"]
        self.n_sentences = 0
        self.name = ""  # of the open sentence
        self.open: GraphBuilder | None = None
        self.skipping = False  # the rest of a bad sentence, or of lines outside any
        self.in_table = False

    def sentences(self, lines: Iterable[str]) -> Iterator[SentenceGraph]:
        for number, line in enumerate(lines, 1):
            try:
                graph = self.take(line, number)
            except InputError as error:
                self.open, self.skipping = None, True
                self.report(error)
            else:
                if graph is not None:
                    yield graph
        if self.open is not None:
            self.report(self.unclosed("by the end of the file"))

    def take(self, line: str, number: int) -> SentenceGraph | None:
        """Process a line; return the sentence if the line ends one, else None."""
        command, _, rest = line.partition(" ") if line.startswith("#") else ("", "", "")
        command, rest = command.rstrip(), rest.strip()
        if self.in_table:
            self.in_table = command != "#EOT"
        elif command == "#BOS":
            self.begin(rest, number)
        elif command == "#EOS":
            return self.end(rest, number)
        elif self.open is not None:
            self.add(self.open, line, number)
        elif command == "#FORMAT":
            if rest not in _TAG_COLUMN:
                raise self.bad(f"export format {rest!r}", number, "formats 3 and 4 can be read")
            self.tag_column = _TAG_COLUMN[rest]
        elif command == "#BOT":
            self.in_table = True
        elif line.strip() and not line.startswith("%%") and not self.skipping:
            raise self.bad("a line outside sentences", number, "is this a file in NEGRA export format?")
        return None

    def begin(self, rest: str, number: int) -> None:
        if self.open is not None:
            unclosed, self.open = self.unclosed(f"before that of line {number}"), None
            self.report(unclosed)
        self.n_sentences += 1
        self.skipping = False
        self.name = rest.partition(" ")[0]
        self.open = GraphBuilder(self.path, self.n_sentences, number)

    def end(self, rest: str, number: int) -> SentenceGraph | None:
        builder, self.open = self.open, None
        if builder is None:
            if self.skipping:
                self.skipping = False
                return None
            raise self.bad(f"an #EOS {rest} that ends nothing", number, "remove it")
        if rest.partition(" ")[0] != self.name:
            raise builder.bad(f"#BOS {self.name} ends with #EOS {rest}", number, "give both one number")
        return builder.build(root="0")

    def add(self, builder: GraphBuilder, line: str, number: int) -> None:
        """Add a node, described by one line of the file, to the sentence that ``builder`` collects."""
        if not line.strip() or line.startswith("%%"):
            return
        fields = (_TABS if "\t" in line else _BLANKS).split(_COMMENT.sub("", line).strip())
        tag, parent = self.tag_column, self.tag_column + 3
        if len(fields) <= parent:
            what = f"{len(fields)} columns, {parent + 1} are the least"
            raise builder.bad(what, number, "give word, (lemma in format 4,) tag, morphology, edge, parent")
        if not fields[parent].isdecimal():
            raise builder.bad(f"{fields[parent]!r} is no number of a parent", number, "is the format right?")
        if phrase := _PHRASE.match(fields[0]):
            name = phrase[1]
            builder.add_phrase(name, fields[tag], number)
        else:
            name = f"of word {len(builder.words) + 1}"
            builder.add_word(name, fields[0], fields[tag], number)
        builder.hang(name, fields[parent], fields[tag + 2], number)

    def unclosed(self, until: str) -> InputError:
        line = 0 if self.open is None else self.open.line
        return self.bad(f"#BOS {self.name} has no #EOS {until}", line, "add it")

    def bad(self, what: str, line: int, hint: str) -> InputError:
        return InputError(what, path=self.path, line=line, sentence=self.n_sentences or None, hint=hint)


def _looks_like_export(head: str) -> bool:
    return re.match(r"(?:\s|%%[^\n]*\n)*#(?:FORMAT \d|BOT |BOS \S)", head) is not None


EXPORT = GraphReader("utf-8", _looks_like_export, read_export)
