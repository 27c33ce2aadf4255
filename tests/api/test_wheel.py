"""The wheel: its types and its metadata, as a user gets them."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = """
from pathlib import Path

import spectralnlp
from spectralnlp import HMM, LPCFG, Corpus, Parse, Parser, Report, Tagged, Tagger, Tree

trees: Corpus[Tree] = spectralnlp.read_treebank("train.mrg")
grammar: LPCFG = LPCFG(n_states=8).fit(trees)
hmm: HMM = HMM(n_states=4).fit([["a", "b"], ["b", "a"]])
parser: Parser = spectralnlp.load(Path("models") / "own")
parses: list[Parse] = parser.parse("The tower is high.")
sentences: list[Parse] = list(parser.parse_many([["a", "b"], ("c",)]))
texts: list[list[Parse]] = list(parser.parse_many(["A b. C."]))
drawing: str = parses[0].to_svg(scores=True) + sentences[0].tree.to_conllu()
tagger: Tagger = spectralnlp.load("en-tagger")
tagged: list[Tagged] = tagger.tag("The tower is high.")
words: Tagged = next(tagger.tag_many([["a"]]))
report: Report = spectralnlp.evaluate(parser, "dev.mrg", reader="ptb")
spectralnlp.train("pcfg", trees, report=print).save("models/pcfg")
with spectralnlp.use_engine("threads", jobs=2), spectralnlp.use_memory("1GB"):
    print(report.to_table(), parses[0].tree.words(), hmm.n_states, grammar.get_params())
"""
WRONG = """
import spectralnlp

hmm = spectralnlp.HMM(n_states="many")
words: list[int] = spectralnlp.Tree("NN", word="a").words()
spectralnlp.no_such_name
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(ROOT)], check=True, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True)
    return target


def types_of(script: str, installed: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The findings of ``mypy --strict`` on a user's script."""
    pytest.importorskip("mypy")
    (folder / "script.py").write_text(script)
    (folder / "mypy.ini").write_text("[mypy]\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "script.py"]
    environment = {"MYPYPATH": "", "PYTHONPATH": str(installed), "PATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_ships_the_marker_of_types_and_nothing_of_the_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        described = archive.read(metadata).decode()
    assert "spectralnlp/py.typed" in names
    assert "spectralnlp/testing/__init__.py" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]
    import spectralnlp

    assert f"\nVersion: {spectralnlp.__version__}\n" in described
    for needed in ("annotated-types", "typing-extensions"):
        assert f"Requires-Dist: {needed}>=" in described


def test_the_metadata_have_licences_packages_and_a_bill_of_materials(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (folder,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{folder}/METADATA").decode()
        texts = {
            name.removeprefix(f"{folder}/"): archive.read(name).decode()
            for name in archive.namelist()
            if name.startswith(f"{folder}/")
        }
    licences = [
        line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("License-File: ")
    ]
    assert sorted(licences) == ["LICENSE", "grammars/spectralnlp_grammars/LICENCES.toml"]
    assert all(texts[f"licenses/{each}"] == (ROOT / each).read_text(encoding="utf-8") for each in licences)
    own = [
        "spectralnlp",
        "spectralnlp_annotate",
        "spectralnlp_dask",
        "spectralnlp_grammars",
        "spectralnlp_nltk",
        "spectralnlp_sketch",
        "spectralnlp_spacy",
        "spectralnlp_trees",
        "spectralnlp_web",
    ]
    assert sorted(texts["top_level.txt"].split()) == own

    bill = json.loads(texts["sboms/spectralnlp.cdx.json"])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    kinds = {each["bom-ref"]: each for each in bill["components"]}
    models = sorted(ref for ref, each in kinds.items() if each["type"] == "machine-learning-model")
    names = ["en", "en-biomedical", "en-tagger", "en-upos"]
    assert models == [f"model:{name}" for name in names]
    assert all(kinds[ref]["licenses"] for ref in models)
    assert {ref for each in bill["dependencies"] for ref in each["dependsOn"]} == set(kinds)
    declared = f"License-Expression: {bill['metadata']['component']['licenses'][0]['expression']}\n"
    assert declared in metadata
    for ref in models:
        for licence in kinds[ref]["licenses"]:
            identifier = licence["license"].get("id")
            assert identifier is None or identifier in declared


def test_every_model_that_ships_says_what_it_was_learned_from() -> None:
    folder = ROOT / "grammars" / "spectralnlp_grammars"
    declared = tomllib.loads((folder / "LICENCES.toml").read_text(encoding="utf-8"))
    assert sorted(of["folder"] for of in declared["models"].values()) == sorted(
        path.parent.name for path in folder.glob("*/model.json")
    )
    for of in declared["models"].values():
        card = (folder / of["folder"] / "README.md").read_text(encoding="utf-8")
        assert all(source in card for source in of["sources"] if source != "NLTK texts")
        assert set(of["sources"]) <= set(declared["sources"])


def test_a_users_script_is_typed(installed: Path, tmp_path: Path) -> None:
    done = types_of(SCRIPT, installed, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_of_a_user_are_seen(installed: Path, tmp_path: Path) -> None:
    done = types_of(WRONG, installed, tmp_path)
    lines = [line for line in done.stdout.splitlines() if line.startswith("script.py:")]
    assert [line.split(":")[1] for line in lines if ": error:" in line] == ["4", "5", "6"], done.stdout
