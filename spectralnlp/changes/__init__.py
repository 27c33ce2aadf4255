"""Changing one's mind: documents added to a trained model, documents taken out, models joined.

An estimator says what can be done (``change_of_mind``): from integer counts, everything, exactly; from a log
of integers, everything, by running its later passes again; from sketches that only grow, all but forgetting.
What is kept lies beside the model (:mod:`~spectralnlp.changes.kept`), with a ledger of what it was made of
(:mod:`~spectralnlp.changes.ledger`); the verbs are in :mod:`~spectralnlp.changes.verbs`.
"""

from spectralnlp.changes.kept import Kept
from spectralnlp.changes.verbs import Change, forget, merge, train, update

__all__ = ["Change", "Kept", "forget", "merge", "train", "update"]
