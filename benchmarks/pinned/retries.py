"""Sections: sentences whose parser had to try again, with more open cells and less pruning.

Which these are is found when they are written: each is parsed, and attempts are counted. To compare, those
that were written are parsed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .items import Item, Section, files_of, scratch, succeed, trees_of


def english(known: Mapping[str, Item]) -> Iterator[Item]:
    """Sentences of GUM, with ``en``."""
    import spectralnlp

    yield from _retried(spectralnlp.load("en"), "gum", ("dev", "train"), known)


def spanish(known: Mapping[str, Item]) -> Iterator[Item]:
    """Sentences of CESS, with a parser that learned its training part."""
    import spectralnlp

    with scratch() as folder:
        files = files_of("cess_esp", "train")
        options = ("--set", "preset=fast", "--skip-bad", "-o", folder / "model")
        succeed("train", "lpcfg", *files, *options)
        yield from _retried(spectralnlp.load(str(folder / "model")), "cess_esp", ("dev",), known)


def abroad(known: Mapping[str, Item]) -> Iterator[Item]:
    """Sentences that are far from what a parser learned from few trees: these need more attempts."""
    import spectralnlp

    few = files_of("wsj", "train", 6)
    for name, settings in (("lpcfg", {"preset": "fast"}), ("pcfg", {})):
        parser = spectralnlp.train(name, few, **settings)
        known_here = {key.removeprefix(f"{name}: "): each for key, each in known.items()}
        for item in _retried(parser, "craft", ("dev",), known_here):
            yield item._replace(key=f"{name}: {item.key}")


def _retried(parser: Any, treebank: str, parts: tuple[str, ...], known: Mapping[str, Item]) -> Iterator[Item]:
    """The parses, with the number of the attempt that had scores aside; and the count of all sentences."""
    for part in parts:
        trees = trees_of(treebank, part)
        yield Item(f"{part}: sentences", len(trees))
        for number, tree in _wanted(trees, part, known):
            with counted() as attempts:
                parse = parser.parse_tokens(tree.words())
            if f"{part}/{number}" in known or attempts.most > 1 or parse.fallback is not None:
                yield Item(f"{part}/{number}", parse.to_json(), {"attempts": attempts.most})


def _wanted(trees: tuple[Any, ...], part: str, known: Mapping[str, Item]) -> Iterable[tuple[int, Any]]:
    """All numbered trees, or those that are known."""
    numbered = enumerate(trees)
    return [each for each in numbered if f"{part}/{each[0]}" in known] if known else numbered


class counted:  # noqa: N801
    """How many attempts a parse takes; `most` stays 0 in code whose attempts are elsewhere."""

    def __init__(self) -> None:
        self.most = 0

    def __enter__(self) -> counted:
        try:
            from spectralnlp.inference.trees.pipeline import Pipeline

            self._owner: Any = Pipeline
            self._attempts = Pipeline.attempts
        except (ImportError, AttributeError):
            self._owner = None
            return self
        original = self._attempts

        def attempts(pipeline: Any, *given: Any, **options: Any) -> Iterator[Any]:
            for number, each in enumerate(original(pipeline, *given, **options), 1):
                self.most = max(self.most, number)
                yield each

        self._owner.attempts = attempts
        return self

    def __exit__(self, *error: object) -> None:
        if self._owner is not None:
            self._owner.attempts = self._attempts


SECTIONS: dict[str, Section] = {"retries-gum": english, "retries-cess": spanish, "retries-craft": abroad}
