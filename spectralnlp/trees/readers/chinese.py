"""Reader for the Penn Chinese Treebank (``chtb_0001.fid``, ``.nw``, ``.bn``, …): bracketed trees in SGML.

    <DOC>
    <DOCID> SAMPLE_1 </DOCID>
    <BODY>
    <S ID=1>
    ( (IP (NP-SBJ (-NONE- *pro*)) (VP (VV 下雨) (AS 了)) (PU 。)) )
    </S>
    </BODY>
    </DOC>

Source: N. Xue, F. Xia, F.-D. Chiou and M. Palmer (2005), The Penn Chinese TreeBank: phrase structure
annotation of a large corpus, Natural Language Engineering 11(2); the bracketing guidelines with its releases.

Markup and text between sentences (headers, dates) are skipped. Traces, function tags (``NP-PN-SBJ``) and the
unlabelled outer bracket are as in the Penn Treebank. Releases before the sixth are encoded in GB 2312, which
the encoding ``gb18030`` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spectralnlp.trees.readers.reader import TreeReader

_MARKUP = re.compile(r"\s*</?[A-Za-z][^<>]*>")
_BEGIN = re.compile(r"\s*<(?:S|SU|SEG|SEGMENT|SEN)\b[^<>]*>\s*(.*)", re.IGNORECASE)
_END = re.compile(r"(.*?)</(?:S|SU|SEG|SEGMENT|SEN)>\s*$", re.IGNORECASE)


def _lines_of_trees(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file, with an empty line in place of each line that is not part of a tree.

    Trees are between sentence tags (``<S ID=1>``). In a file without sentence tags, trees start at the first
    line that begins with a bracket, and only lines of markup are replaced after it.
    """
    wrapped = inside = begun = False
    for line in lines:
        text = line
        if begin := _BEGIN.match(text):
            wrapped = inside = True
            text = begin[1]
        if inside and (end := _END.match(text)):
            inside = False
            yield end[1]
            continue
        begun = begun or text.lstrip().startswith("(")
        if inside or (begun and not wrapped and not _MARKUP.match(text)):
            yield text
        else:
            yield ""


def _looks_like_chinese(head: str) -> bool:
    beginning = head.lstrip()
    in_wrapper = re.search(r"<S\s+ID\s*=[^<>]*>\s*\(", beginning, re.IGNORECASE) is not None
    return beginning.startswith("<") and (in_wrapper or re.match(r"<DOC\b[^<>]*>", beginning) is not None)


CHINESE = TreeReader("utf-8", _looks_like_chinese, select=_lines_of_trees)
