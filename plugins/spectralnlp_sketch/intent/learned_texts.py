"""Compute the influence of each training text on a label's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.linalg import one_blas_thread
from spectralnlp_sketch.intent.explanation import TextEvidence
from spectralnlp_sketch.intent.head import Features, signed
from spectralnlp_sketch.intent.prior import Prior
from spectralnlp_sketch.intent.resume_state import ResumeState, key_of
from spectralnlp_sketch.labelled import Example

Array32 = NDArray[np.float32]


@dataclass(frozen=True)
class LearnedTexts:
    """Labelled training texts of a classifier, with the coefficients that give their influence on scores.

    The score of a label for a text with features x is the sum of a_j (x_j · x + 1) over the training examples
    j, with features x_j; the 1 comes from the bias. The examples are labelled texts, names of labels and, if
    labels have few texts, pseudo-labelled texts. Only the labelled texts are kept here.

    Attributes:
        examples: the n texts with their labels.
        places: index of each text's document, and of the text in the document, int64 (n, 2).
        prior: vocabulary of n-grams with vectors, from which the features of a text are computed.
        features: features x_j of the texts.
        shares: coefficients a_j of each text, one for each label, float32 (n, n_labels).
    """

    examples: list[Example]
    places: NDArray[np.int64]
    prior: Prior
    features: Features
    shares: Array32

    @classmethod
    def of(cls, classifier: Any) -> LearnedTexts | None:
        """Return the training texts that were kept with a classifier, or None if none were kept.

        The linear classifier is trained again if labels have few texts, since its duals were not saved then.
        """
        kept = classifier.kept_if_any()
        if kept is None:
            return None
        log = kept.moments.first_replay_log()
        examples = [Example(*each) for each in log.corpus()]
        is_labelled = np.array([label is not None for _, label in examples], bool)
        labelled = [example for example in examples if example.label is not None]
        texts = [text for text, _ in labelled]
        if isinstance(kept.state, ResumeState):
            keys = [key_of(*example) for example in labelled]
            prior, duals = kept.state.prior, kept.state.duals_for(keys, kept.state.labels)
            shares = signed(duals, [kept.state.labels.index(label) for _, label in labelled])
            features = kept.state.features_of(texts, keys, prior)
        else:
            learner = kept.learner.set_params(calibration=False).solve_kept(kept.moments)
            prior, shares = learner.prior_, learner.shares_[: len(labelled)]
            features = prior.features(prior.ngrams.rows_of(texts), texts)
        places = log.arrays()["places"][is_labelled, :2].astype(np.int64)
        return cls(labelled, places, prior, features, shares)

    def influence(self, text: str, wanted: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the contribution of each training text to a weighted sum of a text's scores, float64 (n,).

        Args:
            text: the text to explain.
            wanted: weights of the labels' scores in the sum (n_labels,), for example 1 and −1 for two labels.
        """
        with one_blas_thread():
            of_text = self.prior.features(self.prior.ngrams.rows_of([text]), [text])
            label_similarity = (self.features.sparse @ of_text.sparse.T).toarray()[:, 0]
            label_similarity = label_similarity + self.features.dense @ of_text.dense[0] + 1.0
            return np.asarray(label_similarity * (self.shares @ wanted), np.float64)

    def evidence(
        self, text: str, wanted: NDArray[np.floating], limit: int
    ) -> tuple[tuple[TextEvidence, ...], tuple[TextEvidence, ...]]:
        """Return the training texts that raise a weighted sum of scores most, and those that lower it most.

        Args:
            text: the text to explain.
            wanted: weights of the labels' scores in the sum (n_labels,).
            limit: maximum number of texts that raise the sum, and of texts that lower it.

        Returns:
            The texts that raise the sum, and the texts that lower it, the most influential first.
        """
        influence = self.influence(text, wanted)
        order = np.argsort(-influence, kind="stable")

        def named(number: int) -> TextEvidence:
            document, row = self.places[number].tolist()
            text, label = self.examples[number]
            return TextEvidence(float(influence[number]), document + 1, row + 1, text, str(label))

        in_favour = [each for each in order[:limit].tolist() if influence[each] > 0]
        against = [each for each in order[::-1][:limit].tolist() if influence[each] < 0]
        return tuple(map(named, in_favour)), tuple(map(named, against))
