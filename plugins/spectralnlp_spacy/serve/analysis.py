"""Analyse texts with a spaCy pipeline, and return trees, tags and intents as JSON for the browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from spectralnlp.errors import InputError, SpectralError
from spectralnlp.render import renderer
from spectralnlp.render.svg import draw_tree
from spectralnlp_spacy.constituents import read_brackets, read_fallback
from spectralnlp_spacy.drawing import parses_of
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.parser import SpectralParser
from spectralnlp_spacy.sentences import words_of
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.textcat import SpectralTextcat


class TextTooLongError(InputError):
    """Error of a text with more characters or tokens than the limits allow."""


class Analyst:
    """Analyser for the web page: parses a text, and explains why a tree has a bracket.

    Args:
        nlp: a pipeline with a ``spectral_parser``.
        k: maximum number of trees per sentence.
        limits: limits of characters and tokens.
    """

    def __init__(self, nlp: Language, k: int, limits: Limits | None = None) -> None:
        self.nlp = nlp
        self.k = k
        self.limits = limits or Limits()
        self.parser: SpectralParser = next(
            pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpectralParser)
        )
        self.textcat = next((pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpectralTextcat)), None)

    def analyse(self, text: str) -> dict[str, Any]:
        """Analyse a text with the pipeline, and return the analysis of each sentence for the web page.

        Returns:
            Values for JSON: sentences with tokens, constituents and trees; intents; the time in seconds.

        Raises:
            TextTooLongError: the text has too many characters or tokens.
        """
        _check_length("characters", len(text), self.limits.characters)
        started = perf_counter()
        doc = self.nlp.make_doc(text)
        _check_length("tokens", len(doc), self.limits.tokens)
        doc = self.nlp(doc)
        seconds = perf_counter() - started
        return {
            "sentences": list(self._sentences(doc)),
            "intents": [
                {"label": label, "score": score}
                for label, score in sorted(doc.cats.items(), key=lambda each: -each[1])
            ],
            "out_of_scope": None if self.textcat is None else doc._.get(self.textcat.out_of_scope),
            "seconds": seconds,
        }

    def explain(self, words: Sequence[str], bracket: Sequence[Any]) -> dict[str, Any]:
        """Explain why a tree has a bracket: by features, and by training trees if the parser kept them.

        Args:
            words: words of the sentence.
            bracket: index of its first word, index of the first word after the bracket, and label.

        Returns:
            Values for JSON: the explanation, with drawings of the training trees in favour and against, and
            the time in seconds.

        Raises:
            TextTooLongError: the words have too many characters.
            SpectralError: the parser cannot explain this bracket, for example because its label is unknown.
        """
        _check_length("characters", len(" ".join([*words, bracket[2]])), self.limits.characters)
        started = perf_counter()
        explanation = self.parser.ready().explain(words, bracket)
        values = explanation.to_json()
        for side in ("in_favour", "against"):
            for value, each in zip(values[side], getattr(explanation, side), strict=True):
                value |= {"words": list(each.tree.words()), "svg": draw_tree(each.tree)}
        return {**values, "seconds": perf_counter() - started}

    def prepare(self) -> None:
        """Index the training trees that the parser kept, if any, so that the first explanation is fast."""
        with suppress(SpectralError):  # a request to explain reports the error
            _ = self.parser.ready().explainer

    def _sentences(self, doc: Doc) -> Iterator[dict[str, Any]]:
        key = self.parser.spans_key
        for sentence in doc.sents:
            words = words_of(doc, sentence.start, sentence.end)
            if not words:
                continue
            place = {token: number for number, token in enumerate(words)}
            yield {
                "text": sentence.text.strip(),
                "tokens": [
                    {
                        "text": doc[i].text,
                        "tag": doc[i].tag_,
                        "pos": doc[i].pos_,
                        "entity": doc[i].ent_type_,
                        "space": bool(doc[i].whitespace_),
                    }
                    for i in words
                ],
                "constituents": [
                    {"label": label, "start": place[start], "end": place[end - 1] + 1, "posterior": posterior}
                    for label, start, end, posterior in read_brackets(doc, key, sentence.start, sentence.end)
                ],
                "fallback": read_fallback(sentence, key),
                "trees": self._trees(sentence),
            }

    def _trees(self, sentence: Span) -> list[dict[str, Any]]:
        """Return the tree of a parsed sentence and the best alternatives, at most ``self.k`` trees in all.

        Each tree is a dictionary of brackets, SVG drawing and score; the score of the first tree is None.
        """
        draw = renderer("svg")
        (parse,) = parses_of(sentence, self.parser.spans_key)
        trees: list[dict[str, Any]] = [{"brackets": str(parse.tree), "svg": draw(parse, True), "score": None}]
        try:
            alternatives = self.parser.k_best(sentence, self.k) if self.k > 1 else []
        except ComponentError:  # the sentence is too long for alternatives
            alternatives = []
        for each in alternatives:
            if str(each.tree) != trees[0]["brackets"] and len(trees) < self.k:
                drawing = draw(_bare(parse, each.tree), False)
                trees.append({"brackets": str(each.tree), "svg": drawing, "score": each.score})
        return trees


def _check_length(unit: str, length: int, most: int) -> None:
    if length > most:
        raise TextTooLongError(f"a text of {length:,} {unit}", hint=f"give at most {most:,}")


def _bare(parse: Any, tree: Any) -> Any:
    """Return a copy of a parse that has ``tree`` and no posteriors, to draw another tree of the sentence."""
    from dataclasses import replace

    return replace(parse, tree=tree, constituents=())
