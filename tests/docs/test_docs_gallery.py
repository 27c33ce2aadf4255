"""The scripts of the gallery run; the site shows what they print and draw."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pyplot = pytest.importorskip("matplotlib.pyplot")

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_runs(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script.read_text(encoding="utf-8")
    if "IPython" in text:
        pytest.importorskip("IPython")
    shown: list[None] = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.close("all")))
    pyplot.switch_backend("agg")
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert len(shown) == text.count("plt.show()")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_script_begins_and_ends_with_text(script: Path) -> None:
    """A page has a title, and says at its end where to go on."""
    cells = script.read_text(encoding="utf-8").split("# %%")
    assert cells[1].startswith(" [markdown]\n# # ")
    assert cells[-1].startswith(" [markdown]\n")
    assert "](" in cells[-1]
