"""Lays out an installed distribution by hand, as pip would, so that tests need no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent


def lay_out(
    site: Path,
    name: str,
    modules: Mapping[str, str],
    entry_points: str,
    *,
    version: str = "1.0",
    metadata: str = "",
) -> None:
    """Write the modules and the dist-info folder of a distribution into a folder of ``sys.path``."""
    for module, source in modules.items():
        (site / f"{module}.py").write_text(dedent(source))
    # importlib.metadata tells distributions apart by the escaped name.
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    header = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(header + dedent(metadata))
    (info / "entry_points.txt").write_text(dedent(entry_points))
