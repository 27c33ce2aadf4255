"""``spacy package`` of a pipeline, loaded in an environment of its own."""

from __future__ import annotations

import site
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")
pytest.importorskip("hatchling")
pytest.importorskip("setuptools")

import spacy

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
LOADED = """
import sys, spacy, spectralnlp, warnings
warnings.simplefilter("ignore")
doc = spacy.load(sys.argv[1])("The keeper climbs the stairs.")
print(spectralnlp.__file__)
print(*[sentence._.parse_string for sentence in doc.sents])
"""


def test_a_pipeline_says_what_it_needs_once(nlp: Any) -> None:
    nlp.add_pipe("spectral_tagger")
    (requirement,) = nlp.meta["requirements"]
    assert requirement.startswith("spectralnlp[spacy]>=")
    nlp = spacy.blank("en", meta={"requirements": ["spectralnlp==9.9"]})
    nlp.add_pipe("spectral_parser")
    assert nlp.meta["requirements"] == ["spectralnlp==9.9"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with our wheel, and what it needs from the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder / "wheels"), str(ROOT)], check=True)
    install(python, next((folder / "wheels").glob("*.whl")))
    packages = subprocess.run(
        [python, "-c", "import site; print(site.getsitepackages()[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    # A path in a .pth file is searched last, and .pth files in it, of editable installations, are not read.
    others = "\n".join(site.getsitepackages())
    (Path(packages.stdout.strip()) / "others.pth").write_text(f"{others}\n")
    return python


def install(python: Path, package: Path) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--no-index", str(package)], check=True)


def test_a_package_requires_us_and_loads_elsewhere(nlp: Any, environment: Path, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    expected = next(nlp("The keeper climbs the stairs.").sents)._.parse_string
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    package = ["pipeline", "packages", "--name", "lighthouse", "--version", "0.1.0", "--build", "none"]
    (tmp_path / "packages").mkdir()
    subprocess.run([environment, "-m", "spacy", "package", *package], cwd=tmp_path, env=clean, check=True)
    (made,) = (tmp_path / "packages").iterdir()
    subprocess.run([sys.executable, "setup.py", "--quiet", "egg_info"], cwd=made, check=True)
    (required,) = made.glob("*.egg-info/requires.txt")
    ours = [line for line in required.read_text().splitlines() if line.startswith("spectralnlp")]
    assert len(ours) == 1
    assert ours[0].startswith("spectralnlp[spacy]")
    (data,) = (each for each in (made / "en_lighthouse").iterdir() if each.is_dir())
    done = subprocess.run(
        [environment, "-c", LOADED, data],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, tree = done.stdout.splitlines()
    assert str(environment.parent.parent) in where
    assert tree == expected


def test_spacy_finds_the_package_of_a_component_by_itself(environment: Path) -> None:
    script = "from spacy import util; print(util.packages_distributions()['spectralnlp_spacy'])"
    done = subprocess.run(
        [environment, "-c", script], env={"PATH": ""}, capture_output=True, text=True, check=True
    )
    assert "spectralnlp" in done.stdout
