"""The examples of ``docs/spacy.md`` and of the Universe entry run as they stand."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("spacy")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[3]
EXAMPLE = re.compile(r"<!-- run -->\n```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def printed_by(code: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "<example>", "exec"), {})
    return output.getvalue()


def examples() -> list[tuple[str, str]]:
    return EXAMPLE.findall((ROOT / "docs" / "spacy.md").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_examples_print_what_stands_below_them() -> None:
    found = examples()
    assert found
    for code, text in found:
        assert printed_by(code) == text


@pytest.mark.slow
def test_the_universe_entry() -> None:
    entry = json.loads((ROOT / "docs" / "universe.json").read_text(encoding="utf-8"))
    needed = {
        "id",
        "title",
        "slogan",
        "description",
        "pip",
        "code_example",
        "author",
        "category",
        "spacy_version",
    }
    assert needed <= set(entry)
    assert set(entry["category"]) <= {
        "pipeline",
        "standalone",
        "visualizers",
        "models",
        "training",
        "scientific",
    }
    comments = [line.removeprefix("# ") for line in entry["code_example"] if line.startswith("# ")]
    assert printed_by("\n".join(entry["code_example"])).splitlines() == comments


def test_settings_on_the_page_are_the_factories() -> None:
    from spectralnlp_spacy import factories

    page = (ROOT / "docs" / "spacy.md").read_text(encoding="utf-8")
    tables = re.findall(r"\| `spectral_(\w+)` \| default .*?\n\n", page, re.DOTALL)
    assert tables == ["parser", "tagger", "textcat"]
    for name in tables:
        start = page.index(f"| `spectral_{name}` | default")
        rows = page[start:].partition("\n\n")[0]
        documented = set(re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in rows.splitlines()[2:])))
        assert documented == set(getattr(factories, f"{name.upper()}_CONFIG")) - {"scorer"}
