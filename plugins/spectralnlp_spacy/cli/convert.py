"""Command ``spectralnlp convert``: convert annotated data to spaCy's binary format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spacy.tokens import Doc

FIELDS = ("tag", "pos", "ents", "spans")
TASKS = {"trees": "parsing", "tags": "tagging", "texts": "intents"}


def convert(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Files (also .gz), folders or globs.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The .spacy file to write.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="Kind of data: trees, tags or texts; auto detects it from the first file."
        ),
    ] = "auto",
    reader: Annotated[
        str, typer.Option(metavar="NAME", help="Reader of the files, such as ptb, conllu or columns.")
    ] = "auto",
    column: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Column with the tags, for reader columns.")
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where to write tags: tag, pos, ents or spans.")
    ] = None,
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the documents.")] = "en",
    sentences: Annotated[
        int, typer.Option(min=1, max=10**9, metavar="N", help="Sentences per document.")
    ] = 1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip and report what cannot be read.")
    ] = False,
) -> None:
    """Convert treebanks, CoNLL files and labelled texts (label, tab, text) for `spacy train`."""
    from spectralnlp import registry
    from spectralnlp.cli.console import note, progress
    from spectralnlp.cli.options import Skipped
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp_spacy.documents import write_docs

    files = expand_inputs(rereadable(inputs))
    kind = _recognise(files[0]) if kind == "auto" else kind
    if kind not in TASKS:
        raise ConfigError(f"no kind {kind!r}", hint=f"choose from auto, {', '.join(TASKS)}")
    if field not in (None, *FIELDS):
        raise ConfigError(f"no field {field!r}", hint=f"choose from {', '.join(FIELDS)}")
    task = registry.tasks.get(TASKS[kind])()
    corpus = task.read(files, reader=reader, on_bad=Skipped(note) if skip_bad else None)
    with progress("converting"):
        n_docs = write_docs(_documents(kind, corpus, lang, sentences, column, field), output)
    print(f"{output}: {n_docs:,} documents")


def _documents(
    kind: str, corpus: Iterable[Any], lang: str, sentences: int, column: int | None, field: Any
) -> Iterable[Doc]:
    import spacy

    from spectralnlp_spacy.documents import docs_of_tags, docs_of_texts, docs_of_trees

    try:
        nlp = spacy.blank(lang)
    except ImportError as error:
        raise ConfigError(f"spaCy knows no language {lang!r}", hint="give a code such as en or fr") from error
    if kind == "trees":
        return docs_of_trees(corpus, nlp.vocab, sentences=sentences)
    if kind == "texts":
        return docs_of_texts(corpus, nlp)
    return docs_of_tags(corpus, nlp.vocab, column=column, field=field, sentences=sentences)


def _recognise(path: Path | str) -> str:
    """Return the kind of data in a file (trees, tags or texts), from its first non-empty line."""
    from spectralnlp.runtime import open_text

    with open_text(path, "iso-8859-1") as lines:  # accepts any bytes; only ASCII characters matter here
        first = next((line for line in lines if line.strip()), "")
    label, tab, text = first.partition("\t")
    if first.lstrip().startswith("("):
        return "trees"
    return "texts" if tab and " " in text.strip() and "\t" not in text and label.strip() else "tags"
