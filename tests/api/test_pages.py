"""The pages: links lead somewhere, and the README is short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(
        path
        for folder in (".", "corpora", "corpora/everyday", "grammars")
        for path in sorted((ROOT / folder).glob("*.md"))
    ),
    *(path for folder in ("docs", "benchmarks") for path in sorted((ROOT / folder).rglob("*.md"))),
    *sorted((ROOT / "docs" / "gallery").glob("*.py")),
]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in LINK.findall(text):
        found = page.parent / target if target else page
        assert found.exists(), f"{page.name}: {target}"
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{page.name}: {target}#{anchor}"


def test_the_readme_is_short_and_links_the_documentation() -> None:
    """Every page is reachable from there: ``tests/docs`` says that all are in the site's navigation."""
    text = (ROOT / "README.md").read_bytes()
    assert len(text) <= 7000
    linked = {target for target, _ in LINK.findall(text.decode())}
    tutorials = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "tutorials").glob("*.md")}
    main = {
        f"docs/{name}.md"
        for name in ("index", "parsing", "python", "api", "extending", "compatibility", "benchmarks")
    }
    assert main | tutorials <= linked


def test_the_version_stands_in_one_place_and_the_citation_has_it() -> None:
    import spectralnlp

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {spectralnlp.__version__}\n" in citation
