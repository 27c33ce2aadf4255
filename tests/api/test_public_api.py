"""The public names, and the natural calls."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spectralnlp
import spectralnlp.testing
from spectralnlp import registry
from spectralnlp.errors import ConfigError, InputError, RegistryError, SpectralError

SENTENCES = [["a", "b", "a", "c"], ["b", "c"], ["c", "a", "b"], ["a", "b", "b", "c"]]


def fresh(script: str) -> str:
    """Run a script in a process of its own, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout


# ---------------------------------------------------------------------------------------------------------
# Names


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(spectralnlp.__all__) == sorted(set(spectralnlp.__all__))
    assert set(spectralnlp.__all__) <= set(dir(spectralnlp))
    for name in spectralnlp.__all__:
        value = getattr(spectralnlp, name)
        assert name == "__version__" or inspect.getdoc(value)
    with pytest.raises(AttributeError, match="no_such_name"):
        spectralnlp.no_such_name  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported_lazily() -> None:
    (block,) = (
        node
        for node in ast.parse(inspect.getsource(spectralnlp)).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    )
    seen = {
        (alias.name, statement.module)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == set(spectralnlp._MODULE_OF.items())
    assert {name for name, _ in seen} | {"__version__"} == set(spectralnlp.__all__)


@pytest.mark.parametrize("module", [spectralnlp, spectralnlp.testing])
def test_star_imports_work(module: ModuleType) -> None:
    names: dict[str, Any] = {}
    exec(f"from {module.__name__} import *", names)
    assert set(module.__all__) <= set(names)


def test_importing_the_package_imports_almost_nothing() -> None:
    script = "import sys; before = set(sys.modules); import spectralnlp; print(*set(sys.modules) - before)"
    imported = fresh(script).split()
    assert not {"numpy", "scipy", "numba", "pydantic", "typer", "nltk"} & set(imported)
    assert [name for name in imported if name.startswith("spectralnlp")] == ["spectralnlp"]


@pytest.mark.slow
def test_checks_of_extensions_need_no_test_packages() -> None:
    script = "import sys; import spectralnlp.testing; print(*({'pytest', 'hypothesis'} & set(sys.modules)))"
    assert fresh(script).strip() == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "action",
    [
        "from spectralnlp.cli.app import run; run(['--help'])",
        "import spectralnlp; spectralnlp.load('en').parse('The tower is high.')",
        "from spectralnlp.estimators.lpcfg import LPCFG; LPCFG(n_states=4).validate()",
    ],
)
def test_pydantic_is_not_imported(action: str) -> None:
    # Typer, too, imports it where it is installed, once a command has options to convert.
    assert fresh(f"{action}; import sys; print('pydantic' in sys.modules)").splitlines()[-1] == "False"


# ---------------------------------------------------------------------------------------------------------
# Natural calls


@pytest.fixture(scope="module")
def trees(own_treebank: Path) -> list[spectralnlp.Tree]:
    return list(spectralnlp.read_treebank(own_treebank / "train.mrg"))[:40]


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> spectralnlp.Parser:
    model: spectralnlp.Parser = spectralnlp.train("pcfg", own_treebank / "train.mrg", vertical=0)
    return model


def test_train_evaluate_save_and_load(parser: spectralnlp.Parser, own_treebank: Path, tmp_path: Path) -> None:
    assert isinstance(parser, spectralnlp.Parser)
    report = spectralnlp.evaluate(parser, str(own_treebank / "dev.mrg"))
    assert report.to_flat_dict()["f1"] > 80
    parser.save(tmp_path / "model")
    again = spectralnlp.evaluate(tmp_path / "model", [own_treebank / "d*.mrg"], reader="ptb")
    assert again.to_flat_dict()["f1"] == report.to_flat_dict()["f1"]
    loaded = spectralnlp.load(tmp_path / "model")
    (parse,) = loaded.parse("The tower is high.")
    assert isinstance(parse, spectralnlp.Parse)


@pytest.mark.parametrize("name", ["parsing", "tagging", "vectors"])
def test_tasks_read_one_path_as_they_read_a_list(name: str, own_treebank: Path) -> None:
    task = registry.tasks.get(name)()
    path = own_treebank / "dev.mrg"
    examples = list(task.read([path]))
    assert list(task.read(path)) == list(task.read(str(path))) == examples


def test_gold_trees_may_be_a_list(parser: spectralnlp.Parser, own_treebank: Path) -> None:
    gold = list(spectralnlp.read_treebank(own_treebank / "dev.mrg"))
    by_path = spectralnlp.evaluate(parser, own_treebank / "dev.mrg").to_flat_dict()
    assert spectralnlp.evaluate(parser, gold).to_flat_dict()["f1"] == by_path["f1"]


def test_settings_and_reports(own_treebank: Path) -> None:
    lines: list[str] = []
    corpus = spectralnlp.read_treebank([own_treebank / "train.mrg"], reader="ptb")
    model = spectralnlp.train(spectralnlp.PCFG, corpus, report=lines.append, preset="plain", horizontal=3)
    assert lines
    assert model.info["parameters"]["vertical"] == 0
    assert model.info["parameters"]["horizontal"] == 3


@pytest.mark.parametrize(
    ("kind", "settings", "examples"),
    [
        (spectralnlp.HMM, {"n_states": 2}, SENTENCES),
        (spectralnlp.Eigenwords, {"dimensions": 2, "min_count": 1}, SENTENCES),
        (spectralnlp.TopicModel, {"n_topics": 2, "min_documents": 1, "max_share": 1.0}, SENTENCES * 5),
        (
            spectralnlp.CRFTagger,
            {"epochs": 2},
            [(words, [word.upper() for word in words]) for words in SENTENCES],
        ),
        (
            spectralnlp.RefinementHMM,
            {"n_states": 2},
            [(words, [word.upper() for word in words]) for words in SENTENCES * 5],
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_estimators_and_train_take_lists(kind: Any, settings: dict[str, Any], examples: list[Any]) -> None:
    fitted = kind(**settings).fit(examples)
    assert fitted.fit(tuple(examples)) is fitted
    model = spectralnlp.train(kind(**settings), examples)
    assert model.task == kind.task
    assert model.info


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_example_is_enough_where_it_can_be(trees: list[spectralnlp.Tree]) -> None:
    assert spectralnlp.PCFG().fit([trees[0]]).n_trees_ == 1
    assert spectralnlp.LPCFG().fit(trees).n_trees_ == len(trees)
    assert spectralnlp.HMM().fit([["a", "b"]]).n_symbols_ == 2


def stream(examples: list[Any]) -> Iterator[Any]:
    yield from examples


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_generator_is_enough_for_one_pass(trees: list[spectralnlp.Tree]) -> None:
    assert spectralnlp.LPCFG().fit(stream(trees)).n_trees_ == len(trees)
    for name in ("pcfg", "lpcfg"):
        model = spectralnlp.train(name, stream(trees))
        assert model.info["training trees"] == len(trees)
    assert spectralnlp.Eigenwords(dimensions=2, min_count=1).fit(stream(SENTENCES))


@pytest.mark.parametrize("name", ["hmm", "hmm-em", "topics"])
def test_a_generator_is_refused_where_there_are_several_passes(name: str) -> None:
    settings = {"min_documents": 1, "max_share": 1.0} if name == "topics" else {}
    with pytest.raises(ConfigError, match="read only once") as refusal:
        spectralnlp.train(name, stream(SENTENCES * 5), **settings)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: spectralnlp.train("no-such", "x"), RegistryError, "no-such"),
        (lambda: spectralnlp.train("pcfg", "no-such-file.mrg"), InputError, "no-such-file"),
        (lambda: spectralnlp.train("pcfg", "x", no_such=1), ConfigError, "no_such"),
        (lambda: spectralnlp.train("pcfg", "x", horizontal="many"), ConfigError, "horizontal"),
        (lambda: spectralnlp.train(spectralnlp.PCFG(), "x", horizontal=3), ConfigError, "horizontal"),
        (lambda: spectralnlp.PCFG().fit("train.mrg"), ConfigError, "read_treebank"),
        (lambda: spectralnlp.PCFG().fit(3), ConfigError, "int"),
        (lambda: spectralnlp.HMM().fit([]), InputError, "no "),
        (lambda: spectralnlp.HMM(n_states=0).fit(SENTENCES), ConfigError, "1 or more"),
        (lambda: spectralnlp.load("no-such-model"), SpectralError, "no-such-model"),
    ],
)
def test_mistakes_are_one_line(call: Callable[[], Any], error: type[SpectralError], message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_an_option_that_means_nothing_is_refused(parser: spectralnlp.Parser, own_treebank: Path) -> None:
    with pytest.raises(ConfigError, match="colour means nothing"):
        spectralnlp.evaluate(parser, own_treebank / "dev.mrg", colour="red")
    assert spectralnlp.evaluate(parser, own_treebank / "dev.mrg", decoder="max-rule").to_table()
