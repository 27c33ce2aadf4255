"""What hatchling leaves out of wheels: ``top_level.txt``, by which spaCy finds the package of a component."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TopLevel(BuildHookInterface):
    """Writes the names of the packages into the wheel's metadata."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put ``top_level.txt`` into a wheel that is about to be built, an editable one too.

        Args:
            version: ``standard`` or ``editable``.
            build_data: of hatchling; files are added here.
        """
        path = Path(self.directory) / "top_level.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        packages = self.build_config.target_config["packages"]
        path.write_text("".join(f"{Path(each).name}\n" for each in packages), encoding="utf-8")
        metadata = self.metadata
        folder = f"{metadata.core.raw_name.replace('-', '_')}-{metadata.version}.dist-info"
        for where in ("force_include", "force_include_editable"):
            build_data.setdefault(where, {})[str(path)] = f"{folder}/top_level.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing beside the wheel."""
        (Path(self.directory) / "top_level.txt").unlink(missing_ok=True)
