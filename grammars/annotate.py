"""Write CoNLL-U: a spaCy pipeline's tags, heads and relations of the tokens of treebanks or other text.

Usage: python grammars/annotate.py PIPELINE INPUT… > FILE.conllu

PIPELINE is a spaCy package or folder, such as ``en_core_web_sm``; an INPUT is a treebank's file or folder,
or a file ``*.txt`` or ``*.txt.gz`` with one sentence a line, blanks between its tokens. Each sentence is a
document of its own; brackets and quotes are given to the pipeline as plain characters, and written so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import spacy
from spacy.tokens import Doc

from spectralnlp.runtime import expand_inputs, open_text
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.conventions import Conventions

_PENN = Conventions()
_TOGETHER = 256


def sentences(inputs: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words of each sentence, brackets and quotes as plain characters."""
    for name in inputs:
        if name.endswith((".txt", ".txt.gz")):
            for file in expand_inputs([name]):
                with open_text(file) as lines:
                    yield from (list(map(_PENN.plain, line.split())) for line in lines if line.strip())
        else:
            trees = ParsingTask().read([name], on_bad=lambda error: print(error, file=sys.stderr))
            yield from (list(map(_PENN.plain, tree.words())) for tree in trees)


def conllu(doc: Doc) -> str:
    """Return a document as one sentence of CoNLL-U; a token that heads itself is a root."""
    rows = []
    for token in doc:
        head = 0 if token.head.i == token.i else token.head.i + 1
        rows.append(f"{token.i + 1}\t{token.text}\t_\t_\t{token.tag_}\t_\t{head}\t{token.dep_}\t_\t_\n")
    return "".join(rows)


def main() -> None:
    """Write the annotated sentences of the inputs to standard output."""
    nlp = spacy.load(sys.argv[1], disable=["ner", "lemmatizer", "attribute_ruler"])
    print(f"# generator = {nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}")
    docs = (Doc(nlp.vocab, words=words) for words in sentences(sys.argv[2:]))
    for doc in nlp.pipe(docs, batch_size=_TOGETHER):
        print(conllu(doc))


if __name__ == "__main__":
    main()
