"""Metadata that hatchling by itself does not write into wheels.

``top_level.txt``, by which spaCy finds the package of a component; and a bill of materials (CycloneDX, in the
folder that PEP 770 names): requirements, models that ship, licences of what these were learned from.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODELS = Path("grammars") / "spectralnlp_grammars"


class Metadata(BuildHookInterface):
    """Writes files into the wheel's metadata."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the files into a wheel that is about to be built; into an editable one no bill of materials.

        Args:
            version: ``standard`` or ``editable``.
            build_data: of hatchling; files are added here.
        """
        metadata = self.metadata
        folder = f"{metadata.core.raw_name.replace('-', '_')}-{metadata.version}.dist-info"
        packages = self.build_config.target_config["packages"]
        bill = bill_of_materials(
            Path(self.root),
            name=metadata.core.raw_name,
            version=metadata.version,
            licence=metadata.core.license_expression,
            requirements=metadata.core.dependencies,
        )
        texts = {
            "top_level.txt": "".join(f"{Path(each).name}\n" for each in packages),
            "sboms/spectralnlp.cdx.json": json.dumps(bill, indent=1, ensure_ascii=False) + "\n",
        }
        for name, text in texts.items():
            path = self._written(name, text)
            build_data.setdefault("force_include", {})[str(path)] = f"{folder}/{name}"
            if name == "top_level.txt":
                build_data.setdefault("force_include_editable", {})[str(path)] = f"{folder}/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing beside the wheel."""
        for name in ("top_level.txt", "spectralnlp.cdx.json"):
            (Path(self.directory) / name).unlink(missing_ok=True)

    def _written(self, name: str, text: str) -> Path:
        path = Path(self.directory) / Path(name).name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def bill_of_materials(
    root: Path, *, name: str, version: str, licence: str, requirements: list[str]
) -> dict[str, Any]:
    """Return the software bill of materials, CycloneDX 1.6; the same for the same tree.

    Args:
        root: of the repository.
        name: of the distribution.
        version: of the distribution.
        licence: an SPDX expression.
        requirements: as in ``pyproject.toml``; which versions are installed is not known here.
    """
    declared = tomllib.loads((root / MODELS / "LICENCES.toml").read_text(encoding="utf-8"))
    own = f"pkg:pypi/{name}@{version}"
    components: list[dict[str, Any]] = []
    depends: dict[str, list[str]] = {own: []}
    for requirement in requirements:
        needed = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        about = {"type": "library", "name": needed, "purl": f"pkg:pypi/{needed}", "scope": "required"}
        components.append({**about, "bom-ref": about["purl"], "description": requirement})
        depends[own].append(about["purl"])
    for model, of in declared["models"].items():
        arrays = root / MODELS / of["folder"] / "arrays.safetensors"
        licences = dict.fromkeys(
            each for source in of["sources"] for each in declared["sources"][source]["licences"]
        )
        components.append(
            {
                "type": "machine-learning-model",
                "bom-ref": f"model:{model}",
                "name": model,
                "version": version,
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(arrays.read_bytes()).hexdigest()}],
                "licenses": [licence_of(each) for each in licences],
            }
        )
        depends[own].append(f"model:{model}")
        depends[f"model:{model}"] = [f"data:{source.replace(' ', '-')}" for source in of["sources"]]
    for source, of in declared["sources"].items():
        components.append(
            {
                "type": "data",
                "bom-ref": f"data:{source.replace(' ', '-')}",
                "name": source,
                "description": of["about"],
                "licenses": [licence_of(each) for each in of["licences"]],
                "externalReferences": [{"type": "website", "url": of["address"]}],
            }
        )
    main = {"type": "library", "bom-ref": own, "name": name, "version": version, "purl": own}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**main, "licenses": [{"expression": licence}]}},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in depends.items()],
    }


def licence_of(name: str) -> dict[str, Any]:
    """A licence: an SPDX identifier, or in words."""
    return {"license": {"id": name} if re.fullmatch(r"[\w.-]+-\d+\.\d+", name) else {"name": name}}
