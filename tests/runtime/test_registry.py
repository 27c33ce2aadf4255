from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from third_party import lay_out

from spectralnlp import registry
from spectralnlp.errors import RegistryError
from spectralnlp.registry import Registry
from spectralnlp.runtime import Counts
from spectralnlp.testing import check_estimator, check_moments

ACME = """
    import acme_learner_was_imported  # leaves a trace in sys.modules
    from dataclasses import dataclass
    from typing import Annotated

    from annotated_types import Ge
    from spectralnlp.estimator import MomentEstimator
    from spectralnlp.runtime import Counts
    from typing_extensions import Doc

    @dataclass(kw_only=True, eq=False, repr=False)
    class Commonest(MomentEstimator):
        "The commonest words."
        unlearning = "exact"
        task = "counting"

        n_words: Annotated[int, Ge(1), Doc("How many words.")] = 1

        def init_moments(self, corpus):
            return Counts()

        def solve(self, moments):
            self.words_ = moments.top(self.n_words)

    @dataclass(kw_only=True, eq=False, repr=False)
    class Commonest2(Commonest):
        "The commonest words, again."

    def lengths(words):
        return [len(word) for word in words]

    def greet(name="world"):
        return f"hello {name}"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path`` with three distributions: one works, one is broken, one lacks its extra."""
    lay_out(
        tmp_path,
        "acme-words",
        {"acme_words": ACME, "acme_learner_was_imported": ""},
        """
        [spectralnlp.estimators]
        commonest.v1 = acme_words:Commonest
        commonest.v2 = acme_words:Commonest2
        commonest.v10 = acme_words:Commonest2

        [spectralnlp.featurizers]
        lengths.v1 = acme_words:lengths

        [spectralnlp.commands]
        greet = acme_words:greet
        """,
    )
    lay_out(
        tmp_path,
        "acme-broken",
        {"acme_broken": "import no_such_dependency", "acme_exits": "raise SystemExit('no display')"},
        """
        [spectralnlp.estimators]
        crash.v1 = acme_broken:Crash
        exits.v1 = acme_exits:Exits
        typo.v1 = acme_words:NoSuchClass
        """,
    )
    lay_out(
        tmp_path,
        "acme-extra",
        {"acme_extra": "raise AssertionError('must not be imported')"},
        """
        [spectralnlp.estimators]
        heavy.v1 = acme_extra:Heavy [gpu]
        nested.v1 = acme_extra:Heavy [all]
        undeclared.v1 = acme_extra:Heavy [gpus]
        light.v1 = acme_words:Commonest [light]
        """,
        version="2.1",
        metadata="""\
        Requires-Dist: no-such-gpu-library>=1; extra == 'gpu'
        Requires-Dist: no-such-old-library; python_version < '3' and extra == 'gpu'
        Requires-Dist: acme_extra[gpu]; extra == 'all'
        Requires-Dist: numpy; extra == 'light'
        Requires-Dist: no-such-core-library
        Provides-Extra: gpu
        Provides-Extra: all
        Provides-Extra: light
        """,
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.refresh()
    yield tmp_path
    monkeypatch.undo()
    registry.refresh()
    for module in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[module]


def imported() -> list[str]:
    return [name for name in sys.modules if name.startswith("acme_")]


@pytest.mark.usefixtures("site")
def test_names_and_descriptions_come_from_metadata_alone() -> None:
    names = registry.estimators.names()
    ours = [name for name in names if name.startswith("commonest")]
    assert ours == ["commonest.v1", "commonest.v2", "commonest.v10"]
    assert "commonest" in registry.estimators
    assert "commonest.v3" not in registry.estimators
    for each in registry.registries.values():
        each.describe()
    assert imported() == []


@pytest.mark.usefixtures("site")
def test_one_name_imports_one_plugin_and_a_bare_name_is_the_highest_version() -> None:
    assert registry.estimators.resolve("commonest") == "commonest.v10"
    assert registry.estimators.get("commonest").__name__ == "Commonest2"
    assert registry.estimators.get("commonest.v1").__name__ == "Commonest"
    assert registry.featurizers.get("lengths")(["a", "cat"]) == [1, 3]
    assert registry.commands.get("greet")() == "hello world"
    assert "acme_broken" not in imported()


@pytest.mark.usefixtures("site")
def test_an_unknown_name_gets_close_matches_and_imports_nothing() -> None:
    with pytest.raises(RegistryError, match=r"no estimator is called 'comonest'; did you mean commonest\?"):
        registry.estimators.get("comonest")
    with pytest.raises(RegistryError, match=r"commonest\.v10"):
        registry.estimators.get("commonest.v3")
    with pytest.raises(RegistryError, match=r"there are .*lengths"):
        registry.featurizers.get("zzz")
    assert imported() == []


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crash", "'crash' of acme-broken 1.0 is broken: .*ModuleNotFoundError.*no_such_dependency"),
        ("exits", "'exits' of acme-broken 1.0 is broken: .*SystemExit: no display"),
        ("typo", "'typo' of acme-broken 1.0 is broken: .*AttributeError.*NoSuchClass"),
        (
            "heavy",
            r"of acme-extra 2\.1 is not installed: needs no-such-gpu-library; "
            r'pip install "acme-extra\[gpu\]"',
        ),
        ("nested", r'needs no-such-gpu-library; pip install "acme-extra\[all\]"'),
        ("undeclared", "is broken: acme-extra declares no extra 'gpus'"),
    ],
)
def test_broken_is_not_the_same_as_not_installed(name: str, message: str) -> None:
    with pytest.raises(RegistryError, match=message) as refusal:
        registry.estimators.get(name)
    assert "\n" not in str(refusal.value)
    assert "acme_extra" not in imported()


def test_tree_tools_that_are_missing_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from spectralnlp.render import renderer

    monkeypatch.setattr(registry.tree_tools, "_points", list)
    registry.tree_tools._forget()
    with pytest.raises(RegistryError) as refusal:
        renderer("conllu")
    assert str(refusal.value) == (
        "no tree tool is called 'dependencies'; they are in spectralnlp_trees: pip install spectralnlp"
    )


@pytest.mark.usefixtures("site")
def test_one_broken_plugin_does_not_answer_for_the_others() -> None:
    status = {entry.name: entry for entry in registry.estimators.describe(load=True)}
    assert {name: status[name].status for name in ("commonest.v1", "crash.v1", "light.v1", "heavy.v1")} == {
        "commonest.v1": "ok",
        "crash.v1": "broken",
        "light.v1": "ok",
        "heavy.v1": "not installed",
    }
    assert (status["commonest.v10"].version, status["commonest.v10"].distribution) == (10, "acme-words 1.0")
    assert status["commonest.v10"].reason == ""
    assert "no_such_dependency" in status["crash.v1"].reason
    # Without loading, only what metadata can tell is told.
    status = {entry.name: entry for entry in registry.estimators.describe()}
    assert (status["crash.v1"].status, status["heavy.v1"].status) == ("ok", "not installed")


def test_two_packages_that_claim_one_name_are_both_named(site: Path) -> None:
    point = "[spectralnlp.estimators]\ncommonest.v1 = rival:Commonest\n"
    lay_out(site, "rival", {"rival": "Commonest = 1"}, point)
    registry.refresh()
    with pytest.raises(RegistryError, match=r"broken: claimed by acme-words 1\.0 and by rival 1\.0"):
        registry.estimators.get("commonest.v1")
    assert registry.estimators.get("commonest.v2")
    assert registry.estimators.names().count("commonest.v1") == 1


@pytest.mark.usefixtures("site")
def test_a_local_registration_never_beats_an_entry_point_in_silence() -> None:
    with pytest.raises(RegistryError, match=r"already registered by acme-words 1\.0"):
        registry.estimators.register("commonest.v1")(int)
    assert registry.estimators.get("commonest.v1").__name__ == "Commonest"


@pytest.mark.usefixtures("site")
def test_names_are_shown_without_versions_unless_they_mean_another_one() -> None:
    shown = [registry.estimators.shown(name) for name in ("commonest.v10", "commonest.v2", "nobody.v1")]
    assert shown == ["commonest", "commonest.v2", "nobody"]


def test_local_registrations() -> None:
    toys = Registry("toys")

    @toys.register("spin.v1")
    def spin() -> int:
        return 1

    assert toys.get("spin") is spin
    assert [(e.name, e.distribution, e.status) for e in toys.describe()] == [
        ("spin.v1", "this process", "ok")
    ]

    again = toys.register("spin.v1")(spin)  # the same thing again, as a reloaded module does
    assert toys.get("spin.v1") is again
    with pytest.raises(RegistryError, match="already registered by this process"):
        toys.register("spin.v1")(len)


@pytest.mark.parametrize("kind", registry.registries)
def test_everything_that_the_project_registers_loads(kind: str) -> None:
    for entry in registry.registries[kind].describe(load=True):
        assert entry.status in ("ok", "not installed"), f"{entry.name}: {entry.reason}"


@pytest.mark.usefixtures("site")
def test_a_third_party_estimator_keeps_the_contract() -> None:
    sentences = [["a", "b", "a"], ["b", "c"], ["c", "a"]]
    for name in ("commonest.v1", "commonest.v10"):
        check_estimator(registry.estimators.get(name), sentences)
    check_moments(Counts, sentences)


def test_a_third_party_package_is_found_and_used_by_a_fresh_process(site: Path) -> None:
    script = (
        "import sys\n"
        "from spectralnlp import registry\n"
        "from spectralnlp.runtime import InMemoryCorpus\n"
        "estimator = registry.estimators.get('commonest').from_settings({'n_words': '2'})\n"
        "estimator.fit(InMemoryCorpus([['a', 'b', 'a'], ['b', 'c', 'b']]))\n"
        "print(estimator, estimator.words_, registry.featurizers.get('lengths')(['abc']))\n"
        "print(registry.commands.get('greet')('third party'))\n"
        "print([m for m in ('numba', 'scipy', 'nltk', 'typer', 'spacy', 'packaging') if m in sys.modules])\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Commonest2(n_words=2) ['b', 'a'] [3]",
        "hello third party",
        "[]",
    ]
