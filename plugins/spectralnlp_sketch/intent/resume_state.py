"""State from which a classifier resumes learning when labelled texts are added.

The vectors of n-grams, the list of word pairs, and what was learned from held-out texts stay fixed. Training
of the linear classifier (head) starts from the saved dual variables, and converges to the unique optimum for
all texts, old and new.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import pack_names
from spectralnlp.storage import Arrays, StoredArrays, float_array, int_array
from spectralnlp_sketch.hashing.ngrams import NgramFormat, Ngrams
from spectralnlp_sketch.intent.head import Features
from spectralnlp_sketch.intent.prior import Prior
from spectralnlp_sketch.intent.scope import Scope
from spectralnlp_sketch.intent.stacking import SecondLayer
from spectralnlp_sketch.intent.text_log import labels_of

Array32 = NDArray[np.float32]
_KEY_BYTES = 16
# Three scales of the prior, the sharpness, and the numbers of the scope detector.
_SCOPE = ("bias", "confidence", "familiarity", "threshold")
_NUMBERS = float_array(4 + len(_SCOPE), stored=("float64",))


class ResumeState(NamedTuple):
    """State of a classifier from which its training resumes: dual variables, and parts that stay fixed.

    Args:
        prior: vocabulary of n-grams with vectors.
        labels: labels of the columns of ``duals``.
        keys: hash of each example, which is a labelled text or the name of a label, from `key_of`.
        duals: dual variables of the head, float32 (n_examples, n_labels).
        layer: second layer, which corrects scores; empty if there are no corrections.
        sharpness, scope: as in `Classifier`.
        features: features of the examples; None after loading, as they are not stored.
    """

    prior: Prior
    labels: tuple[Any, ...]
    keys: Sequence[bytes]
    duals: Array32
    layer: SecondLayer
    sharpness: float
    scope: Scope
    features: Features | None = None

    def duals_for(self, keys: Sequence[bytes], labels: Sequence[Any]) -> Array32:
        """Return dual variables from which training can start, float32 (n, n_labels).

        They are 0 for examples and labels that are not in the state.

        Args:
            keys: keys of the examples to train on, from `key_of`.
            labels: labels for which duals are returned, one column for each.
        """
        duals = np.pad(self.duals, ((0, 1), (0, 0)))[self._places(keys)]
        if tuple(labels) == self.labels:
            return duals
        return np.ascontiguousarray(np.pad(duals, ((0, 0), (0, 1)))[:, self._columns(labels)])

    def features_of(self, texts: Sequence[str], keys: Sequence[bytes], prior: Prior) -> Features:
        """Return the features of labelled texts; only those of texts that are not in the state are computed.

        Args:
            texts: the texts, old or new.
            keys: keys of the texts with their labels.
            prior: the prior of the state, or one that extends it by further n-grams.
        """
        places = np.full(len(texts), -1) if self.features is None else self._places(keys)
        new = np.flatnonzero(places < 0)
        more = [texts[number] for number in new.tolist()]
        made = prior.features(prior.ngrams.rows_of(more), more)
        if self.features is None:
            return made
        columns = prior.ngrams.columns
        known = self.features.with_columns(np.searchsorted(columns, self.prior.ngrams.columns), len(columns))
        places[new] = len(known) + np.arange(len(new))
        return known.with_more(made).rows(places)

    def _places(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Return the index of each example in the state, int64 (n,), or -1 for a new example.

        Equal examples, which have equal keys, get different indices.
        """
        places: dict[bytes, list[int]] = defaultdict(list)
        for place, key in enumerate(self.keys):
            places[key].append(place)
        return np.array([places[key].pop() if places.get(key) else -1 for key in keys], np.int64)

    def layer_for(self, labels: Sequence[Any]) -> SecondLayer | None:
        """Return the second layer (corrections of scores) for a changed list of labels.

        Scores of new labels are not corrected. Returns None if the state has no second layer.
        """
        if not len(self.layer.centers):
            return None
        columns = self._columns(labels)
        weights = np.pad(self.layer.weights, ((0, 1), (0, 1)))[np.ix_(columns, columns)]
        return SecondLayer(np.append(self.layer.centers, np.float32(0.0))[columns], weights)

    def _columns(self, labels: Sequence[Any]) -> NDArray[np.int64]:
        """Return the index of each label in the state, int64 (n_labels,), or -1 for a new label."""
        column = {label: number for number, label in enumerate(self.labels)}
        return np.array([column.get(label, -1) for label in labels])

    def arrays(self) -> Arrays:
        """Return the state as arrays to save, which `of_arrays` reads back."""
        prior = self.prior
        numbers = [prior.sparse_scale, prior.pair_scale, prior.dense_scale, self.sharpness]
        numbers += [getattr(self.scope, name) for name in _SCOPE]
        return {
            "labels": pack_names(json.dumps(label, ensure_ascii=False) for label in self.labels),
            "keys": np.frombuffer(b"".join(self.keys), np.uint8).reshape(-1, _KEY_BYTES),
            "duals": self.duals,
            "columns": prior.ngrams.columns,
            "idf": prior.ngrams.idf,
            "projection": prior.projection,
            "centers": self.layer.centers,
            "corrections": self.layer.weights,
            "numbers": np.array(numbers),
        }

    @classmethod
    def of_arrays(cls, stored: StoredArrays, form: NgramFormat) -> Self:
        """Restore the state from the arrays that `arrays` returned.

        Args:
            stored: saved arrays of the state.
            form: format of n-grams.

        Raises:
            ModelError: an array is invalid.
        """
        labels = labels_of(stored)
        sized = stored.part(n_labels=len(labels), width=form.width)
        columns = sized.take("columns", int_array("n_ngrams", below="width", ascending=True))
        ngrams = Ngrams(
            form, columns, sized.take("idf", float_array("n_ngrams", dtype="float32", least=1e-6, most=1e6))
        )
        sized = sized.part(n_single=ngrams.n_single)
        keys = sized.take("keys", int_array("n_examples", _KEY_BYTES, dtype="uint8"))
        centers = sized.take("centers", float_array("n_centers", dtype="float32"))
        numbers = sized.take("numbers", _NUMBERS).tolist()
        return cls(
            prior=Prior(
                ngrams,
                sized.take("projection", float_array("n_single", "n_dimensions", dtype="float32")),
                *numbers[:3],
            ),
            labels=tuple(labels),
            keys=[key.tobytes() for key in keys],
            duals=sized.take("duals", float_array("n_examples", "n_labels", dtype="float32", least=0)),
            layer=SecondLayer(
                centers, sized.take("corrections", float_array("n_centers", "n_labels", dtype="float32"))
            ),
            sharpness=numbers[3],
            scope=Scope(**dict(zip(_SCOPE, numbers[4:], strict=True))),
        )


def key_of(text: str, label: Any, *, is_name: bool = False) -> bytes:
    """Return a hash that identifies a training example.

    Args:
        text: the text, or the name of a label as text.
        label: label of the example.
        is_name: whether the example is the name of a label.
    """
    identifier = f"{label}\0{is_name}\0{text}"
    return blake2b(identifier.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()
