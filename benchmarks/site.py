"""A hook of MkDocs: pages that lie outside ``docs/``, and links to files that no page shows.

Pages are written for whoever reads them in the repository: their links are relative to the file. On the site,

- every name in a page of docs/reference has a page of its own, to which it leads,
- a link to one of the `PAGES` or `FILES` leads to its place on the site,
- a link to any other file of the repository becomes plain text, unless ``repo_url`` says where it is,
- roles of docstrings (``:class:`~a.b.C```) become code.

At the end all links of the site are checked (`benchmarks.site_links`).
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
# Pages of the repository outside docs/, and their place on the site.
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
# Cards of the models of other languages, which the navigation lists after those of English.
MODELS = {
    card.relative_to(ROOT).as_posix(): f"models/{card.parent.name.replace('_', '-')}.md"
    for card in sorted((ROOT / "grammars").glob("*/spectralnlp_*/*/README.md"))
}
# Files that the site offers as they are.
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
NAME = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)  # what mkdocstrings makes a description of
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj):<code>~?(?:[\w.]*\.)?(\w+)</code>")


def on_config(config: Any) -> Any:
    """List the models of other languages in the navigation."""
    reference = next(each["Reference"] for each in config.nav if "Reference" in each)
    models = next(each["Models that ship"] for each in reference if "Models that ship" in each)
    models += [{Path(place).stem: place} for place in MODELS.values()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Put the pages and files of elsewhere on the site."""
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
    """Lead links of the repository to the pages of the site."""
    if page.file.abs_src_path is not None:
        markdown = NAME.sub(named, markdown)
    return site_links(markdown, page.file.src_uri, config.repo_url)


def named(name: re.Match[str]) -> str:
    """A line on a name, which leads to its page."""
    value = import_module(name[1].rpartition(".")[0]).__dict__[name[1].rpartition(".")[2]]
    about = first_line(value) if inspect.isclass(value) or inspect.isroutine(value) else ""
    return f"- [`{name[1].rpartition('.')[2]}`]({name[1]}.md): {about}".rstrip(": ")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Show roles of docstrings as code, and ``|`` in code of tables without a backslash, which hosts want."""
    if page.file.src_uri.endswith(".py"):  # a notebook, whose links MkDocs leaves alone
        html = PAGE_LINK.sub(r'href="\1.html\2"', html)
    html = CODE.sub(lambda code: code[0].replace("\\|", "|"), html)
    return ROLE.sub(r"<code>\1</code>", html)


def on_post_build(config: Any) -> None:
    """Check the site that was built; a finding ends the build."""
    from mkdocs.exceptions import PluginError

    found = [f"{path.name}: {finding}" for path, finding in findings(Path(config.site_dir))]
    if found:
        raise PluginError("\n".join(found))


def site_links(markdown: str, place: str, repository: str | None = None) -> str:
    """Return a page with its links as the site needs them.

    Args:
        markdown: the page as it stands in the repository.
        place: where it is on the site, ``how-to/docker.md``.
        repository: the address of the repository, if it has one.
    """
    source = next((path for path, on_site in PLACES.items() if on_site == place), f"docs/{place}")

    def on_site(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in PLACES or path.startswith("docs/"):
            there = PLACES.get(path) or path.removeprefix("docs/")
            return f"[{text}]({posixpath.relpath(there, posixpath.dirname(place) or '.')}{anchor})"
        if not (ROOT / path).exists():
            return link[0]  # MkDocs complains
        return f"[{text}]({repository.rstrip('/')}/blob/main/{path})" if repository else text

    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(on_site, part) for part in parts)
