"""Pinned section: outputs of commands that process trees without a model, and CoNLL-U output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .items import Item, Section, command, files_of, plain, scratch, succeed

_DEV, _TRAIN, _SPANISH = (f"corpora/treebank/{name}.mrg" for name in ("dev", "train", "spanish"))
_FORMATS = (
    *(
        "chinese.fid",
        "german.export",
        "german.negra",
        "german.spmrl.ptb",
        "german.tiger.xml",
        "icelandic.psd",
    ),
)
_TOKENS, _TEXT, _TAGGED = (f"corpora/text/{name}.txt" for name in ("tokenized", "lighthouse", "tagged"))

_PATTERNS = (
    *("NP < PP", "S << NN", "NP >> VP", "NP <<, DT", "VP <- NP", "NP $ VP", "NP .. VP", "NN . VBZ"),
    *("NP <2 NN", "NP <: NNS", "NP <<: /s$/", "NP $+ VP", "VP <# VBZ", "NP <<# NNS", "S < (NP $++ VP)"),
    *("/^VB/", "NP|VP < __", "!NP < NN", "NP !< DT", "NP [< NN | < NNS]", "NP=a < NN=b", "@NP << /^[Tt]he$/"),
    *("VP <+(VP) VBN", "NP < (NN=n !. __)", "S : NP", "VP ?< NP=object", "i@NP"),
    *("NP <", "NP <@ NN", "(NP", "NP < =a", "NP <0 NN", "/[/", ""),
)


def commands(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield the results to pin of all commands that process trees without a model."""
    with scratch() as folder:
        for arguments in (*_search(), *_measure(), *_convert(folder), *_parse(folder)):
            yield _item(folder, *arguments)
        predicted = {}
        for model in ("en", "en-biomedical"):
            predicted[model] = folder / f"{model}.mrg"
            words = folder / "words"
            words.write_text(_words(), encoding="utf-8")
            succeed("parse", "-m", model, "--tokenized", words, "-o", predicted[model])
        for arguments in (*_compare(folder, *predicted.values()), *_evaluate()):
            yield _item(folder, *arguments)


def _item(folder: Path, *arguments: object) -> Item:
    """Run a command, and return its output and the files that it writes as an item."""
    found = command(*arguments, scratch=folder)
    written = [each for each in arguments if isinstance(each, Path) and each.name.startswith("out")]
    for each in written:
        found["file"] = each.read_text(encoding="utf-8") if each.exists() else None
        each.unlink(missing_ok=True)
    return Item(plain(" ".join(map(str, arguments)), folder), found)


def _search() -> Iterator[tuple[object, ...]]:
    for pattern in _PATTERNS:
        yield "search", pattern, _TRAIN
    for option in ("json", "tsv", "csv", "html", "brackets"):
        yield "search", "NP=a < (DT=b . NN)", _DEV, "--format", option
        yield "search", "NP << NN", _DEV, "--format", option, "--once"
    yield "search", "NP < NN", _DEV, _TRAIN, "--count"
    yield "search", "NP << NN", _DEV, "--count", "--once"
    yield "search", "NP << /^\\*/", _TRAIN
    yield "search", "NP << /^\\*/", _TRAIN, "--clean"
    yield "search", "NP-SBJ", _TRAIN, "--context", 0
    yield "search", "NP <# NN", _DEV, "--context", 2, "--head-rules", "neutral"
    yield "search", "NP < PP", _TOKENS, "-m", "en", "--tokenized"
    yield "search", "NP < PP", _TEXT, "-m", "en", "--format", "tsv"
    yield "search", "NP <# NN", _TEXT, "-m", "en-biomedical", "--count"
    yield "search", "S < NP", _TRAIN, "--head-rules", "greek"
    yield "search", "S < NP", "nowhere.mrg"
    for name in _FORMATS:
        yield "search", "__ < (__ < __)", f"corpora/formats/{name}", "--once", "--format", "json"
    for path in (*files_of("gum", "dev", 10), *files_of("craft", "dev", 6)):
        yield "search", "NP < (NN $.. PP)", path, "--format", "tsv"


def _measure() -> Iterator[tuple[object, ...]]:
    for form in ("csv", "tsv", "json"):
        yield "measure", _DEV, _TRAIN, "--format", form
        yield "measure", _DEV, "--by-sentence", "--format", form
    yield "measure", "corpora/treebank"
    yield "measure", _TEXT, "-m", "en"
    yield "measure", _TOKENS, "-m", "en", "--tokenized", "--by-sentence"
    yield "measure", *files_of("gum", "dev", 10)
    yield "measure", *(f"corpora/formats/{name}" for name in _FORMATS[:1])
    yield "measure", _DEV, "--format", "xml"


def _convert(folder: Path) -> Iterator[tuple[object, ...]]:
    for scheme in ("conllu", "stanford-conllu", "heads-conllu"):
        yield "convert", _TRAIN, _DEV, "--to", scheme
        yield "convert", _SPANISH, "--to", scheme
        yield "convert", files_of("gum", "dev")[9], "--to", scheme
    for rules in ("english", "neutral", "en", "is", "greek"):
        yield "convert", _DEV, "--to", "heads-conllu", "--head-rules", rules
    for name in _FORMATS:
        yield "convert", f"corpora/formats/{name}", "--to", "heads-conllu"
    yield "convert", _DEV, "--to", "conllu", "-o", folder / "out.conllu"
    yield "convert", _DEV, "--to", "conllx"


def _parse(folder: Path) -> Iterator[tuple[object, ...]]:
    for model in ("en", "en-biomedical", "is"):
        yield "parse", _TEXT, "-m", model, "--format", "conllu"
        yield "parse", "--tokenized", _TOKENS, "-m", model, "--format", "conllu"
    yield "parse", "--tokenized", _TOKENS, "--format", "conllu", "--scores"
    yield "parse", "--tokenized", _TOKENS, "--format", "conllu", "--k", 2
    yield "parse", "--tokenized", _TOKENS, "--format", "conllu", "-o", folder / "out.conllu"
    yield "parse", "--tokenized", _TOKENS, "--format", "conllu", "--jobs", 2
    yield "parse", "--tagged", _TAGGED, "--format", "conllu", "--tagger", "none"
    yield "parse", _TEXT, "--format", "pretty"
    yield "parse", _TEXT, "--scores"
    yield "parse", _TEXT, "--k", 3
    yield "parse", "--tokenized", _TOKENS, "--format", "svg"
    yield "parse", "--tokenized", _TOKENS, "--format", "conllx"


def _compare(folder: Path, a: Path, b: Path) -> Iterator[tuple[object, ...]]:
    page = folder / "out.html"
    yield "compare", _DEV, a
    yield "compare", _DEV, a, b
    yield "compare", _DEV, a, b, "--format", "json"
    yield "compare", _DEV, a, "--group-by", "file"
    yield "compare", _DEV, a, "--html", page
    yield "compare", _DEV, a, b, "--html", page, "--worst", 3
    yield "compare", _DEV, "en"
    yield "compare", _DEV, "en", b, "--group-by", "none"
    yield "compare", *files_of("gum", "dev", 30), "en", "--format", "json"
    yield "compare", _TRAIN, a
    for form in ("text", "json"):
        for context in (0, 1, 3):
            yield "diff", _DEV, a, "--format", form, "--context", context
    yield "diff", a, b
    yield "diff", _DEV, _DEV
    yield "diff", _TRAIN, a


def _evaluate() -> Iterator[tuple[object, ...]]:
    for options in (
        (
            "--format",
            "json",
        ),
        ("--raw",),
        ("--raw", "--format", "json"),
        ("--predicted-tags",),
        ("--decoder", "viterbi"),
        ("--tagger", "none"),
        ("--against", "en-biomedical"),
    ):
        yield "evaluate", "en", _DEV, *options
    yield "evaluate", "en", *files_of("gum", "dev", 30)
    yield "evaluate", "en-tagger", _TAGGED
    yield "score", _DEV, _DEV
    yield "score", _DEV, _TRAIN


def _words() -> str:
    """Return the words of the trees of the dev part, one sentence per line."""
    import spectralnlp

    return "".join(f"{' '.join(tree.words())}\n" for tree in spectralnlp.read_treebank(_DEV))


SECTIONS: dict[str, Section] = {"commands": commands}
