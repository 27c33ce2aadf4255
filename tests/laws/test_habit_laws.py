"""Every registered estimator takes its examples in the collections of pandas, polars, Arrow and numpy.

What users of these, of scikit-learn and of spaCy pass by habit gives what a list gives, or is refused in one
line.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from estimator_cases import TRAINING

from spectralnlp import registry
from spectralnlp.errors import SpectralError
from spectralnlp.estimator import Estimator
from spectralnlp.testing.estimators import fitted_leaves

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


def objects(examples: Sequence[Any]) -> Any:
    array = np.empty(len(examples), object)
    array[:] = [*examples, None][:-1]  # or numpy makes a matrix of them
    return array


def of_numpy(example: Any) -> Any:
    """Return an example whose texts are numpy's."""
    if isinstance(example, str):
        return np.str_(example)
    return type(example)(map(of_numpy, example)) if isinstance(example, list | tuple) else example


def series(examples: Sequence[Any]) -> Any:
    return pandas.Series(list(examples))


ALIKE: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "tuple": tuple,
    "values of a mapping": lambda examples: dict(enumerate(examples)).values(),
    "array of objects": objects,
    "series": series,
    "series with a multi-index": lambda examples: series(examples).set_axis(
        pandas.MultiIndex.from_product([["a"], range(len(examples))])
    ),
    "texts of numpy": lambda examples: [of_numpy(each) for each in examples],
}
# Not all examples fit into these, which convert what they hold.
ALIKE_OR_REFUSED: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "iterator": iter,
    "frame of one column": lambda examples: pandas.DataFrame({"any name": series(examples)}),
    "mapping": lambda examples: dict(enumerate(examples)),
    "frame of two columns": lambda examples: pandas.DataFrame({"a": series(examples), "b": series(examples)}),
    "frame of two levels of columns": lambda examples: pandas.DataFrame({("a", "b"): series(examples)}),
    "matrix of symbols": lambda examples: np.array([list(each) for each in examples]),
    "arrays of symbols": lambda examples: [np.array(each) for each in examples],
    "lists for pairs": lambda examples: [list(each) for each in examples],
    "series of polars": lambda examples: polars.Series("any name", list(examples)),
    "frame of polars": lambda examples: polars.DataFrame({"any name": list(examples)}),
    "array of Arrow": lambda examples: pyarrow.array(list(examples)),
    "categories": lambda examples: series(examples).astype("category"),
    "text": str,
    "nothing": lambda examples: None,
    "missing example": lambda examples: [None, *examples],
    "not a number": lambda examples: [*examples, float("nan")],
    "texts in bytes": lambda examples: [str(each).encode() for each in examples],
}


def names() -> list[str]:
    described = (*registry.estimators.describe(), *registry.featurizers.describe())
    kinds = {each.name: registry.estimators.get(each.name) for each in described}
    return [name for name, kind in kinds.items() if kind.task in TRAINING and kind.task != "views"]


def fitted(name: str, data: Any) -> dict[str, object]:
    estimator: Estimator[Any] = registry.estimators.get(name)()
    return dict(fitted_leaves(vars(estimator.fit(data))))


def fitted_or_refusal(name: str, data: Any) -> dict[str, object] | str:
    try:
        return fitted(name, data)
    except SpectralError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", names())
def test_examples_in_any_collection_are_as_in_a_list(name: str) -> None:
    examples = list(TRAINING[registry.estimators.get(name).task]())
    expected = fitted(name, examples)
    for kind, make in ALIKE.items():
        assert fitted(name, make(examples)) == expected, kind
    for kind, make in ALIKE_OR_REFUSED.items():
        try:
            data = make(examples)
        except (TypeError, ValueError, pyarrow.ArrowInvalid):
            continue  # the library cannot hold these examples
        found = fitted_or_refusal(name, data)
        assert found == expected or (isinstance(found, str) and "\n" not in found), kind
