"""The conditional-random-field tagger: encode sentences, train weights, and keep the non-zero ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimator import IterativeEstimator
from spectralnlp.estimators.eigenwords.of_text import check_one_source
from spectralnlp.estimators.tagger.held_out import chain_of, choose_bias, fit_temperature, lower_outside
from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights
from spectralnlp.estimators.tagger.random_field import RandomField
from spectralnlp.estimators.tagger.resume_state import ResumeState, in_half_precision
from spectralnlp.estimators.tagger.rows import in_one_word, naming_first
from spectralnlp.estimators.tagger.unlabelled import features_of_folders, features_of_text
from spectralnlp.inference.chains.joint_features import joint_keys
from spectralnlp.inference.chains.templates import find_rows, word_keys
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_table import WordTable
from spectralnlp.parameters import ChainWeights, FeatureRows
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, MappedCorpus, map_kernels, paired
from spectralnlp.storage import StoredArrays
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.inputs import check_tokens
from spectralnlp.text.spans import (
    Scheme,
    count_invalid,
    scheme_of,
    spans_of,
    valid_transitions,
    write_spans,
)
from spectralnlp.text.tag_log import TagLog, tagged_names

# Minimum count of features that combine several words.
_MIN_SEEN = 2
# One sentence in this many is held out until the last epoch, to calibrate probabilities.
_HELD_OUT = 50
# Minimum number of held-out sentences, below which none is held out, and maximum number.
_MIN_HELD_OUT, _MAX_HELD_OUT = 10, 200
# Encoding of spans in training; BIOES marks the last word of a span.
_SCHEME: Scheme = "bioes"
# Number of averaged models if spans are rare, where models differ most.
_MEMBERS = 3
# Number of known sentences that are trained on again for each new one, and their minimum number.
_REHEARSED, _MIN_REHEARSED = 10, 200
# To choose the bias, every fifth block of 50 sentences is held out; adjacent sentences share names.
_BLOCK, _BLOCKS = 50, 5


class Numbered(NamedTuple):
    """Training data of a tagger, encoded as arrays of numbers.

    Attributes:
        examples: encoded sentences.
        keys: uint32 (n_features,), ascending; hashes of the observed features.
        names: names of the tags.
        forbidden: -inf for tags that must not be adjacent, or be first or last; 0 for others.
        held_out: int64; indices of the sentences that are held out until the last epoch.
    """

    examples: Examples
    keys: NDArray[np.uint32]
    names: Sequence[str]
    forbidden: ChainScores
    held_out: NDArray[np.int64]

    @classmethod
    def of(cls, examples: Examples, keys: NDArray[np.uint32], names: Sequence[str]) -> Numbered:
        """Build training data from encoded sentences: find forbidden transitions, and hold sentences out.

        Args:
            examples: encoded sentences.
            keys: uint32 (n_features,), ascending; hashes of the features.
            names: names of the tags.
        """
        return cls(examples, keys, names, _forbidden(names), _held_out(len(examples.starts) - 1))


@dataclass(kw_only=True, eq=False, repr=False)
class CRFTagger(IterativeEstimator[TaggedSentence]):
    """Tagger of words in sentences, for parts of speech, chunks or entities.

    The model is a conditional random field. Its features are the forms of a word and its neighbours, and
    vectors and clusters of words learned from unlabelled text. If tags encode spans (BIO, BIOES), only valid
    sequences of tags are predicted.

    Attributes:
        weights_: the learned :class:`~spectralnlp.parameters.ChainWeights`.
        features_: word vectors and clusters learned from unlabelled text.
        scheme_: how the given tags encode spans: ``bio``, ``bioes``, or ``tags`` if they do not.
        words_: words of the training data.
        resume_state_: state from which `resume_training` continues training; None if word vectors are used.
        n_sentences_, n_tokens_: numbers of training sentences and tokens.
        n_invalid_: number of tags in the training data that cannot follow the tag before.

    Examples:
        >>> from spectralnlp import CRFTagger
        >>> import spectralnlp
        >>> tags = ["DT", "NN", "VBZ"]
        >>> examples = [(["a", "dog", "barks"], tags), (["the", "cat", "sleeps"], tags)]
        >>> tagger = spectralnlp.train(CRFTagger(epochs=3), examples * 5)
        >>> tagger.tag_tokens(["the", "dog", "sleeps"]).tags
        ('DT', 'NN', 'VBZ')
    """

    task = "tagging"
    tagger = "chain"
    log = TagLog

    unlabelled: Annotated[
        str | list[str] | None,
        Doc(
            "Files or folders of unlabelled text. Eigenwords learned from it, of lower-cased and of original "
            "words, become features, as do n-grams of clusters of the lower-cased words."
        ),
    ] = None
    eigenwords: Annotated[
        str | list[str] | None,
        Doc("Folders of word vectors learned before, instead of ``unlabelled``."),
    ] = None
    epochs: Annotated[int, Ge(1), Le(1000), Doc("Number of passes over the sentences.")] = 6
    column: Annotated[
        str | int | None,
        Doc(
            "Which tags to learn: ``upos`` or ``xpos`` for CoNLL-U files, by default ``upos``; the number of "
            "the column, from 1, for other files, by default the last."
        ),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Random seed.")] = 0

    def check_combination(self) -> None:
        """Raise `ConfigError` if both ``unlabelled`` and ``eigenwords`` are given."""
        check_one_source(self.eigenwords, self.unlabelled)

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[TaggedSentence]:
        """Return tagged sentences as a corpus.

        Args:
            X: pairs of words and tags; or the words of each sentence.
            y: the tags of each sentence; None if ``X`` holds them.

        Raises:
            ConfigError: ``X`` is not an iterable of examples.
            InputError: ``X`` and ``y`` differ in length, or an element is no tagged sentence.
        """
        return super().as_corpus(X if y is None else paired(X, y))

    def learn(self, corpus: Corpus[TaggedSentence]) -> None:
        """Learn from tagged sentences.

        Args:
            corpus: words and tags of each sentence; empty sentences are ignored.

        Raises:
            InputError: all sentences are empty, a sentence has more or fewer tags than words, a word is not a
                string or a tag neither a string nor an integer, or a text file cannot be read.
            ModelError: a folder named by ``eigenwords`` holds no word vectors.
        """
        data = self._read(corpus)
        with fit_pass("weights"):
            self._learn(data)

    def _read(self, corpus: Corpus[TaggedSentence]) -> Numbered:
        """Encode sentences, and set the fitted attributes that describe the training data."""
        with fit_pass("reading"):
            sentences = _checked(corpus)
        self.features_ = self._features()
        tags = Counter(tag for _, tags in sentences for tag in tags)
        self.scheme_ = scheme_of(tags)
        self.n_sentences_, self.n_tokens_ = len(sentences), tags.total()
        self.n_invalid_ = sum(count_invalid(tags, self.scheme_) for _, tags in sentences)
        self.words_ = frozenset(word for words, _ in sentences for word in words)
        names = sorted(tags)
        if self.scheme_ != "tags":  # re-encode spans; invalid tags are read as conlleval does
            sentences = [
                (words, tuple(write_spans(spans_of(tags), len(tags), _SCHEME))) for words, tags in sentences
            ]
            names = sorted({"O"} | {tag for _, tags in sentences for tag in tags})  # O is always possible
        with fit_pass("features"):
            return self._number(sentences, names)

    def state(self) -> ResumeState | None:
        """Return the state from which `resume_training` continues; None if word vectors are used."""
        return self.resume_state_

    def read_state(self, stored: StoredArrays) -> ResumeState:
        """Read the state for further training from stored arrays; see `ResumeState.of_arrays` for errors."""
        return ResumeState.of_arrays(stored)

    def resume_training(self, moments: TagLog, state: ResumeState) -> Self:
        """Continue training with new sentences, mixed with some of the earlier ones.

        The temperature and the bias of the state are kept. If a tag of the state no longer occurs in any
        sentence, the model is trained from scratch.

        Args:
            moments: log of all sentences: the earlier ones, then the new ones.
            state: state after training on the earlier sentences.
        """
        self.validate()
        data = self._read(moments.corpus())
        if not set(state.tags) <= set(data.names):
            return self.solve_kept(moments)
        n = self.n_sentences_
        n_known = min(state.n_sentences, n)  # the stored state may have been edited
        new = np.arange(n_known, n)
        rng = np.random.default_rng((self.random_state, n_known, n))
        n_again = min(n_known, max(_MIN_REHEARSED, _REHEARSED * len(new)))
        order = np.append(new, rng.choice(n_known, n_again, replace=False))
        with fit_pass("weights"):
            model = state.field(data.keys, data.names, self.epochs, rng)
            for _ in range(self.epochs):
                model.epoch(data.examples, rng.permutation(order), data.forbidden)
            self._finish(data, [(model, state.temperature)], state.bias)
        return self

    def remarks(self) -> list[str]:
        """Return a list with a warning if some tags of the training data cannot follow the tag before."""
        if not self.n_invalid_:
            return []
        return [f"{self.n_invalid_} tags cannot follow the tag before: each is read as the start of a span"]

    def _features(self) -> UnlabelledFeatures:
        """Return word vectors and clusters, as the settings request; none by default."""
        if self.unlabelled is not None:
            return features_of_text(self.unlabelled, self.random_state)
        folders = [] if self.eigenwords is None else self.eigenwords
        return features_of_folders([folders] if isinstance(folders, str) else folders, self.random_state)

    def _number(self, sentences: Sequence[TaggedSentence], names: Sequence[str]) -> Numbered:
        """Encode tagged sentences as arrays of numbers, and collect their features."""
        table = WordTable(self.features_)
        encoded = table.encode([words for words, _ in sentences])
        number = {name: i for i, name in enumerate(names)}
        by_slot = word_keys(table.hashes)
        joint = joint_keys(table, encoded)
        seen, n_seen = np.unique(joint, return_counts=True)
        keys = np.unique(np.concatenate([*map(np.unique, by_slot), seen[n_seen >= _MIN_SEEN]]))
        keys = keys[keys != 0]
        rows_by_slot = [find_rows(each, keys) for each in by_slot]
        row_starts, rows, named = naming_first(rows_by_slot, in_one_word(rows_by_slot, len(keys)))
        examples = Examples(
            types=encoded.types,
            starts=encoded.starts,
            tags=np.array([number[tag] for _, tags in sentences for tag in tags], np.int32),
            row_starts=row_starts,
            rows=rows,
            named=named,
            joint=find_rows(joint, keys),
            words=table.vectors,
        )
        return Numbered.of(examples, keys, names)

    def learn_numbered(self, data: Numbered) -> ChainWeights:
        """Train on sequences that a caller has encoded with its own features, and return the weights.

        The word segmenter is trained in this way. Tags are not interpreted as codes of spans (BIO).
        """
        self.scheme_, self.n_sentences_ = "tags", len(data.examples.starts) - 1
        self._learn(data)
        return self.weights_

    def _learn(self, data: Numbered) -> None:
        """Train the model and set the fitted attributes.

        If more than half of all tokens are outside spans (tag O), several models are averaged, and a bias
        towards spans is chosen on held-out sentences.
        """
        outside = data.examples.tags == data.names.index("O") if self.scheme_ != "tags" else np.zeros(1)
        are_rare = outside.mean() > 0.5
        bias = self._find_bias(data) if are_rare else 0.0
        n_members = _MEMBERS if are_rare else 1
        members = list(
            map_kernels(lambda member: self._train(data, data.held_out, member=member), range(n_members))
        )
        self._finish(data, members, bias)

    def _finish(self, data: Numbered, members: Sequence[tuple[RandomField, float]], bias: float) -> None:
        """Average the trained models, and set the weights and the state for further training.

        Args:
            data: training data.
            members: trained random fields, with their temperatures.
            bias: number by which scores of the tag O are lowered.
        """
        learned = _mean([model.weights for model, _ in members])
        temperature = sum(temperature for _, temperature in members) / len(members)
        self.resume_state_ = None
        if self.unlabelled is None and self.eigenwords is None:
            sums = in_half_precision(_mean([model.sums for model, _ in members]))
            self.resume_state_ = ResumeState(
                self.n_sentences_, tuple(data.names), data.keys, learned, sums, temperature, bias
            )
        transitions, start, end = lower_outside(chain_of(learned, data.forbidden), data.names, bias)
        used = learned.features.any(axis=1)
        self.weights_ = ChainWeights(
            tags=tuple(data.names),
            keys=data.keys[used],
            rows=FeatureRows.of(learned.features[used]),
            words=np.ascontiguousarray(learned.words[:, :, : len(data.names)]),
            transitions=transitions,
            start=start,
            end=end,
            temperature=temperature,
        )

    def _train(
        self, data: Numbered, held_out: NDArray[np.int64], *, member: int = 0, to_the_end: bool = True
    ) -> tuple[RandomField, float]:
        """Train a random field, and fit its temperature on held-out sentences before the last epoch.

        Args:
            data: training data.
            held_out: int64; indices of the sentences that are only used in the last epoch.
            member: index among the models to be averaged, which changes the seed.
            to_the_end: if false, held-out sentences are not used in the last epoch either, and the
                temperature is 1.

        Returns:
            The random field, and its temperature.
        """
        rng = np.random.default_rng((self.random_state, member) if member else self.random_state)
        examples = data.examples
        model = RandomField(
            len(data.keys), len(data.names), examples.words.shape[1], epochs=self.epochs, rng=rng
        )
        temperature = 1.0
        for epoch in range(self.epochs):
            order = rng.permutation(len(examples.starts) - 1)
            last = epoch == self.epochs - 1
            if last and to_the_end and epoch > 0 and len(held_out):
                temperature = fit_temperature(examples, held_out, model.weights, data.forbidden)
            if not (last and to_the_end):
                order = order[~np.isin(order, held_out)]
            model.epoch(examples, order, data.forbidden)
        return model, temperature

    def _find_bias(self, data: Numbered) -> float:
        """Choose the bias towards spans on held-out sentences, with a model trained on all others."""
        every = np.arange(len(data.examples.starts) - 1)
        held_out = every[every // _BLOCK % _BLOCKS == _BLOCKS - 1]
        if len(held_out) < _BLOCK:
            return 0.0
        learned, _ = self._train(data, held_out, to_the_end=False)
        return choose_bias(data.examples, held_out, learned.weights, data.forbidden, data.names)


def _checked(corpus: Corpus[TaggedSentence]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return the words and the names of the tags of all sentences of a corpus that are not empty.

    Raises:
        InputError: all sentences are empty; a word is not a string; or as `tagged_names` does.
    """
    sentences = [each for each in MappedCorpus(corpus, _named) if each[0]]
    if not sentences:
        raise InputError("no tagged sentences to learn from")
    return sentences


def _named(example: TaggedSentence) -> tuple[Sequence[str], Sequence[str]]:
    _, tags = tagged_names(example)
    return tuple(check_tokens(example[0])), tuple(tags)


def _mean(members: Sequence[ScoreWeights]) -> ScoreWeights:
    totals = (np.sum(each, axis=0) for each in zip(*members, strict=True))
    return ScoreWeights(*(total / np.float32(len(members)) for total in totals))


def _held_out(n_sentences: int) -> NDArray[np.int64]:
    """Return the indices of the sentences to hold out until the last epoch; none if there are few."""
    held_out = np.arange(_HELD_OUT - 1, n_sentences, _HELD_OUT)[:_MAX_HELD_OUT]
    return held_out if len(held_out) >= _MIN_HELD_OUT else held_out[:0]


def _forbidden(names: Sequence[str]) -> ChainScores:
    allowed = valid_transitions(names, scheme_of(names))
    return ChainScores(*(np.where(each, 0.0, -np.inf).astype(np.float32) for each in allowed))
