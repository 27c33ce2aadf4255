"""MkDocs hook that adds pages from outside ``docs/`` and adapts links to the site.

Pages are written for readers of the repository: their links are relative to the file. On the site,

- every name in a page of docs/reference has its own page, to which it links,
- a link to one of the `PAGES` or `FILES` points to its place on the site,
- a link to any other file of the repository becomes plain text, unless ``repo_url`` is set,
- roles of docstrings (``:class:`~a.b.C```) become code.

After the build all links of the site are checked (`benchmarks.site_links`).
"""

from __future__ import annotations

import inspect
import posixpath
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.reference import first_line
from benchmarks.site_links import findings

ROOT = Path(__file__).parent.parent
# Pages of the repository outside docs/, with their paths on the site.
PAGES = {
    "corpora/README.md": "corpora.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "grammars/spectralnlp_grammars/en/README.md": "models/en.md",
    "grammars/spectralnlp_grammars/en_biomedical/README.md": "models/en-biomedical.md",
    "grammars/spectralnlp_grammars/en_tagger/README.md": "models/en-tagger.md",
    "grammars/spectralnlp_grammars/en_upos/README.md": "models/en-upos.md",
}
# Cards of the models of other languages, listed in the navigation after those of English.
MODELS = {
    card.relative_to(ROOT).as_posix(): f"models/{card.parent.name.replace('_', '-')}.md"
    for card in sorted((ROOT / "grammars").glob("*/spectralnlp_*/*/README.md"))
}
# Files that are copied to the site unchanged.
FILES = {
    "LICENSE": "LICENSE.txt",
    "CITATION.cff": "CITATION.cff",
    "spectralnlp/render/parse.schema.json": "schemas/parse.schema.json",
    "examples/spacy/project.yml": "examples/spacy/project.yml",
    "examples/spacy/configs/lighthouse.cfg": "examples/spacy/configs/lighthouse.cfg",
}
PLACES = {**PAGES, **MODELS, **FILES, "README.md": "index.md"}
FENCED = re.compile(r"(^```.*?^```\n?)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?://|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
PAGE_LINK = re.compile(r'href="(?!https?:)([^"#]+)\.md(#[^"]*)?"')
CODE = re.compile(r"<code>[^<]*</code>")
NAME = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)  # directive that mkdocstrings replaces by a description
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj):<code>~?(?:[\w.]*\.)?(\w+)</code>")


def on_config(config: Any) -> Any:
    """Hook: list the models of other languages in the navigation."""
    reference = next(each["Reference"] for each in config.nav if "Reference" in each)
    models = next(each["Models that ship"] for each in reference if "Models that ship" in each)
    models += [{Path(place).stem: place} for place in MODELS.values()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Hook: add the pages and files from outside ``docs/`` to the site."""
    from mkdocs.structure.files import File, InclusionLevel

    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for name in NAME.findall(page.read_text(encoding="utf-8")):
            text = f"::: {name}\n    options:\n      heading_level: 1\n"
            place, level = f"reference/{name}.md", InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, place, content=text, inclusion=level))
    for source, place in {**PAGES, **MODELS, **FILES}.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Hook: change links into the repository to links to pages of the site."""
    if page.file.abs_src_path is not None:
        markdown = NAME.sub(named, markdown)
    return site_links(markdown, page.file.src_uri, config.repo_url)


def named(name: re.Match[str]) -> str:
    """Return a line of a page on a name, with a link to the name's own page."""
    value = import_module(name[1].rpartition(".")[0]).__dict__[name[1].rpartition(".")[2]]
    about = first_line(value) if inspect.isclass(value) or inspect.isroutine(value) else ""
    return f"- [`{name[1].rpartition('.')[2]}`]({name[1]}.md): {about}".rstrip(": ")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Hook: show roles such as ``:class:`` as code, and remove backslashes before pipes in tables."""
    if page.file.src_uri.endswith(".py"):  # a notebook, whose links MkDocs does not change
        html = PAGE_LINK.sub(r'href="\1.html\2"', html)
    html = CODE.sub(lambda code: code[0].replace("\\|", "|"), html)
    return ROLE.sub(r"<code>\1</code>", html)


def on_post_build(config: Any) -> None:
    """Hook: check the built site; a fault makes the build fail."""
    from mkdocs.exceptions import PluginError

    found = [f"{path.name}: {finding}" for path, finding in findings(Path(config.site_dir))]
    if found:
        raise PluginError("\n".join(found))


def site_links(markdown: str, place: str, repository: str | None = None) -> str:
    """Return a page with its links adapted to the site.

    Args:
        markdown: text of the page in the repository.
        place: path of the page on the site, such as ``how-to/docker.md``.
        repository: URL of the repository, if any.
    """
    source = next((path for path, on_site in PLACES.items() if on_site == place), f"docs/{place}")

    def on_site(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in PLACES or path.startswith("docs/"):
            there = PLACES.get(path) or path.removeprefix("docs/")
            return f"[{text}]({posixpath.relpath(there, posixpath.dirname(place) or '.')}{anchor})"
        if not (ROOT / path).exists():
            return link[0]  # MkDocs reports it
        return f"[{text}]({repository.rstrip('/')}/blob/main/{path})" if repository else text

    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(on_site, part) for part in parts)
