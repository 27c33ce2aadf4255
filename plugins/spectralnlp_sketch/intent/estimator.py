"""Estimator ``intent.v1``: a linear text classifier over n-grams and spectral features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator
from spectralnlp.linalg import one_blas_thread
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus
from spectralnlp.storage import StoredArrays
from spectralnlp_sketch.hashing.ngrams import Lengths, NgramFormat, checked_pair
from spectralnlp_sketch.intent.calibration import Calibration, learn_held_out
from spectralnlp_sketch.intent.explanation import Explanation
from spectralnlp_sketch.intent.head import Examples, Features, Learned
from spectralnlp_sketch.intent.head_learner import (
    HeadLearner,
    is_few_shot,
    label_similarity_of,
    label_texts,
    settings_for,
)
from spectralnlp_sketch.intent.model import Classifier
from spectralnlp_sketch.intent.prior import Prior, learn_prior
from spectralnlp_sketch.intent.pseudo_labels import Unlabelled
from spectralnlp_sketch.intent.resume_state import ResumeState, key_of
from spectralnlp_sketch.intent.scaled_featurizer import is_folder
from spectralnlp_sketch.intent.scope import familiarity_of
from spectralnlp_sketch.intent.stacking import SecondLayer
from spectralnlp_sketch.intent.text_log import TextLog
from spectralnlp_sketch.labelled import (
    Example,
    LabelledTexts,
    TextInput,
    distinct_labels,
    labelled_corpus,
    split_by_label,
)

Array32 = NDArray[np.float32]
# Number of columns that n-grams are hashed to: half for words and half for characters, so few collide.
N_COLUMNS = 2**21
# Maximum distance of the words of a pair; in queries nearly all pairs are closer.
PAIR_REACH = 10


@dataclass(kw_only=True, eq=False, repr=False)
class IntentClassifier(TextInput, IterativeEstimator[Example], ClassifierMixin, BaseEstimator):
    """Linear text classifier that also learns from unlabelled texts.

    Texts whose label is None are unlabelled; `with_unlabelled` adds such texts to labelled ones for ``fit``.

    The features of a text are its tf-idf row of hashed n-grams, and the projection of this row onto
    directions, mostly eigenwords, which are learned from all texts (`intent.prior`). A linear classifier, the
    head (`intent.head`), is trained on these features, with the name of each label as an additional example.
    If labels have few texts, the unlabelled texts that the classifier is most certain of are added as
    examples of lower weight. All features are linear in the n-grams, so the trained weights are stored as one
    table of scores, n-grams × labels. A second layer (`intent.stacking`) may correct the scores.

    Attributes:
        prior_: n-grams, and the directions onto which texts are projected, learned without labels; a
            :class:`~spectralnlp_sketch.intent.prior.Prior`.
        classifier_: the trained classifier, which can be saved; a
            :class:`~spectralnlp_sketch.intent.model.Classifier`.
        settings_: loss and weights of the head, a
            :class:`~spectralnlp_sketch.intent.head_learner.HeadSettings`.
        classes_: the labels, sorted.
        n_labelled_, n_unlabelled_: number of labelled and unlabelled texts learned from.
        resume_state_: state from which `resume_training` resumes; None if labels have few texts or a
            featurizer is used.
        few_shot_: whether labels have so few texts that the similarity of label names and pseudo-labels of
            unlabelled texts help.
        shares_: coefficients A of the training examples, float32 (n_examples, n_labels): the head's weights
            are XᵀA, where the rows of X are the features of the examples. Set by training, not by resuming.
        label_similarity_: similarity of label names, float32 (n_labels, n_labels); None if it is not used.

    Examples:
        >>> from spectralnlp_sketch import IntentClassifier
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> labels = ["price", "price", "times", "times"]
        >>> model = IntentClassifier().fit(texts, labels)
        >>> str(model.predict(["how much does it cost"])[0])
        'price'
    """

    task = "intents"
    log = TextLog

    words: Annotated[Lengths, Doc("Shortest and longest n-gram of words; None for none.")] = (1, 2)
    characters: Annotated[Lengths, Doc("Shortest and longest n-gram of characters; None for none.")] = (2, 5)
    featurizer: Annotated[
        str | None,
        Doc(
            "Featurizer to use instead of the built-in directions: a registered name, which learns from all "
            "texts, or the folder of a trained featurizer; null for the built-in directions."
        ),
    ] = None
    C: Annotated[
        Annotated[float, Gt(0), Le(1e6)] | None,
        Doc("Weight of the loss relative to the regulariser; None for 60 if labels have few texts, else 2."),
    ] = None
    calibration: Annotated[
        bool,
        Doc("Whether to calibrate confidences to probabilities, by up to five more fits."),
    ] = True
    refused: Annotated[
        float, Ge(0), Le(1), Doc("Share of in-scope texts that may be refused; it sets the threshold.")
    ] = 0.05
    random_state: Annotated[int, Ge(0), Doc("Random seed.")] = 0

    as_corpus = staticmethod(labelled_corpus)

    def learn(self, corpus: Corpus[Example]) -> None:
        """Learn from labelled and unlabelled texts.

        Raises:
            TextError: there are fewer than two labels, or all texts are empty.
        """
        data = split_by_label(corpus)
        self.classes_ = distinct_labels(data.labels)
        prior, _ = self.learn_prior(
            [*data.texts, *data.unlabelled], len(data.texts), None if data.is_all else corpus
        )
        with one_blas_thread():
            self._learn_head(prior, data)

    def fit_head(self, prior: Prior, X: Any, y: Any = None) -> Self:
        """Train only the linear classifier (the head), with n-grams and directions that were learned before.

        Several classifiers, for example of different labels, can share one prior (n-grams and directions).

        Args:
            prior: ``prior_`` of another classifier, or the first result of `learn_prior`.
            X: texts; or (text, label) pairs, as a list or a corpus.
            y: labels of the texts, None for an unlabelled text; omitted if X holds pairs.

        Raises:
            TextError: there are fewer than two labels, or an element is not a text.
            ConfigError: a hyper-parameter is invalid.
        """
        self.validate()
        data = split_by_label(self.as_corpus(X, y))
        self.classes_ = distinct_labels(data.labels)
        with one_blas_thread():
            self._learn_head(prior, data)
        return self

    def learn_prior(
        self, texts: Sequence[str], n_labelled: int = 0, stream: Corpus[Example] | None = None
    ) -> tuple[Prior, sp.csr_array]:
        """Learn the prior from texts without their labels: n-grams, idf, and directions to project onto.

        Args:
            texts: texts, the labelled ones first; all n-grams of labelled texts are kept.
            n_labelled: number of labelled texts.
            stream: corpus of all texts if ``texts`` is a sample; None if ``texts`` holds all of them.

        Returns:
            The prior, and the tf-idf rows of the texts, CSR float32 (n_texts, n_ngrams).

        Raises:
            TextError: all texts are empty.
        """
        return learn_prior(
            texts,
            n_labelled,
            self._format(),
            self.random_state,
            featurizer=self.featurizer,
            stream=stream,
        )

    def check_combination(self) -> None:
        """Check the n-gram lengths, and that the featurizer exists.

        Raises:
            ConfigError: lengths are not a range, or neither words nor characters are counted.
            RegistryError: no featurizer has that name, and there is no such folder.
        """
        self._format()
        if self.featurizer is not None:
            is_folder(self.featurizer)

    def _format(self) -> NgramFormat:
        return NgramFormat(checked_pair(self.words), checked_pair(self.characters), N_COLUMNS)

    def _learn_head(self, prior: Prior, data: LabelledTexts) -> None:
        texts, labels, n_labelled = data.texts, data.labels, len(data.labels)
        self.n_labelled_, self.n_unlabelled_ = n_labelled, data.n_unlabelled
        names = label_texts(self.classes_.tolist())
        numbers = np.searchsorted(self.classes_, labels)
        self.few_shot_ = is_few_shot(numbers)
        self.settings_ = settings_for(self.few_shot_, self.C)
        self.label_similarity_ = label_similarity_of(names, prior.ngrams.form) if self.few_shot_ else None
        with fit_pass("pairs of words"):
            prior = replace(prior, ngrams=prior.ngrams.with_pairs(texts, PAIR_REACH))
            rows = prior.ngrams.rows_of(texts)
            self.prior_ = prior.weighted(rows, texts, pairs=self.settings_.pairs, dense=self.settings_.dense)
        examples, name_keys = self._examples(data, self.prior_.features(rows, texts), names)
        with fit_pass("head"):
            learner, others = HeadLearner(self.settings_, self.label_similarity_, self.random_state), None
            if self.few_shot_ and data.unlabelled:
                others = Unlabelled.of(
                    self.prior_.features(self.prior_.ngrams.rows_of(data.unlabelled), data.unlabelled),
                    examples.features.rows(np.arange(n_labelled)),
                    self.random_state,
                )
            learned, self.shares_ = learner.learn(examples, others)
        calibration = learn_held_out(
            learner,
            examples,
            n_labelled,
            others,
            learned,
            self.prior_.ngrams,
            calibrates=self.calibration,
            refused=self.refused,
        )
        self._finish([*_keys(data), *name_keys], learned, calibration)

    def _finish(self, keys: Sequence[bytes], learned: Learned, calibration: Calibration) -> None:
        """Set ``classifier_`` and ``resume_state_`` from the results of training.

        Args:
            keys: keys of the training examples, from `key_of`.
            learned: the trained head with its examples.
            calibration: what was learned from held-out texts.
        """
        weights, features = learned.weights, learned.examples.features
        layer, sharpness, scope = calibration
        ngrams, scaled_featurizer, bias = self.prior_.ngrams, self.prior_.scaled_featurizer, weights.bias
        feature_table = None
        if scaled_featurizer is not None:
            feature_table, of_mean = self.prior_.feature_scores(weights)
            bias = bias - of_mean
        self.classifier_ = Classifier(
            labels=tuple(str(label) for label in self.classes_),
            form=ngrams.form,
            columns=ngrams.columns,
            idf=ngrams.idf,
            table=self.prior_.fold(weights),  # one table of all that is linear in the n-grams
            bias=bias,
            centers=None if layer is None else layer.centers,
            corrections=None if layer is None else layer.weights,
            sharpness=sharpness,
            familiarity=familiarity_of(features.sparse[: self.n_labelled_]),
            scope=scope,
            featurizer=None if scaled_featurizer is None else scaled_featurizer.featurizer,
            feature_table=feature_table,
        )
        self.resume_state_ = None
        if not self.few_shot_ and scaled_featurizer is None:
            labels = tuple(self.classes_.tolist())
            corrections = layer or SecondLayer.none(len(labels))
            duals = weights.duals
            self.resume_state_ = ResumeState(
                self.prior_, labels, keys, duals, corrections, sharpness, scope, features
            )

    def state(self) -> ResumeState | None:
        """Return the state from which training resumes with more texts.

        Returns None if labels have few texts or a featurizer is used: then all texts must be learned again.
        """
        return self.resume_state_

    def read_state(self, stored: StoredArrays) -> ResumeState:
        """Restore the state from which training resumes, from the stored arrays.

        Raises:
            ModelError: an array is invalid.
        """
        return ResumeState.of_arrays(stored, replace(self._format(), pairs=PAIR_REACH))

    def resume_training(self, moments: TextLog, state: ResumeState) -> Self:
        """Learn from all stored texts, old and new, starting from the solution for the old ones.

        Directions, pairs of words, the second layer, calibration and scope detector are kept. If labels have
        few texts, everything is learned again.

        Args:
            moments: all labelled and unlabelled texts, old and new.
            state: state of the classifier that was trained on the old texts.
        """
        self.validate()
        data = split_by_label(moments.corpus())
        self.classes_ = distinct_labels(data.labels)
        if is_few_shot(np.searchsorted(self.classes_, data.labels)):
            return self.solve_kept(moments)
        with one_blas_thread(), fit_pass("head"):
            self._learn_further(data, state)
        return self

    def _learn_further(self, data: LabelledTexts, state: ResumeState) -> None:
        self.n_labelled_, self.n_unlabelled_ = len(data.labels), data.n_unlabelled
        self.few_shot_, self.label_similarity_, self.settings_ = False, None, settings_for(False, self.C)
        known, labels, keys = set(state.keys), self.classes_.tolist(), _keys(data)
        new = [text for text, key in zip(data.texts, keys, strict=True) if key not in known]
        self.prior_ = state.prior.with_texts(new, self.n_labelled_ + self.n_unlabelled_)
        of_texts = state.features_of(data.texts, keys, self.prior_)
        examples, names = self._examples(data, of_texts, label_texts(labels))
        keys += names
        learner = HeadLearner(self.settings_, None, self.random_state)
        weights = learner.resume(examples, state.duals_for(keys, labels))
        learned = Learned(weights, examples, np.arange(len(keys)))
        calibration = Calibration(state.layer_for(labels), state.sharpness, state.scope)
        self._finish(keys, learned, calibration)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest label of each text, (n_texts,)."""
        best = self._fitted().predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array32:
        """Return probabilities of labels in the order of ``classes_``, float32 (n_texts, n_classes)."""
        return self._fitted().predict_proba(X)

    def decision_function(self, X: Any) -> Array32:
        """Return scores of labels, the natural logarithms of `predict_proba`.

        Returns:
            Scores, float32 (n_texts, n_classes), in the order of ``classes_``; for two classes the score of
            the second minus the score of the first, float32 (n_texts,).
        """
        scores = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float32).tiny))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def out_of_scope(self, X: Any) -> Array32:
        """Return a score of each text, 0 to 1, high if it seems to belong to no label; float32 (n_texts,)."""
        return self._fitted().out_of_scope(X)

    def explain(self, text: str, label: str | None = None) -> Explanation:
        """Explain why a text has a label, by the contributions of its n-grams and words to the score.

        To list influential training texts too, use `Classifier.explain` of a classifier that kept its texts.

        Args:
            text: text whose label is explained.
            label: the label to explain; None for the likeliest.
        """
        return self._fitted().explain(text, label, limit=0)

    def _fitted(self) -> Classifier:
        self.check_is_fitted()
        return self.classifier_

    def _examples(
        self, data: LabelledTexts, of_texts: Features, names: Sequence[str]
    ) -> tuple[Examples, list[bytes]]:
        """Return the training examples: the labelled texts, then the names of labels.

        Only names with at least one word of the vocabulary become examples.

        Args:
            data: labelled texts with their labels.
            of_texts: features of the labelled texts.
            names: names of all labels as texts, in the order of ``classes_``.

        Returns:
            The examples, and the key (from `key_of`) of each name among them.
        """
        prior, labels = self.prior_, self.classes_.tolist()
        name_rows = prior.ngrams.rows_of(names)
        known = np.flatnonzero(name_rows[:, : prior.ngrams.n_words].sum(axis=1) > 0)
        of_names = prior.features(name_rows[known], [names[i] for i in known.tolist()])
        wanted = np.append(np.searchsorted(self.classes_, data.labels), known)
        targets, weights = np.eye(len(labels), dtype=np.float32)[wanted], np.ones(len(wanted), np.float32)
        keys = [key_of(names[i], labels[i], is_name=True) for i in known.tolist()]
        return Examples(of_texts.with_more(of_names), targets, weights), keys


def _keys(data: LabelledTexts) -> list[bytes]:
    return [key_of(text, label) for text, label in zip(data.texts, data.labels, strict=True)]
