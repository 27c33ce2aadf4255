"""What each training text did for a label: a head's weights are a sum over its examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp import registry
from spectralnlp.linalg import one_blas_thread
from spectralnlp_sketch.intent.explanation import TextEvidence
from spectralnlp_sketch.intent.further import Begun, key_of
from spectralnlp_sketch.intent.head import Features, signed
from spectralnlp_sketch.intent.prior import Prior
from spectralnlp_sketch.labelled import Example

Array32 = NDArray[np.float32]


@dataclass(frozen=True)
class LearnedTexts:
    """The labelled texts that a classifier was learned from.

    The score of a label for a text is Σ_j a_j (x_j · x + 1), x being features and 1 that of the bias, over
    the examples j that the head was learned from: labelled texts, names of labels, and where labels have few
    texts unlabelled ones; only the labelled texts are here.

    Attributes:
        examples: texts and labels.
        places: int64 (n, 2); document and row of each.
        prior: makes features of texts.
        features: of the texts.
        shares: float32 (n, n_labels); a.
    """

    examples: list[Example]
    places: NDArray[np.int64]
    prior: Prior
    features: Features
    shares: Array32

    @classmethod
    def of(cls, classifier: Any) -> LearnedTexts | None:
        """Return the texts that were kept beside a classifier; None if nothing was.

        Where the state of its head was not kept beside them, for labels have few texts, it is learned again.
        """
        kept = registry.changes.get("models").kept_if_any(classifier)
        if kept is None:
            return None
        log = kept.moments.first_log()
        examples = [Example(*each) for each in log.corpus()]
        is_labelled = np.array([label is not None for _, label in examples], bool)
        labelled = [each for each in examples if each.label is not None]
        if isinstance(kept.state, Begun):
            keys = [key_of(*each) for each in labelled]
            prior, duals = kept.state.prior, kept.state.duals_for(keys, kept.state.labels)
            shares = signed(duals, [kept.state.labels.index(label) for _, label in labelled])
        else:
            learner = kept.learner.set_params(calibration=False).solve_kept(kept.moments)
            prior, shares = learner.prior_, learner.shares_[: len(labelled)]
        texts = [text for text, _ in labelled]
        with one_blas_thread():
            features = prior.features(prior.ngrams.rows_of(texts), texts)
        places = log.arrays()["places"][is_labelled, :2].astype(np.int64)
        return cls(labelled, places, prior, features, shares)

    def influence(self, text: str, wanted: NDArray[np.floating]) -> NDArray[np.float64]:
        """What each training text adds to a sum of the scores of a text, float64 (n,).

        Args:
            text: any text.
            wanted: (n_labels,); how the scores of labels are added up.
        """
        with one_blas_thread():
            own = self.prior.features(self.prior.ngrams.rows_of([text]), [text])
            likeness = (self.features.sparse @ own.sparse.T).toarray()[:, 0]
            likeness = likeness + self.features.dense @ own.dense[0] + 1.0
            return np.asarray(likeness * (self.shares @ wanted), np.float64)

    def evidence(
        self, text: str, wanted: NDArray[np.floating], most: int
    ) -> tuple[tuple[TextEvidence, ...], tuple[TextEvidence, ...]]:
        """Name the training texts that add most to a sum of scores, and those that take most away."""
        influence = self.influence(text, wanted)
        order = np.argsort(-influence, kind="stable")

        def named(number: int) -> TextEvidence:
            document, row = self.places[number].tolist()
            text, label = self.examples[number]
            return TextEvidence(float(influence[number]), document + 1, row + 1, text, str(label))

        in_favour = [each for each in order[:most].tolist() if influence[each] > 0]
        against = [each for each in order[::-1][:most].tolist() if influence[each] < 0]
        return tuple(map(named, in_favour)), tuple(map(named, against))
