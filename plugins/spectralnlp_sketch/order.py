"""Order training examples by leverage score: by decreasing score, or sampled in proportion to it."""

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
    """Yield an order of the training examples for each epoch, by their leverage scores or at random.

    Args:
        scores: non-negative leverage score of each example (n,).
        policy: ``shuffle``: at random, ignoring scores. ``dec``: by decreasing score; examples with equal
            scores keep their order. ``dec-swr``: n draws with replacement in proportion to the scores, so
            some examples occur twice and some never. ``dec-swor``: n such draws without replacement, so that
            examples with high scores tend to come early.
        epochs: number of orders; random orders differ.
        random_state: seed of the random orders.

    Yields:
        Indices of examples, int64 (n,), one array for each epoch.

    Raises:
        SizeError: there is no such policy.
        MatrixError: a score is negative, NaN or infinite; the message says which.

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
    if not scores.any():  # all scores are zero, so all examples are equal
        scores = np.ones(n)
    for _ in range(epochs):
        if policy == "shuffle":
            yield rng.permutation(n)
        elif policy == "dec":
            yield np.argsort(-scores, kind="stable")
        elif policy == "dec-swr":
            yield rng.choice(n, size=n, p=scores / scores.sum())
        else:
            # Exponential races (Efraimidis and Spirakis 2006): sort by arrival times with rates = scores.
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
    """Yield batches of ``size`` examples in the order of `training_order`, epoch after epoch.

        for batch in ordered_batches(docs, scores, size=32, epochs=10):
            nlp.update(batch)

    Args:
        examples: a list (batches are lists, as for spaCy), a matrix (batches are rows), or a tuple of lists
            or matrices of equal length such as ``(X, y)`` (batches are tuples).
        scores: leverage score of each example.
        policy: as for `training_order`.
        size: number of examples in a batch; the last batch of an epoch may have fewer.
        epochs: as for `training_order`.
        random_state: seed of the random orders.

    Raises:
        SizeError: ``size`` is less than 1, or there is no such policy.
        MatrixError: the numbers of scores and examples differ, or a score is negative, NaN or infinite.

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
