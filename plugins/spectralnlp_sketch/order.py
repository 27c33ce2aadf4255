"""In which order to train: rows of high leverage first, or sampled by leverage, or shuffled.

Chin and Liang 2019, algorithm 4 and section 5.2. An order is a matter of indices, so it works with any
learner that takes batches: ``partial_fit``, spaCy's ``nlp.update``, anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectralnlp_sketch.errors import MatrixError, SizeError

T = TypeVar("T")
Indices = NDArray[np.int64]

POLICIES = ("shuffle", "dec", "dec-swr", "dec-swor")


def training_order(
    scores: ArrayLike, policy: str = "dec-swor", *, epochs: int = 1, random_state: int = 0
) -> Iterator[Indices]:
    """The order of examples in each epoch.

    Args:
        scores: a leverage score for each example (n,), not negative.
        policy: ``shuffle``: at random, scores play no part. ``dec``: by falling score, ties in their order.
            ``dec-swr``: n draws with replacement, in proportion to the scores: some examples come twice, some
            never. ``dec-swor``: without replacement, so that high scores tend to come early.
        epochs: how many orders; the random ones differ.
        random_state: seed.

    Yields:
        Indices int64 (n,), once an epoch.

    Raises:
        SizeError: there is no such policy.
        MatrixError: a score is negative, NaN or infinite; says which.

    Examples:
        >>> from spectralnlp_sketch import training_order
        >>> next(training_order([0.1, 0.9, 0.5], policy="dec")).tolist()
        [1, 2, 0]
    """
    values = np.asarray(scores, dtype=np.float64).reshape(-1)
    if policy not in POLICIES:
        raise SizeError(f"no policy is called {policy!r}", hint=f"there are {', '.join(POLICIES)}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise MatrixError(f"score {wrong[0]} is {values[wrong[0]]}, not a number from 0 on")
    return _orders(values, policy, epochs, np.random.default_rng(random_state))


def _orders(
    scores: NDArray[np.float64], policy: str, epochs: int, rng: np.random.Generator
) -> Iterator[Indices]:
    n = len(scores)
    if not scores.any():  # all alike
        scores = np.ones(n)
    for _ in range(epochs):
        if policy == "shuffle":
            yield rng.permutation(n)
        elif policy == "dec":
            yield np.argsort(-scores, kind="stable")
        elif policy == "dec-swr":
            yield rng.choice(n, size=n, p=scores / scores.sum())
        else:
            # Exponential races (Efraimidis and Spirakis 2006): who arrives first, at rates as the scores.
            with np.errstate(divide="ignore"):
                arrivals = rng.standard_exponential(n) / scores
            yield np.argsort(arrivals, kind="stable")


def ordered_batches(
    examples: Sequence[T] | Any,
    scores: ArrayLike,
    policy: str = "dec-swor",
    *,
    size: int = 256,
    epochs: int = 1,
    random_state: int = 0,
) -> Iterator[Any]:
    """Examples in that order, ``size`` at a time, epoch after epoch.

        for batch in ordered_batches(docs, scores, size=32, epochs=10):
            nlp.update(batch)

    Args:
        examples: a list (batches are lists, as spaCy's are), or a matrix whose rows are taken, or a tuple of
            several that belong together, ``(X, y)`` (batches are tuples).
        scores: one for each example.
        policy: as in `training_order`.
        size: examples in a batch; the last one of an epoch may have fewer.
        epochs: as in `training_order`.
        random_state: seed.

    Raises:
        SizeError: ``size`` is under 1, or there is no such policy.
        MatrixError: there are not as many scores as examples.

    Examples:
        >>> from spectralnlp_sketch import ordered_batches
        >>> [len(batch) for batch in ordered_batches(["a", "b", "c"], [0.1, 0.9, 0.5], size=2)]
        [2, 1]
    """
    if size < 1:
        raise SizeError(f"size must be 1 or more, not {size}")
    together = examples if isinstance(examples, tuple) else (examples,)
    n = int(np.size(np.asarray(scores)))
    for each in together:
        length = each.shape[0] if hasattr(each, "shape") else len(each)
        if length != n:
            raise MatrixError(f"{n} scores for {length} examples")
    return _batches(together, training_order(scores, policy, epochs=epochs, random_state=random_state), size)


def _batches(together: tuple[Any, ...], orders: Iterator[Indices], size: int) -> Iterator[Any]:
    for order in orders:
        for low in range(0, len(order), size):
            chosen = order[low : low + size]
            taken = tuple(_take(each, chosen) for each in together)
            yield taken if len(together) > 1 else taken[0]


def _take(examples: Any, chosen: Indices) -> Any:
    return examples[chosen] if hasattr(examples, "shape") else [examples[i] for i in chosen]
