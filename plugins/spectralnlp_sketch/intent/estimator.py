"""``intent.v1``: a trained head over spectral features, for few labels and many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, fit_pass
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_texts
from spectralnlp_sketch.intent.calibration import calibrate
from spectralnlp_sketch.intent.head import Examples, Features, Weights, fit_head
from spectralnlp_sketch.intent.model import Classifier
from spectralnlp_sketch.intent.prior import Prior, learn_prior
from spectralnlp_sketch.intent.reading import Example

Array32 = NDArray[np.float32]
FEW_EXAMPLES, MOST_SPARSE = 1000, 5.0
"""Up to so many, n-grams and directions weigh the same; with more, n-grams up to so many times as much."""
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


class IntentClassifier(Estimator, ClassifierMixin, BaseEstimator):
    """A linear classifier of texts that learns from unlabelled texts too.

    Texts are tf-idf rows of hashed n-grams. Directions of meaning learned from all texts (`intent.prior`)
    stand beside them; multinomial logistic regression (`intent.head`) learns from both, with a label's own
    name as one more example of it. Then the unlabelled texts that the classifier is surest of join as
    examples of less weight. All that was learned is linear in the n-grams and becomes one table.

    Args:
        words, characters: shortest and longest n-grams; None for none.
        n_columns: columns that n-grams are hashed to, a power of two.
        min_texts: n-grams of unlabelled texts are known if they are in so many texts.
        lsa_rank: singular vectors of the texts; 0 for none.
        lsa_scale: mean length of a text's projection on them.
        eigenword_dimensions: of eigenwords; 0 for none.
        eigenword_scale: mean length of a text's sum of them.
        window: how far an eigenword's contexts reach.
        sparse_scale: length of a text's words, and of its characters. None: a thousandth of the number
            of labelled texts, but from 1 to 5; with many examples the n-grams have more to say.
        C: weight of the loss against that of large weights.
        label_names: whether a label's name is an example of it.
        pseudo_labels: unlabelled texts that join as examples, at most so many a label.
        pseudo_weight: weight of each.
        rounds: how often they are chosen anew; 0 for never.
        passes: of the head's training over the examples, at most.
        calibration: whether confidences are made probabilities, by learning five more times.
        random_state: seed.

    Attributes:
        prior_: :class:`~spectralnlp_sketch.intent.prior.Prior`.
        classifier_: :class:`~spectralnlp_sketch.intent.model.Classifier`.
        classes_: the labels, sorted.
        n_labelled_, n_unlabelled_: texts learned from.
    """

    kind = "head"
    change_of_mind = "none"
    task = "intents"
    presets: ClassVar = {
        "baseline": {"lsa_rank": 0, "eigenword_dimensions": 0, "label_names": False, "rounds": 0},
    }

    def __init__(
        self,
        words: tuple[int, int] | None = (1, 2),
        characters: tuple[int, int] | None = (2, 5),
        n_columns: int = 2**21,
        min_texts: int = 2,
        lsa_rank: int = 300,
        lsa_scale: float = 1.0,
        eigenword_dimensions: int = 300,
        eigenword_scale: float = 1.5,
        window: int = 6,
        sparse_scale: float | None = None,
        C: float = 30.0,
        label_names: bool = True,
        pseudo_labels: int = 50,
        pseudo_weight: float = 0.3,
        rounds: int = 1,
        passes: int = 60,
        calibration: bool = True,
        random_state: int = 0,
    ) -> None:
        self.words = words
        self.characters = characters
        self.n_columns = n_columns
        self.min_texts = min_texts
        self.lsa_rank = lsa_rank
        self.lsa_scale = lsa_scale
        self.eigenword_dimensions = eigenword_dimensions
        self.eigenword_scale = eigenword_scale
        self.window = window
        self.sparse_scale = sparse_scale
        self.C = C
        self.label_names = label_names
        self.pseudo_labels = pseudo_labels
        self.pseudo_weight = pseudo_weight
        self.rounds = rounds
        self.passes = passes
        self.calibration = calibration
        self.random_state = random_state

    def fit(
        self,
        X: Iterable[str] | Corpus[Example],
        y: Sequence[str] | None = None,
        unlabelled: Iterable[str] | None = None,
        prior: Prior | None = None,
    ) -> Self:
        """Learn from labelled and unlabelled texts.

        Args:
            X: texts; or a corpus of (text, label), the label None where it is not known.
            y: their labels; of a corpus, None.
            unlabelled: more texts.
            prior: what such texts say, known from elsewhere (``prior_`` of another); None to learn it.

        Raises:
            TextError: fewer than two labels, or texts that are all empty.
        """
        form = self._check()
        texts, labels, more = _sorted_out(X, y, unlabelled)
        self.classes_ = np.array(sorted(set(labels)))
        if len(self.classes_) < 2:
            found = f"only the label {labels[0]!r}" if labels else "no labelled texts"
            raise TextError(found, hint="give texts of two labels or more")
        self.n_labelled_, self.n_unlabelled_ = len(texts), len(more)
        names = label_texts(self.classes_.tolist()) if self.label_names else []
        if prior is None:
            prior, rows = self._learn_prior([*texts, *more], len(texts), form)
        else:
            rows = prior.ngrams.rows_of([*texts, *more])
        self.prior_ = replace(prior, sparse_scale=self._sparse_scale(len(texts)))
        examples = self._examples(rows, np.searchsorted(self.classes_, labels), names)
        with fit_pass("head"), one_blas_thread():
            others = self.prior_.features(rows[len(texts) :])
            weights = self._fit_head(examples, others)
        sharpness = 1.0
        if self.calibration:
            with fit_pass("calibration"), one_blas_thread():
                fit = partial(self._fit_head, unlabelled=others)
                sharpness = calibrate(examples, len(texts), fit, self.random_state)
        self.classifier_ = self._folded(weights, sharpness)
        return self

    def predict(self, X: Iterable[str]) -> NDArray[Any]:
        """The likeliest label of each text."""
        best = self._fitted().predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Iterable[str]) -> Array32:
        """Probabilities, float32 (n_texts, n_classes), in the order of ``classes_``."""
        return self._fitted().predict_proba(X)

    def out_of_scope(self, X: Iterable[str]) -> Array32:
        """For each text how little it looks like any label's, from 0 to 1; float32 (n_texts,)."""
        return self._fitted().out_of_scope(X)

    def _fitted(self) -> Classifier:
        self.check_is_fitted()
        return self.classifier_

    def _check(self) -> NgramFormat:
        """How texts are cut into n-grams, once all settings make sense."""
        for name in ("min_texts", "window", "passes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in (
            "lsa_rank",
            "eigenword_dimensions",
            "pseudo_labels",
            "rounds",
            "lsa_scale",
            "eigenword_scale",
        ):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative: {getattr(self, name)}")
        for name in ("C", "pseudo_weight", "sparse_scale"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)}")
        return NgramFormat(_pair(self.words), _pair(self.characters), self.n_columns)

    def _learn_prior(
        self, texts: Sequence[str], n_labelled: int, form: NgramFormat
    ) -> tuple[Prior, sp.csr_array]:
        return learn_prior(
            texts, n_labelled, form, min_texts=self.min_texts, lsa_rank=self.lsa_rank,
            lsa_scale=self.lsa_scale, eigenword_dimensions=self.eigenword_dimensions,
            eigenword_scale=self.eigenword_scale, window=self.window, random_state=self.random_state,
        )  # fmt: skip

    def _sparse_scale(self, n_labelled: int) -> float:
        if self.sparse_scale is not None:
            return self.sparse_scale
        return min(max(1.0, n_labelled / FEW_EXAMPLES), MOST_SPARSE)

    def _examples(self, rows: sp.csr_array, labels: NDArray[np.int64], names: Sequence[str]) -> Examples:
        """The labelled texts, and behind them the labels' names whose words are all known."""
        prior, one_hot = self.prior_, np.eye(len(self.classes_), dtype=np.float32)
        texts = Examples(
            prior.features(rows[: len(labels)]), one_hot[labels], np.ones(len(labels), np.float32)
        )
        if not names:
            return texts
        name_rows = prior.ngrams.rows_of(names)
        known = np.flatnonzero(name_rows[:, : prior.ngrams.n_words].sum(axis=1) > 0)
        features = prior.features(name_rows[known])
        return texts.with_more(Examples(features, one_hot[known], np.ones(len(known), np.float32)))

    def _head(self, examples: Examples) -> Weights:
        return fit_head(examples, C=self.C, passes=self.passes, random_state=self.random_state)

    def _fit_head(self, examples: Examples, unlabelled: Features) -> Weights:
        """The head, learned again with the unlabelled texts that it is surest of."""
        weights = self._head(examples)
        for _ in range(self.rounds if len(unlabelled) and self.pseudo_labels else 0):
            scores = weights.scores(unlabelled)
            chosen = surest(scores, self.pseudo_labels)
            targets = np.eye(len(self.classes_), dtype=np.float32)[scores[chosen].argmax(axis=1)]
            extra = Examples(
                unlabelled.rows(chosen), targets, np.full(len(chosen), self.pseudo_weight, np.float32)
            )
            weights = self._head(examples.with_more(extra))
        return weights

    def _folded(self, weights: Weights, sharpness: float) -> Classifier:
        """One table of what is linear in the n-grams."""
        ngrams, labels = self.prior_.ngrams, tuple(str(label) for label in self.classes_)
        table = self.prior_.fold(weights)
        return Classifier(labels, ngrams.form, ngrams.columns, ngrams.idf, table, weights.bias, sharpness)


def surest(scores: Array32, n: int) -> NDArray[np.int64]:
    """Texts whose likeliest label is most probable, at most ``n`` of each label.

    Args:
        scores: float32 (n_texts, n_classes).
        n: how many.

    Returns:
        Numbers of texts, ascending.
    """
    best = scores.argmax(axis=1)
    top = scores.max(axis=1)
    doubt = np.exp(scores - top[:, None]).sum(axis=1)  # the inverse of the probability
    order = np.lexsort((doubt, best))
    rank = np.arange(len(order)) - np.searchsorted(best[order], best[order])
    return np.sort(order[rank < n])


def label_texts(labels: Sequence[str]) -> list[str]:
    """Labels as a text would have them: ``card_arrival`` and ``CardArrival`` are ``card arrival``."""
    return [" ".join(_BETWEEN_WORDS.sub(" ", label).split()).lower() for label in labels]


def _pair(lengths: Sequence[int] | None) -> tuple[int, int] | None:
    return None if lengths is None else (int(lengths[0]), int(lengths[1]))


def _sorted_out(
    X: Iterable[str] | Corpus[Example], y: Sequence[str] | None, unlabelled: Iterable[str] | None
) -> tuple[list[str], list[str], list[str]]:
    """Labelled texts, their labels, and unlabelled texts."""
    more = list(checked_texts(unlabelled)) if unlabelled is not None else []
    if isinstance(X, Corpus):
        if y is not None:
            raise TextError("labels beside a corpus", hint="examples of a corpus hold their labels")
        examples = [Example(*each) for each in X]
        labelled = [each for each in examples if each.label is not None]
        more = [each.text for each in examples if each.label is None] + more
        return [each.text for each in labelled], [str(each.label) for each in labelled], more
    texts = list(checked_texts(X))
    labels = [] if y is None else list(y)
    if len(texts) != len(labels):
        raise TextError(f"{len(texts)} texts and {len(labels)} labels")
    return texts, labels, more
