"""Check the built site: links, anchors, titles, alternative texts of images and headings.

MkDocs checks only links between Markdown pages, not notebooks, pages made from docstrings, or pages from
outside ``docs/``.

    python -m benchmarks.site_links build/site
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ADDRESSES = {"a": "href", "img": "src", "link": "href", "script": "src"}
HEADINGS = [f"h{level}" for level in range(1, 7)]


class PageParts(HTMLParser):
    """Parser that collects a page's anchors, links, headings, and images without an alternative text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.headings: list[int] = []
        self.findings: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Record the parts of an HTML tag that are checked."""
        values = {name: value or "" for name, value in attributes}
        self.anchors.add(values.get("id", ""))
        if address := values.get(ADDRESSES.get(tag, "")):
            self.links.append(address)
        if tag == "img" and not values.get("alt"):
            self.findings.append(f"a picture without a text: {values.get('src', '')[:60]}")
        if tag == "html" and not values.get("lang"):
            self.findings.append("no language")
        if tag in HEADINGS:
            self.headings.append(int(tag[1]))


def findings(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the faults of a site, page by page.

    Args:
        root: folder of the built site.
    """
    pages = {path.resolve(): PageParts(path) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # its links are absolute
            continue
        for finding in page.findings:
            yield path, finding
        if page.headings.count(1) != 1:
            yield path, f"{page.headings.count(1)} headings of the first level"
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield path, f"a link to what is not there: {link}"
            elif target in pages and not anchor_exists(unquote(address.fragment), pages[target]):
                yield path, f"a link to an anchor that is not there: {link}"


def anchor_exists(anchor: str, page: PageParts) -> bool:
    """Return whether a page has an anchor; anchors of line numbers and scripts are not checked."""
    return not anchor or anchor.startswith("__") or anchor in page.anchors


def main(root: Path) -> int:
    """Print the faults of a site, and return their number."""
    found = list(findings(root))
    for path, finding in found:
        print(f"{path.relative_to(root.resolve())}: {finding}")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1])), 1))
