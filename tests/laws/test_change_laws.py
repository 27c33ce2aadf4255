"""Adding, forgetting and joining, for every estimator that is registered, by its class of unlearning.

Equal means equal to the byte: the model's folder, and the moments that are kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from estimator_cases import TRAINING

from spectralnlp import changes, load, registry
from spectralnlp.changes import Change, KeptMoments
from spectralnlp.changes.kept_moments import task_of
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator
from spectralnlp.estimators.parser.span_scorer import SpanScoring
from spectralnlp.runtime import Corpus, Partition, accumulate
from spectralnlp.storage import ARRAYS, CARD, META
from spectralnlp.text.conll import AnnotatedSentence

MODEL = (ARRAYS, META, CARD)
# Small models, quickly learned; and ones whose kept moments are not those of the default.
SETTINGS: dict[str, Sequence[dict[str, Any]]] = {
    "pcfg.v1": [{}, {"vertical": 0, "annotate_tags": False}],
    "lpcfg.v1": [
        {"grammars": "tensors+clusters", "binarisations": "head+left"},
        {"grammars": "clusters", "heads": "neutral"},
    ],
    "hmm.v1": [
        {"n_states": 4},
        {"n_states": 4, "max_symbols": 6, "min_count": 2},
        {"n_states": 3, "algorithm": "hkz", "triples": "initial", "whitening": False},
    ],
    "eigenwords.v1": [{"dimensions": 5, "min_count": 1}],
    "topics.v1": [{"n_topics": 3}],
}


class Documents(Corpus[Any]):
    """A document a list of examples."""

    def __init__(self, documents: Sequence[Sequence[Any]]) -> None:
        numbered = enumerate(documents)
        self.parts = [Partition(f"document {n}", n, 0, partial(iter, each)) for n, each in numbered]

    def partitions(self) -> Sequence[Partition[Any]]:
        return self.parts


def documents_of(kind: type[Estimator]) -> list[list[Any]]:
    """Four documents of different sizes: which words are frequent depends on which of them are there."""
    examples = list(TRAINING[kind.task]())
    if kind.task == "tagging":
        examples = [AnnotatedSentence(words, {"xpos": tags}, "xpos", "memory") for words, tags in examples]
    n = len(examples)
    bounds = [0, n // 3, n // 2, n - n // 5, n]
    return [examples[a:b] for a, b in pairwise(bounds)]


def cases() -> list[Any]:
    params = []
    for entry in (*registry.estimators.describe(), *registry.featurizers.describe()):
        if entry.status != "ok":
            continue
        kind: type[Estimator] = registry.estimators.get(entry.name)
        if kind.unlearning in ("exact", "replay"):
            for number, settings in enumerate(SETTINGS.get(entry.name, [{}])):
                params.append(pytest.param(entry.name, kind(**settings), id=f"{entry.name}-{number}"))
    return params


every_case = pytest.mark.parametrize(("name", "estimator"), cases())


def train(name: str, estimator: Estimator, documents: Sequence[Sequence[Any]], unit: str = "file") -> Change:
    return changes.train(name, type(estimator)(**estimator.get_params()), Documents(documents), unit=unit)


def model_bytes(change: Change, folder: Path) -> dict[str, bytes]:
    change.save(folder, overwrite=True)
    return {name: (folder / name).read_bytes() for name in MODEL}


def moments_bytes(kept: KeptMoments) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in kept.moments.arrays().items()}


def assert_same(left: Change, right: Change, folder: Path) -> None:
    assert model_bytes(left, folder / "left") == model_bytes(right, folder / "right")
    assert moments_bytes(left.kept) == moments_bytes(right.kept)
    assert len(left.kept.ledger) == len(right.kept.ledger)


def reloaded(change: Change, folder: Path) -> KeptMoments:
    change.save(folder, overwrite=True)
    return KeptMoments.load(folder, "change")


@every_case
def test_keeping_moments_does_not_change_the_model(name: str, estimator: Estimator, tmp_path: Path) -> None:
    documents = documents_of(type(estimator))
    kept = model_bytes(train(name, estimator, documents), tmp_path / "kept")
    task_of(estimator).train(estimator, Documents(documents)).save(tmp_path / "plain")
    assert kept == {each: (tmp_path / "plain" / each).read_bytes() for each in MODEL}


@every_case
@pytest.mark.parametrize("which", [0, 2])
def test_what_forgot_a_document_never_saw_it(
    name: str, estimator: Estimator, which: int, tmp_path: Path
) -> None:
    documents = documents_of(type(estimator))
    kept = reloaded(train(name, estimator, documents), tmp_path / "all")
    forgot = changes.forget(kept, Documents([documents[which]]))
    assert moments_bytes(forgot.kept) != moments_bytes(kept)
    never = train(name, estimator, documents[:which] + documents[which + 1 :])
    assert_same(forgot, never, tmp_path)


def test_a_span_scorer_is_learned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpanScoring, "least_trees", 1)
    kind = registry.estimators.get("lpcfg.v1")
    estimator, documents = kind(em_iterations=0), documents_of(kind)
    kept = reloaded(train("lpcfg.v1", estimator, documents), tmp_path / "all")
    forgot = changes.forget(kept, Documents([documents[1]]))
    assert_same(forgot, train("lpcfg.v1", estimator, documents[:1] + documents[2:]), tmp_path)
    assert "span_scorer" in load(tmp_path / "left").components


@every_case
def test_what_was_added_was_always_there(name: str, estimator: Estimator, tmp_path: Path) -> None:
    documents = documents_of(type(estimator))
    kept = reloaded(train(name, estimator, documents[:2]), tmp_path / "some")
    updated = changes.update(kept, Documents(documents[2:]), from_scratch=True)
    assert_same(updated, train(name, estimator, documents), tmp_path)


@every_case
def test_counts_do_not_depend_on_what_came_first(name: str, estimator: Estimator, tmp_path: Path) -> None:
    if type(estimator).unlearning != "exact":
        pytest.skip("a log has an order")
    documents = documents_of(type(estimator))
    kept = reloaded(train(name, estimator, documents[2:]), tmp_path / "later")
    updated = changes.update(kept, Documents(documents[:2]))
    assert_same(updated, train(name, estimator, documents), tmp_path)


@every_case
def test_joined_models_are_one_that_saw_all(name: str, estimator: Estimator, tmp_path: Path) -> None:
    documents = documents_of(type(estimator))
    parts = [
        reloaded(train(name, estimator, part), tmp_path / f"{number}")
        for number, part in enumerate((documents[:2], documents[2:]))
    ]
    joined = changes.merge(parts)
    assert_same(joined, train(name, estimator, documents), tmp_path)
    # The ledger knows the documents of both, whose salts differ.
    first_forgotten = changes.forget(reloaded(joined, tmp_path / "joined"), Documents([documents[0]]))
    again = changes.forget(first_forgotten.kept, Documents([documents[3]]))
    assert_same(again, train(name, estimator, documents[1:3]), tmp_path)


@every_case
def test_lines_can_be_forgotten_where_documents_are_lines(
    name: str, estimator: Estimator, tmp_path: Path
) -> None:
    if "line" not in task_of(estimator).documents:
        pytest.skip("documents are files")
    documents = documents_of(type(estimator))
    kept = reloaded(train(name, estimator, documents, "line"), tmp_path / "all")
    gone = [documents[0][3], documents[0][4], documents[2][1]]
    forgot = changes.forget(kept, Documents([gone]))
    first, third = documents[0][:3] + documents[0][5:], [documents[2][0], *documents[2][2:]]
    left = [first, documents[1], third, documents[3]]
    never = train(name, estimator, left, "line")
    assert_same(forgot, never, tmp_path)


@every_case
def test_a_ledger_refuses_what_was_never_there_and_what_is_there_already(
    name: str, estimator: Estimator
) -> None:
    documents = documents_of(type(estimator))
    kept = train(name, estimator, documents[:2]).kept
    before = moments_bytes(kept)
    with pytest.raises(InputError, match=r"document 1.*not in the model, the first of 1 among 2 files"):
        changes.forget(kept, Documents([documents[0], documents[3]]))
    with pytest.raises(InputError, match=r"document 0.*not in the model"):
        changes.forget(kept, Documents([documents[0][:-1]]))
    with pytest.raises(InputError, match=r"document 1.*in the model already.*add_known"):
        changes.update(kept, Documents([documents[2], documents[1]]))
    with pytest.raises(InputError, match="nothing would be left"):
        changes.forget(kept, Documents(documents[:2]))
    with pytest.raises(InputError, match="no documents to forget"):
        changes.forget(kept, Documents([[]]))
    assert moments_bytes(kept) == before


@every_case
def test_a_file_added_again_counts_twice_and_is_forgotten_whole(
    name: str, estimator: Estimator, tmp_path: Path
) -> None:
    documents = documents_of(type(estimator))
    once = train(name, estimator, documents)
    twice = changes.update(once.kept, Documents([documents[1]]), add_known=True)
    assert moments_bytes(twice.kept) != moments_bytes(once.kept)
    forgot = changes.forget(twice.kept, Documents([documents[1]]))
    assert_same(forgot, train(name, estimator, [documents[0], *documents[2:]]), tmp_path)


@every_case
def test_fit_is_observe_and_solve(name: str, estimator: Estimator) -> None:
    task = task_of(estimator)
    corpus = task.examples(estimator, Documents(documents_of(type(estimator))))
    moments = accumulate(estimator.init_kept_moments(corpus), corpus)
    estimator.solve_kept(moments)
    solved = {key for key in vars(estimator) if key.endswith("_")}
    fitted = type(estimator)(**estimator.get_params()).fit(corpus)
    assert solved == {key for key in vars(fitted) if key.endswith("_")}


def test_merging_names_the_settings_that_differ() -> None:
    kind = registry.estimators.get("pcfg")
    documents = documents_of(kind)
    left = train("pcfg.v1", kind(), documents[:2]).kept
    right = train("pcfg.v1", kind(horizontal=2, vertical=0), documents[2:]).kept
    with pytest.raises(ConfigError, match=r"vertical \(1 and 0\), horizontal \(1 and 2\)"):
        changes.merge([left, right])
    other = registry.estimators.get("hmm")
    with pytest.raises(ConfigError, match="pcfg and by hmm"):
        changes.merge([left, train("hmm.v1", other(n_states=2), documents_of(other)).kept])


def test_merging_refuses_documents_that_are_in_both() -> None:
    kind = registry.estimators.get("pcfg")
    documents = documents_of(kind)
    kept = train("pcfg.v1", kind(), documents[:2]).kept
    more = changes.update(kept, Documents(documents[2:])).kept
    with pytest.raises(InputError, match="in more than one of the models: 2 files"):
        changes.merge([kept, more])
    assert len(changes.merge([kept, more], allow_shared=True).kept.ledger) == 6


@pytest.mark.parametrize("name", registry.estimators.names())
def test_iterative_estimators_refuse_in_one_line(name: str) -> None:
    kind: type[Estimator] = registry.estimators.get(name)
    if kind.unlearning != "none":
        assert task_of(kind()).init_kept_moments(kind(), Documents([])) is not None
        return
    with pytest.raises(ConfigError, match=registry.estimators.shown(name)) as refusal:
        train(name, kind(), [])
    assert "\n" not in str(refusal.value)
