"""Pinned sections: results of small trainings, by all ways to train, adapt and change a parser."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

from .digests import digests_of
from .items import CORPORA, Item, Section, files_of, scratch, succeed, trees_of

# 1,188 trees of the WSJ, and 15 documents of GUM.
_EVERY_WSJ, _EVERY_GUM = 3, 12
# The least data on which all components are trained, slightly over 500 trees.
_EVERY_SMALL = 6
_UNLABELLED = 20_000  # lines of text for training eigenwords


def measured(key: str, train: Any) -> Item:
    """Train a parser, and return its settings, sizes, and digests before and after reloading as an item.

    Args:
        key: key of the item.
        train: function that returns the parser.
    """
    import spectralnlp

    started = process_time()
    parser = train()
    seconds = round(process_time() - started, 2)
    with scratch() as folder:
        parser.save(folder / "model")
        again = digests_of(spectralnlp.load(str(folder / "model")))
    digests = digests_of(parser)
    value = {
        "info": {name: each for name, each in parser.info.items() if name != "spectralnlp"},
        "parts": digests,
        "the same when loaded": [name for name in digests if digests[name] == again.get(name)],
    }
    return Item(key, value, {"CPU seconds": seconds})


def _trained(estimator: str, files: list[str], **settings: Any) -> Item:
    import spectralnlp

    named = ",".join(f"{name}={Path(str(value)).name}" for name, value in settings.items())
    return measured(f"{estimator}:{named}", lambda: spectralnlp.train(estimator, files, **settings))


def default(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for training with default settings, and for some quick trainings."""
    wsj = files_of("wsj", "train", _EVERY_WSJ)
    yield _trained("lpcfg", wsj)
    yield _trained("lpcfg", wsj, preset="fast")
    yield _trained("lpcfg", wsj, preset="tutorial")
    yield _trained("pcfg", wsj)
    yield _trained("pcfg", wsj, preset="plain")
    yield _trained("lpcfg-em", wsj, iterations=10)


def more(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for training with other presets, estimators, documents and components."""
    small = files_of("wsj", "train", _EVERY_SMALL)
    yield _trained("lpcfg", small, preset="best")
    yield _trained("lpcfg-em", small, iterations=4, start="clusters")
    yield _trained("pcfg", small, preset="annotated", heads="neutral")
    yield _trained("lpcfg", files_of("gum", "train", _EVERY_GUM), preset="fast")
    yield _trained("lpcfg", files_of("gum", "train", _EVERY_GUM), preset="fast", sentence_ends=False)
    yield _trained("lpcfg", small, preset="fast", span_scorer=False)
    yield _trained("lpcfg", small, preset="fast", closed_cells=False, random_state=1)
    yield _trained("lpcfg", small, preset="fast", binarisations="head+left^1", em_iterations=2)
    yield _trained("lpcfg", small, preset="fast", heads="neutral", unaries="collapse")
    yield _trained("lpcfg", small, preset="fast", decoder="max-rule", span_scorer=False)


def clusters(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for training with word clusters made of eigenwords."""
    small = files_of("wsj", "train", _EVERY_SMALL)
    with scratch() as folder:
        text, words = folder / "text.txt", folder / "eigenwords"
        text.write_text("".join(some_text(_UNLABELLED)), encoding="utf-8")
        settings = ("--set", "vocabulary=3000", "--set", "dimensions=30")
        succeed("train", "eigenwords", text, "-o", words, *settings)
        yield _trained("lpcfg", small, preset="fast", eigenwords=str(words))
        yield _trained("lpcfg", small, eigenwords=str(words), span_scorer=False)


def engines(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for the same training on every execution engine."""
    import spectralnlp

    small = files_of("wsj", "train", _EVERY_SMALL)
    for name in ("serial", "threads", "processes", "dask"):
        with spectralnlp.use_engine(name, **({} if name == "serial" else {"jobs": 2})):
            for preset in ("fast", "tutorial"):
                item = _trained("lpcfg", small, preset=preset)
                yield item._replace(key=f"{name}: {item.key}")


def changes(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for models that commands have updated, reduced and merged."""
    files = files_of("gum", "train", _EVERY_GUM // 2)
    first, second = files[::2], files[1::2]
    (few,) = [each for each in files_of("gum", "dev") if "letter_wiki" in each]
    with scratch() as folder:
        a, b, updated, forgot, merged = (folder / each for each in ("a", "b", "updated", "forgot", "merged"))
        for name in ("lpcfg", "pcfg"):
            keep = ["--keep-moments", "--overwrite", *(["--set", "preset=fast"] if name == "lpcfg" else [])]
            yield _commanded(f"{name}: trained", a, "train", name, *first, "-o", a, *keep)
            yield _commanded(f"{name}: updated", updated, "update", a, *second, "-o", updated)
            yield _commanded(f"{name}: forgot", forgot, "forget", updated, *first[:2], "-o", forgot)
            yield _commanded(f"{name}: trained on others", b, "train", name, *second, "-o", b, *keep)
            if name == "lpcfg":
                into = ("-o", merged, "--overwrite")
                yield _commanded(f"{name}: adapted", merged, "adapt", a, few, *into, "--weight", 2)
            yield _commanded(f"{name}: merged", merged, "merge", a, b, "-o", merged, "--overwrite")


def adapted(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for adapted parsers: with moments, or from their grammars alone."""
    small = files_of("wsj", "train", _EVERY_SMALL)
    gum = files_of("gum", "dev")
    (own,) = [each for each in gum if "conversation_grounded" in each]
    (few,) = [each for each in gum if "letter_wiki" in each]
    with scratch() as folder:
        a, to = folder / "a", folder / "to"
        text, partial = folder / "text.txt", folder / "partial.jsonl"
        text.write_text("".join(some_text(200)), encoding="utf-8")
        partial.write_text(_partial_trees(), encoding="utf-8")
        fast = ("--set", "preset=fast")
        succeed("train", "lpcfg", *small, "-o", a, "--keep-moments", *fast)
        into = ("-o", to, "--overwrite")
        yield _commanded("trials", to, "adapt", a, own, *into)
        yield _commanded("few", to, "adapt", a, few, *into)
        yield _commanded("weight", to, "adapt", a, few, *into, "--weight", 2)
        yield _commanded("partial", to, "adapt", a, few, *into, "--weight", 2, "--partial", partial)
        yield _commanded("unlabelled", to, "adapt", a, few, *into, "--weight", 2, "--unlabelled", text)
        both = ("--partial", partial, "--unlabelled", text)
        yield _commanded("both", to, "adapt", a, few, *into, "--weight", 2, *both)
        yield _commanded("with", to, "adapt", a, few, *into, "--with", small[0], *("--set", "n_states=4"))
        for model in ("en", "is", "en-biomedical"):
            yield _commanded(f"{model} alone", to, "adapt", model, own, *into)
        yield _commanded("en alone, weight", to, "adapt", "en", few, *into, "--weight", 3)
        yield _commanded("en alone, partial", to, "adapt", "en", few, *into, "--partial", partial)


def _commanded(key: str, model: Path, *arguments: object) -> Item:
    """Run a command that makes a model, and return its output and the model's digests as an item."""
    import spectralnlp

    started = process_time()
    output = succeed(*arguments, scratch=model.parent)
    seconds = round(process_time() - started, 2)
    lines = [
        line for line in output.splitlines() if not line.endswith("SECONDS")
    ]  # threads report in arbitrary order
    parser = spectralnlp.load(str(model))
    info = {name: each for name, each in parser.info.items() if name != "spectralnlp"}
    value = {"info": info, "output": lines, "parts": digests_of(parser)}
    return Item(key, value, {"CPU seconds": seconds})


def some_text(n_lines: int) -> list[str]:
    """Return the first lines of a freely licensed text, tokenised."""
    with gzip.open(CORPORA / "text" / "english_open.txt.gz", "rt", encoding="utf-8") as lines:
        return list(islice(lines, n_lines))


def _partial_trees() -> str:
    """Return sentences with one or two known brackets each."""
    found = []
    for tree in trees_of("gum", "dev")[-60:]:
        spans = [span for span in tree.spans() if span[0] in ("NP", "VP") and span[2] - span[1] > 1]
        brackets = [[start, end, label] for label, start, end in spans[:2]]
        found.append(json.dumps({"tokens": tree.words(), "brackets": brackets}))
    return "\n".join(found) + "\n"


SECTIONS: dict[str, Section] = {
    "trainings-default": default,
    "trainings-more": more,
    "trainings-clusters": clusters,
    "trainings-engines": engines,
    "trainings-changes": changes,
    "trainings-adapted": adapted,
}
