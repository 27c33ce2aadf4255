"""Pinned sections: parses of sentences that need several attempts, with less and less pruning.

When pins are written, all sentences are parsed and the attempts counted to find these sentences; a comparison
parses only the pinned ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.inference.trees.sentence import SentenceInput

from .items import Item, Section, files_of, scratch, succeed, trees_of


def english(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for sentences of GUM, parsed with ``en``."""
    import spectralnlp

    yield from _retried(spectralnlp.load("en"), "gum", ("dev", "train"), known)


def spanish(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for sentences of CESS, with a parser trained on its training part."""
    import spectralnlp

    with scratch() as folder:
        files = files_of("cess_esp", "train")
        options = ("--set", "preset=fast", "--skip-bad", "-o", folder / "model")
        succeed("train", "lpcfg", *files, *options)
        yield from _retried(spectralnlp.load(str(folder / "model")), "cess_esp", ("dev",), known)


def abroad(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for sentences of other domains, and for a parser trained on few trees."""
    import spectralnlp

    few = files_of("wsj", "train", 6)
    learners: dict[str, dict[str, Any]] = {"lpcfg": {"preset": "fast"}, "pcfg": {}}
    for name, settings in learners.items():
        parser = spectralnlp.train(name, few, **settings)
        known_here = {key.removeprefix(f"{name}: "): each for key, each in known.items()}
        for item in _retried(parser, "craft", ("dev",), known_here):
            yield item._replace(key=f"{name}: {item.key}")


def _retried(parser: Any, treebank: str, parts: tuple[str, ...], known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield the parses of sentences that need several attempts, and the number of all sentences.

    The number of attempts is recorded but not compared.

    Args:
        parser: the parser.
        treebank: name of the treebank.
        parts: parts of the treebank.
        known: pinned items by key; if there are any, only their sentences are parsed.
    """
    for part in parts:
        trees = trees_of(treebank, part)
        yield Item(f"{part}: sentences", len(trees))
        for number, tree in _wanted(trees, part, known):
            with counted() as attempts:
                parse = parser.parse_tokens(tree.words())
            if f"{part}/{number}" in known or attempts.most > 1 or parse.fallback is not None:
                yield Item(f"{part}/{number}", parse.to_json(), {"attempts": attempts.most})


def _wanted(trees: tuple[Any, ...], part: str, known: Mapping[str, Item]) -> Iterable[tuple[int, Any]]:
    """Return trees with their numbers: only those of pinned items, or all if nothing is pinned yet."""
    numbered = enumerate(trees)
    return [each for each in numbered if f"{part}/{each[0]}" in known] if known else numbered


class counted:  # noqa: N801
    """Context that counts the attempts of each parse; ``most`` is the largest number of any sentence."""

    def __init__(self) -> None:
        self.most = 0

    def __enter__(self) -> counted:
        original = self._attempts = ForestParser._attempts

        def attempts(parser: ForestParser, sentence: SentenceInput) -> Iterator[Any]:
            for number, each in enumerate(original(parser, sentence), 1):
                self.most = max(self.most, number)
                yield each

        ForestParser._attempts = attempts  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *error: object) -> None:
        ForestParser._attempts = self._attempts  # type: ignore[method-assign]


SECTIONS: dict[str, Section] = {"retries-gum": english, "retries-cess": spanish, "retries-craft": abroad}
