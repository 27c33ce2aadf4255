"""The estimator: number words and features, run the perceptron, keep what was learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimator import IterativeEstimator, fit_pass
from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights
from spectralnlp.estimators.tagger.perceptron import Perceptron, emissions_of
from spectralnlp.inference.chains.linear_chains import tag_marginals
from spectralnlp.inference.chains.templates import find_rows, pair_keys, word_keys
from spectralnlp.inference.chains.unlabelled import load_features
from spectralnlp.inference.chains.word_table import WordTable
from spectralnlp.parameters import ChainWeights
from spectralnlp.runtime import Corpus
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.spans import count_invalid, scheme_of, spans_of, valid_transitions, write_spans

# Each sentence of so many is held out until the last epoch, to see how sure scores are.
_HELD_OUT = 50
# Fewer than these are not held out, nor more than those.
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 10, 200
# Logarithms of temperatures between which the best is searched.
_LOG_TEMPERATURES = (-2.0, 7.0)


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronTagger(IterativeEstimator[TaggedSentence]):
    """A tagger of words in sentences: parts of speech, chunks, entities.

    An averaged structured perceptron (Collins 2002) over the forms of a word and its neighbours, and over
    vectors that were learned from unlabelled text: eigenwords, eigentokens (Dhillon, Foster and Ungar 2015),
    clusters. Tags that write spans (BIO, BIOES) follow one another only where that is valid.

    Attributes:
        weights_: :class:`~spectralnlp.parameters.ChainWeights`.
        features_: vectors and clusters of unlabelled text.
        scheme_: ``tags``, ``bio`` or ``bioes``, of the tags that were given.
        words_: the words that were seen.
        n_sentences_, n_tokens_: how many there were.
        n_invalid_: tags that could not follow the one before.

    Examples:
        >>> from spectralnlp import PerceptronTagger
        >>> import spectralnlp
        >>> tags = ["DT", "NN", "VBZ"]
        >>> examples = [(["a", "dog", "barks"], tags), (["the", "cat", "sleeps"], tags)]
        >>> tagger = spectralnlp.train(PerceptronTagger(epochs=3), examples * 5)
        >>> tagger.tag_tokens(["the", "dog", "sleeps"]).tags
        ('DT', 'NN', 'VBZ')
    """

    task = "tagging"
    tagger = "chain"

    eigenwords: Annotated[
        str | list[str] | None,
        Doc("Folders of eigenwords; the vectors of a word and of two to each side are features."),
    ] = None
    eigentokens: Annotated[
        str | list[str] | None,
        Doc(
            "Folders of eigenwords or of hidden Markov models, whose vector of a token in its context "
            "is a feature; by default those of ``eigenwords`` that have contexts, but none where most "
            "words are outside spans: they tell syntax, and take names for what stands in like "
            "places."
        ),
    ] = None
    clusters: Annotated[
        str | list[str] | None, Doc("Folders of eigenwords whose clusters of words are features.")
    ] = None
    vector_scale: Annotated[float, Gt(0), Doc("What vectors are multiplied with; features are 0 or 1.")] = 1.0
    epochs: Annotated[int, Ge(1), Doc("Passes over the sentences.")] = 10
    spans: Annotated[
        Literal["bio", "bioes", "given"],
        Doc("How spans are written while learning: ``bio``, ``bioes``, or ``given`` as they are."),
    ] = "given"
    column: Annotated[
        str | int | None,
        Doc(
            "The tags to learn, of CoNLL-U ``upos`` or ``xpos``, of columns their number from 1; by "
            "default upos and the last."
        ),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Seed of the order of sentences.")] = 0

    def learn(self, corpus: Corpus[TaggedSentence]) -> None:
        """Learn from tagged sentences.

        Args:
            corpus: words and tags; sentences without words are passed over.

        Raises:
            InputError: there are no sentences, or a sentence has more words than tags.
            ConfigError: an impossible setting, or a folder without the vectors it should have.
            ModelError: a folder holds no model.
        """
        with fit_pass("reading"):
            eigentokens = None if self.eigentokens is None else _listed(self.eigentokens)
            vectors = load_features(_listed(self.eigenwords), eigentokens, _listed(self.clusters))
            sentences = _checked(corpus)
        tags = Counter(tag for _, tags in sentences for tag in tags)
        self.scheme_ = scheme_of(tags)
        self.n_sentences_, self.n_tokens_ = len(sentences), tags.total()
        self.n_invalid_ = sum(count_invalid(tags, self.scheme_) for _, tags in sentences)
        self.words_ = frozenset(word for words, _ in sentences for word in words)
        names_only = self.scheme_ != "tags" and 2 * tags["O"] > tags.total()
        if self.eigentokens is None and names_only:
            vectors = replace(vectors, eigentokens=())
        self.features_ = vectors
        names = sorted(tags)
        if self.scheme_ != "tags":  # conlleval's reading of what is invalid, in the scheme to learn
            scheme = self.scheme_ if self.spans == "given" else self.spans
            sentences = [
                (words, tuple(write_spans(spans_of(tags), len(tags), scheme))) for words, tags in sentences
            ]
            names = sorted({"O"} | {tag for _, tags in sentences for tag in tags})  # O may always stand
        with fit_pass("features"):
            examples, keys = self._number(sentences, names)
        with fit_pass("perceptron"):
            self.weights_ = self._learn(examples, keys, names)

    def remarks(self) -> list[str]:
        """Return a line where tags were invalid."""
        if not self.n_invalid_:
            return []
        return [f"{self.n_invalid_} tags cannot follow the one before: read as spans that begin there"]

    def _number(
        self, sentences: Sequence[TaggedSentence], names: Sequence[str]
    ) -> tuple[Examples, NDArray[np.uint32]]:
        """Return sentences as numbers, and uint32 (n_features,), the hashes of the features seen."""
        table = WordTable(self.features_)
        encoded = table.encode([words for words, _ in sentences])
        number = {name: i for i, name in enumerate(names)}
        tags = np.array([number[tag] for _, tags in sentences for tag in tags], np.int32)
        by_slot = word_keys(table.hashes, table.clusters)
        hashes = table.hashes[encoded.types, 0]
        pairs = pair_keys(hashes)[encoded.places - 2]
        used = [np.unique(each) for each in (*by_slot, pairs)]
        keys = np.unique(np.concatenate(used))
        keys = keys[keys != 0]
        rows_by_slot = [find_rows(each, keys) for each in by_slot]
        counts = np.concatenate([(rows >= 0).sum(axis=1) for rows in rows_by_slot])
        row_starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        rows = np.concatenate([rows[rows >= 0] for rows in rows_by_slot])
        scale = np.float32(self.vector_scale)
        examples = Examples(
            types=encoded.types,
            starts=encoded.starts,
            tags=tags,
            row_starts=row_starts,
            rows=rows,
            pairs=find_rows(pairs, keys),
            words=table.vectors * scale,
            tokens=encoded.vectors * scale,
        )
        return examples, keys

    def _learn(self, examples: Examples, keys: NDArray[np.uint32], names: Sequence[str]) -> ChainWeights:
        n = len(examples.starts) - 1
        model = Perceptron(
            n_features=len(keys),
            n_tags=len(names),
            word_width=examples.words.shape[1],
            token_width=examples.tokens.shape[1],
        )
        forbidden = _forbidden(names)
        rng = np.random.default_rng(self.random_state)
        held_out = np.arange(_HELD_OUT - 1, n, _HELD_OUT)[:_MOST_HELD_OUT]
        if len(held_out) < _FEWEST_HELD_OUT:
            held_out = held_out[:0]
        temperature = 1.0
        for epoch in range(self.epochs):
            order = rng.permutation(n)
            last = epoch == self.epochs - 1
            if last and epoch > 0 and len(held_out):
                temperature = _fit_temperature(examples, held_out, model.average(), forbidden)
            if not last:
                order = order[~np.isin(order, held_out)]
            model.epoch(examples, order, forbidden)
        mean = model.average()
        scale = np.float32(self.vector_scale)
        used = mean.features.any(axis=1)
        return ChainWeights(
            tags=tuple(names),
            keys=keys[used],
            features=mean.features[used],
            words=mean.words * scale,
            tokens=mean.tokens * scale,
            transitions=mean.transitions + forbidden.transitions,
            start=mean.start + forbidden.start,
            end=mean.end + forbidden.end,
            temperature=temperature,
        )


def _checked(corpus: Iterable[TaggedSentence]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the sentences that have words.

    Raises:
        InputError: there are none, or one has more words than tags.
    """
    sentences = [(tuple(words), tuple(tags)) for words, tags in corpus if len(words)]
    for words, tags in sentences:
        if len(words) != len(tags):
            raise InputError(f"{len(tags)} tags for {len(words)} words: {' '.join(words[:8])} …")
    if not sentences:
        raise InputError("no tagged sentences to learn from")
    return sentences


def _listed(folders: str | Sequence[str] | None) -> list[str]:
    if folders is None:
        return []
    return [folders] if isinstance(folders, str) else list(folders)


def _forbidden(names: Sequence[str]) -> ChainScores:
    """Return -inf for tags that must not follow one another, or stand first or last."""
    allowed = valid_transitions(names, scheme_of(names))
    return ChainScores(*(np.where(each, 0.0, -np.inf).astype(np.float32) for each in allowed))


def _fit_temperature(
    examples: Examples, held_out: NDArray[np.int64], weights: ScoreWeights, forbidden: ChainScores
) -> float:
    """Return the temperature at which sentences not learned from are the most probable, tag by tag."""
    emissions, starts = emissions_of(examples, held_out, weights)
    learned = (weights.transitions, weights.start, weights.end)
    chain = [w + no for w, no in zip(learned, forbidden, strict=True)]
    bounds = zip(examples.starts[held_out], examples.starts[held_out + 1], strict=True)
    gold = np.concatenate([examples.tags[first:last] for first, last in bounds])

    def surprise(log_temperature: float) -> float:
        cold = np.float32(np.exp(-log_temperature))
        p, _ = tag_marginals(emissions * cold, starts, *(each * cold for each in chain))
        return -float(np.log(np.maximum(p[np.arange(len(gold)), gold], 1e-12)).sum())

    best = minimize_scalar(surprise, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 0.05})
    return float(np.exp(best.x))
