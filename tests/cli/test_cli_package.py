"""``spectralnlp package``: models as a distribution of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import spectralnlp
from spectralnlp import registry
from spectralnlp.cli import app
from spectralnlp.errors import ModelError

GRAMMARS = Path(__file__).parents[2] / "grammars"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = app.run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture
def model(own_treebank: Path, tmp_path: Path, command: Command) -> Path:
    """A parser with kept moments, called ``harbour_talk``."""
    folder = tmp_path / "harbour_talk"
    status, _, err = command("train", "pcfg", own_treebank / "train.mrg", "--keep-moments", "-o", folder)
    assert status == 0, err
    return folder


def test_a_distribution_has_model_card_licence_and_entry_point(
    command: Command, model: Path, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    status, out, err = command("package", model, "-o", made, "--licence", "cc-by-4.0")
    assert status == 0, err
    assert f"pip install {made}" in out
    project = tomllib.loads((made / "pyproject.toml").read_text())
    assert project["project"]["name"] == "spectralnlp-harbour-talk"
    assert project["project"]["license"] == "CC-BY-4.0"
    entries = project["project"]["entry-points"]["spectralnlp.models"]
    assert entries == {"harbour-talk.v1": "spectralnlp_harbour_talk:HARBOUR_TALK"}
    stored = made / "spectralnlp_harbour_talk" / "harbour_talk"
    assert sorted(each.name for each in stored.iterdir()) == ["README.md", "arrays.safetensors", "model.json"]
    assert spectralnlp.load(stored).parse("The keeper sleeps.")[0].tree.words()[-1] == "."
    assert "harbour-talk" in (made / "README.md").read_text()
    before = (made / "README.md").read_text()
    assert command("package", model, "-o", made, "--licence", "MIT")[0] == 2
    assert (made / "README.md").read_text() == before
    assert command("package", model, "-o", made, "--licence", "MIT", "--overwrite", "--keep-moments")[0] == 0
    assert (stored / "moments.safetensors").exists()
    assert "reveals" in (made / "README.md").read_text()
    assert command("forget", stored, model.parent / "nothing.mrg")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MODEL"], "--licence"),
        (["MODEL", "--licence", "free as in beer"], "is not an SPDX expression; such as CC-BY-4.0"),
        (["MODEL", "--licence", "MIT", "--name", "../up"], "not a valid name of a distribution: '../up'"),
        (["MODEL", "MODEL", "--licence", "MIT"], "two models are called harbour-talk"),
        (["missing", "--licence", "MIT"], "no model 'missing'"),
        (["en-tagger", "--licence", "MIT", "--keep-moments"], "has no kept moments"),
    ],
)
def test_bad_distributions_are_refused_in_one_line(
    command: Command, model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    given = [model if each == "MODEL" else each for each in arguments]
    status, _, err = command("package", *given, "-o", tmp_path / "made")
    assert status == 2
    assert message in err
    assert err.strip().count("\n") == 0
    assert not (tmp_path / "made").exists()


def test_other_folders_are_not_replaced(command: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    status, _, err = command("package", model, "-o", tmp_path / "other", "--licence", "MIT", "--overwrite")
    assert status == 2
    assert "something other than the distribution" in err
    assert (tmp_path / "other" / "letter.txt").exists()


def test_models_that_are_installed_stay_as_they_are(command: Command, own_treebank: Path) -> None:
    status, _, err = command("update", "en", own_treebank / "dev.mrg")
    assert status == 2
    assert "en is installed, and stays as it is; name a folder for the result: -o" in err
    if not registry.moments.names():
        status, _, err = command("update", "en", own_treebank / "dev.mrg", "-o", own_treebank / "more")
        assert status == 2
        assert "keeps no moments, so it cannot be updated; pip install ./grammars/en_moments" in err


def test_a_language_that_is_not_installed_is_named_with_the_way_to_install_it(command: Command) -> None:
    if "fo" in registry.models:
        pytest.skip("Faroese is installed")
    with pytest.raises(ModelError, match=r"the model fo is not installed; pip install \./grammars/fo"):
        spectralnlp.load("fo")
    status, _, err = command("parse", "-m", "fo-tagger", GRAMMARS / "en.map")
    assert status == 2
    assert "pip install ./grammars/fo" in err


def test_every_language_in_grammars_is_one_that_can_be_missing() -> None:
    languages = [each.parent.name for each in GRAMMARS.glob("*/pyproject.toml")]
    languages = [each for each in languages if each != "en_moments"]
    assert "is" in languages
    assert set(languages) <= set(registry.LANGUAGES)
    for language in languages:
        project = tomllib.loads((GRAMMARS / language / "pyproject.toml").read_text())
        (package,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        assert package == f"spectralnlp_{language}"
        names = {
            name.partition(".v")[0].replace("-", "_")
            for name in project["project"]["entry-points"]["spectralnlp.models"]
        }
        assert names == {each.parent.name for each in (GRAMMARS / language / package).glob("*/model.json")}


def test_moments_are_distributed_apart_from_their_model(
    command: Command, model: Path, own_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is installed; what it was learned from is another distribution, known by a hash of it."""
    monkeypatch.setattr(registry.models, "_local", {})
    monkeypatch.setattr(registry.moments, "_local", {})
    assert command("package", model, "-o", tmp_path / "plain", "--licence", "MIT")[0] == 0
    arguments = ["package", "en-upos", "--moments", model, "--licence", "MIT", "-o", tmp_path / "more"]
    status, _, err = command(*arguments)
    assert status == 2
    assert "no model harbour-talk is installed" in err
    installed = tmp_path / "plain" / "spectralnlp_harbour_talk" / "harbour_talk"
    registry.models.register("harbour-talk.v1")(installed)
    status, _, err = command("update", "harbour-talk", own_treebank / "dev.mrg", "-o", tmp_path / "updated")
    assert status == 2
    assert "keeps no moments" in err
    status, _, err = command(*arguments, "--name", "harbour-moments")
    assert status == 0, err
    made = tmp_path / "more"
    entries = tomllib.loads((made / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entries["spectralnlp.moments"] == {
        "harbour-talk.v1": "spectralnlp_harbour_moments:HARBOUR_TALK_MOMENTS"
    }
    assert sorted(entries["spectralnlp.models"]) == ["en-upos.v1"]
    kept = made / "spectralnlp_harbour_moments" / "harbour_talk_moments"
    assert sorted(each.name for each in kept.iterdir()) == ["moments.json", "moments.safetensors"]
    registry.moments.register("harbour-talk.v1")(kept)
    status, _, err = command("update", "harbour-talk", own_treebank / "dev.mrg", "-o", tmp_path / "updated")
    assert status == 0, err
    assert command("update", model, own_treebank / "dev.mrg", "-o", tmp_path / "beside")[0] == 0
    arrays = [(tmp_path / name / "arrays.safetensors").read_bytes() for name in ("updated", "beside")]
    assert arrays[0] == arrays[1]
    assert "kept, of 1 documents" in command("info", "harbour-talk")[1]
    # Moments of another model than the one that is installed are refused.
    command("train", "pcfg", own_treebank / "dev.mrg", "--keep-moments", "-o", model, "--overwrite")
    status, _, err = command(*arguments, "--overwrite", "--name", "harbour-moments")
    assert status == 2
    assert "the installed model harbour-talk differs from" in err


@pytest.mark.slow
def test_a_distribution_is_installed_and_found(command: Command, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    made, environment = tmp_path / "made", tmp_path / "environment"
    assert command("package", model, "-o", made, "--licence", "MIT")[0] == 0
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    # It sees what this environment has, spectralnlp and hatchling among it, but for its own models.
    Path(site, "beside.pth").write_text(
        f"{sysconfig.get_path('purelib')}\nimport site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index"]
    subprocess.run([*install, "--no-deps", "--no-build-isolation", str(made)], check=True)
    script = (
        "import spectralnlp\n"
        "parser = spectralnlp.load('harbour-talk')\n"
        "print(parser.parse('The keeper sleeps.')[0].tree)\n"
    )
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("(TOP (S ")
    with pytest.raises(ModelError):
        spectralnlp.load("harbour-talk")


@pytest.mark.slow
def test_the_list_of_shipped_models_makes_a_distribution(own_treebank: Path, tmp_path: Path) -> None:
    """The script trains, evaluates, fills the card and packages; here French, of our own trees."""
    folder, corpora = tmp_path / "grammars", tmp_path / "corpora"
    folder.mkdir()
    for name in ("train.sh", "fr.card.md"):
        shutil.copy(GRAMMARS / name, folder)
    for part in ("train", "dev"):
        (corpora / "treebanks" / "sequoia" / part).mkdir(parents=True)
        shutil.copy(own_treebank / f"{part}.mrg", corpora / "treebanks" / "sequoia" / part)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", folder / "train.sh", corpora, "fr"],
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": path},
    )
    card = (folder / "fr" / "spectralnlp_fr" / "fr" / "README.md").read_text(encoding="utf-8")
    assert "**F1 9" in card
    assert "FIGURES" not in card
    assert 'license = "LGPLLR"' in (folder / "fr" / "pyproject.toml").read_text()


def test_a_sketch_cannot_be_packaged(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")  # of the extra [sketch]
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    folder, made = tmp_path / "sketch", tmp_path / "made"
    assert command("sketch", tmp_path / "rows.csv", "-o", folder, "--size", "2")[0] == 0
    status, _, err = command("package", folder, "-o", made, "--licence", "MIT")
    assert (status, err) == (2, f"spectralnlp: {folder}: a sketch cannot be packaged\n")
    assert not made.exists()
