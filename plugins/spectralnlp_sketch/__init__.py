"""Matrix sketches (small matrices that summarise many rows), text features and text classifiers.

>>> from spectralnlp_sketch import FrequentDirections

Every sketch is a scikit-learn transformer; sketches of different rows can be merged.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp_sketch.cca.estimator import CCA
    from spectralnlp_sketch.cca.model import CCAModel
    from spectralnlp_sketch.centring import Centring
    from spectralnlp_sketch.dcot.estimator import DCoT
    from spectralnlp_sketch.dcot.features import DCoTFeatures
    from spectralnlp_sketch.frequent_directions.estimator import FrequentDirections
    from spectralnlp_sketch.frequent_directions.features import FrequentDirectionsFeatures
    from spectralnlp_sketch.hashing.estimator import HashedNgrams
    from spectralnlp_sketch.intent.estimator import IntentClassifier
    from spectralnlp_sketch.intent.explanation import Explanation
    from spectralnlp_sketch.intent.model import Classification, Classifier
    from spectralnlp_sketch.intent.reading import read_texts
    from spectralnlp_sketch.intent.task import load_classifier
    from spectralnlp_sketch.labelled import with_unlabelled
    from spectralnlp_sketch.leverage.estimator import LeverageScores
    from spectralnlp_sketch.linear.estimators import OSNAP, SRHT, CountSketch, GaussianSketch
    from spectralnlp_sketch.linear.sizes import required_rows
    from spectralnlp_sketch.order import ordered_batches, training_order
    from spectralnlp_sketch.pca.estimator import StreamingPCA
    from spectralnlp_sketch.row_files import FileRows, RowFormat
    from spectralnlp_sketch.sent.estimator import SENT, SENTPlus
    from spectralnlp_sketch.stream import MatrixCorpus
    from spectralnlp_sketch.tmpca.estimator import TMPCA, tmpca_classifier
    from spectralnlp_sketch.tmpca.features import TMPCAFeatures
    from spectralnlp_sketch.words import prepare

__all__ = [
    "CCA",
    "OSNAP",
    "SENT",
    "SRHT",
    "TMPCA",
    "CCAModel",
    "Centring",
    "Classification",
    "Classifier",
    "CountSketch",
    "DCoT",
    "DCoTFeatures",
    "Explanation",
    "FileRows",
    "FrequentDirections",
    "FrequentDirectionsFeatures",
    "GaussianSketch",
    "HashedNgrams",
    "IntentClassifier",
    "LeverageScores",
    "MatrixCorpus",
    "RowFormat",
    "SENTPlus",
    "StreamingPCA",
    "TMPCAFeatures",
    "load_classifier",
    "ordered_batches",
    "prepare",
    "read_texts",
    "required_rows",
    "tmpca_classifier",
    "training_order",
    "with_unlabelled",
]

_MODULES = {
    "CCA": "cca.estimator",
    "CCAModel": "cca.model",
    "Explanation": "intent.explanation",
    "FileRows": "row_files",
    "FrequentDirections": "frequent_directions.estimator",
    "FrequentDirectionsFeatures": "frequent_directions.features",
    "GaussianSketch": "linear.estimators",
    "CountSketch": "linear.estimators",
    "OSNAP": "linear.estimators",
    "SRHT": "linear.estimators",
    "Centring": "centring",
    "DCoT": "dcot.estimator",
    "DCoTFeatures": "dcot.features",
    "Classification": "intent.model",
    "Classifier": "intent.model",
    "HashedNgrams": "hashing.estimator",
    "IntentClassifier": "intent.estimator",
    "SENT": "sent.estimator",
    "SENTPlus": "sent.estimator",
    "StreamingPCA": "pca.estimator",
    "TMPCA": "tmpca.estimator",
    "TMPCAFeatures": "tmpca.features",
    "tmpca_classifier": "tmpca.estimator",
    "prepare": "words",
    "LeverageScores": "leverage.estimator",
    "MatrixCorpus": "stream",
    "load_classifier": "intent.task",
    "ordered_batches": "order",
    "training_order": "order",
    "RowFormat": "row_files",
    "read_texts": "intent.reading",
    "required_rows": "linear.sizes",
    "with_unlabelled": "labelled",
}


def __getattr__(name: str) -> Any:
    # Imported on demand: scikit-learn takes a second to import, and --help of a command does not need it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
