"""The site: pages in the navigation, public names in the reference, links of the repository rewritten."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from benchmarks.site import FILES, PAGES, ROOT, site_links
from benchmarks.site_links import findings

DOCS = ROOT / "docs"
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation() -> None:
    navigation = CONFIG.partition("\nnav:\n")[2]
    listed = re.findall(r": ([\w/.-]+\.(?:md|py))$", navigation, re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    scripts = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("gallery/*.py")}
    assert sorted(listed) == sorted(pages | scripts | set(PAGES.values()))


def test_what_the_site_shows_of_elsewhere_is_there() -> None:
    assert [source for source in {**PAGES, **FILES} if not (ROOT / source).is_file()] == []


@pytest.mark.parametrize(
    ("place", "link", "expected"),
    [
        ("index.md", "[a](parsing.md#parse)", "[a](parsing.md#parse)"),
        ("how-to/x.md", "[a](../parsing.md)", "[a](../parsing.md)"),
        ("how-to/x.md", "[a](../../corpora/README.md)", "[a](../corpora.md)"),
        ("security.md", "[a](docs/serve.md)", "[a](serve.md)"),
        ("corpora.md", "[a](../README.md)", "[a](index.md)"),
        ("extending.md", "[`r`](../spectralnlp/registry.py)", "`r`"),
        ("index.md", "[a](no-such-page.md)", "[a](no-such-page.md)"),
        ("index.md", "```\n[a](../corpora/README.md)\n```", "```\n[a](../corpora/README.md)\n```"),
    ],
)
def test_links_of_the_repository_lead_to_pages_of_the_site(place: str, link: str, expected: str) -> None:
    assert site_links(link, place) == expected


def test_links_to_files_without_a_page_lead_to_the_repository_if_it_has_an_address() -> None:
    link = site_links("[r](../spectralnlp/registry.py)", "extending.md", "https://host/us/it/")
    assert link == "[r](https://host/us/it/blob/main/spectralnlp/registry.py)"


@pytest.mark.parametrize(
    ("page", "package"),
    [
        ("python", "spectralnlp"),
        ("python", "spectralnlp.testing"),
        ("python", "spectralnlp.changes"),
        ("python", "spectralnlp.scoring"),
        ("plugins", "spectralnlp_sketch"),
        ("plugins", "spectralnlp_spacy"),
        ("plugins", "spectralnlp_nltk"),
        ("plugins", "spectralnlp_dask"),
        ("plugins", "spectralnlp_trees"),
    ],
)
def test_the_reference_has_every_public_name(page: str, package: str) -> None:
    text = (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")
    shown = {line.rpartition(".")[2] for line in text.splitlines() if line.startswith("::: ")}
    public = set(importlib.import_module(package).__all__) - {"__version__", "NonConstituentException"}
    assert public <= shown


def test_the_page_on_deploying_shows_the_dockerfile() -> None:
    page = (DOCS / "deploying.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```dockerfile\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown == (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "spectralnlp warm-up" in shown


PAGE = """<html{lang}><title>t</title><h1 id="top">t</h1>{body}</html>"""


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ('<a href="other.html#part">x</a><a href="#top">x</a><a href="https://elsewhere/x.html">x</a>', None),
        ('<a href="missing.html">x</a>', "not there: missing.html"),
        ('<a href="other.html#missing">x</a>', "not there: other.html#missing"),
        ('<img src="picture.svg" alt="">', "without a text"),
        ("<h1>again</h1>", "2 headings"),
    ],
)
def test_the_check_of_the_built_site(body: str, finding: str | None, tmp_path: Path) -> None:
    (tmp_path / "picture.svg").write_text("<svg/>")
    (tmp_path / "other.html").write_text(PAGE.format(lang=' lang="en"', body='<h2 id="part">p</h2>'))
    (tmp_path / "index.html").write_text(PAGE.format(lang=' lang="en"', body=body))
    found = [text for _, text in findings(tmp_path)]
    assert len(found) == (finding is not None)
    assert finding is None or finding in found[0]
